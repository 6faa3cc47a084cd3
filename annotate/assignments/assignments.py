"""An assessor's work: a task comes into their hands, their choices are kept, it is submitted or goes back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet, Sum
from django.utils.translation import gettext

from annotate.assignments.errors import NotAsked, refuse_if_over
from annotate.assignments.places import held_ahead, left_alone_since, take_place
from annotate.assignments.questions import criteria_of, questions_of
from annotate.assignments.revisions import hand_on_answer
from annotate.assignments.shown import Question
from annotate.models import Assignment, AssignmentItem, Enrolment, Place, Task
from annotate.models.work import AssignmentQuerySet
from annotate.notices.notices import Kind, notify, tell_of_free_places
from annotate.suggestions.draw import draw_suggestions
from annotate.suggestions.shown import show_after
from annotate.task_types import RULES, AskedItem
from annotate.task_types.rules import unmasked_items
from collection.judgments.compiled_sql import compiled
from collection.judgments.inserting import insert_together, insert_unless_there, update_row
from collection.judgments.services import withdraw_judgment
from collection.models import Arm, Judgment, Rater, Study, Suggestion
from collection.models.studies import TaskType

Because = Assignment.Because

# --- Getting work -------------------------------------------------------------------------------


# So many tasks behind the one in front of an assessor are in their hands too, so that their pages can be fetched.
AHEAD = 2


def claim_next(*, study: Study, rater: Rater, at: datetime) -> Assignment | None:
    """Return the rater's open assignment, or put the next task into their hands. None: nothing is left."""
    return next(iter(claim(study=study, rater=rater, at=at)), None)


@transaction.atomic
def claim(*, study: Study, rater: Rater, at: datetime, ahead: int = 0, fresh: bool = True) -> list[Assignment]:
    """Return what is in the rater's hands, in the order of work: one task and `ahead` more, as far as there are any.

    Holding the enrolment keeps two tabs of one rater from taking two tasks.
    """
    enrolment = hold_enrolment(study=study.pk, user=rater.user_id) if rater.user_id else None
    return hand_out(enrolment=enrolment, rater=rater, at=at, ahead=ahead, fresh=fresh) if enrolment else []


def hand_out(*, enrolment: Enrolment, rater: Rater, at: datetime, ahead: int, fresh: bool = True) -> list[Assignment]:
    """Do what `claim` does for an enrolment that the caller's transaction holds.

    No task is taken ahead of those that wait for the last one in hand: they come next, once it is submitted. What the
    rater put aside is not in hand; it comes back, the oldest first, when there is nothing else, or without `fresh`.
    """
    study = enrolment.study
    return_stale(study=study, at=at, but_of=rater)
    in_hand = _in_hand(study=study.pk, rater=rater.pk)
    is_last = bool(in_hand) and in_hand[-1].is_waited_for  # type: ignore[attr-defined]
    while fresh and len(in_hand) < 1 + ahead and not is_last:
        place = take_place(study=study, rater=rater, enrolment=enrolment, at=at)
        if place is None and not in_hand and release_ahead(study=study, at=at, but_of=rater):
            place = take_place(study=study, rater=rater, enrolment=enrolment, at=at)
        if place is None:
            break
        in_hand.append(_assigned(place, rater, study, at=at))
        is_last = len(in_hand) < 1 + ahead and bool(_waiting_for(task=place.task_id))
    return in_hand or _taken_up_again(study, rater, at=at)


def _taken_up_again(study: Study, rater: Rater, *, at: datetime) -> list[Assignment]:
    """Put into hand what the rater put aside first, if there is any."""
    aside = Assignment.objects.filter(task__study=study, rater=rater).set_aside().order_by("set_aside_at", "pk")
    for assignment in aside[:1]:
        assignment.set_aside_at, assignment.touched_at = None, at
        assignment.save(update_fields=["set_aside_at", "touched_at"])
        return [assignment]
    return []


def _assigned(place: Place, rater: Rater, study: Study, *, at: datetime) -> Assignment:
    assignment = Assignment(task=place.task, place=place, rater=rater, opened_at=at, touched_at=at)
    is_new = insert_unless_there(assignment, unique=("task", "rater"))
    assert is_new, f"{assignment} was handed out before."
    assignment.task.study = study
    drawn = drawn_items(place.task, rater)
    rows = [
        AssignmentItem(
            assignment=assignment,
            item=asked.item,
            position=position,
            inclusion_probability=asked.inclusion_probability,
            swapped=asked.swapped,
        )
        for position, asked in enumerate(drawn)
    ]
    insert_together(rows)
    assignment.drawn = rows  # type: ignore[attr-defined]  # so that its page need not ask for them
    if design := getattr(study, "suggestion_design", None):
        draw_suggestions(design, assignment, [asked.item for asked in drawn], at=at)
    return assignment


@compiled
def _in_hand(*, study: int, rater: int) -> QuerySet[Assignment]:
    """This rater's open assignments in the study, in the order of work, each with whether tasks wait for it."""
    mine = Assignment.objects.filter(task__study=study, rater=rater, set_aside_at=None).open()
    waiting = Task.objects.filter(after=OuterRef("task"))
    return mine.annotate(is_waited_for=Exists(waiting)).select_related("task").order_by("opened_at", "pk")


@compiled
def _waiting_for(*, task: int) -> QuerySet[Task]:
    return Task.objects.filter(after=task)[:1]


def drawn_items(task: Task, rater: Rater) -> list[AskedItem]:
    return RULES[task.task_type].draw_items(unmasked_items(task), task, rater)


def hold_enrolment(*, study: int, user: int) -> Enrolment | None:
    """Lock this person's enrolment until the transaction ends; None: they do not work in the study."""
    return next(iter(_held_enrolments(study=study, user=user)), None)


@compiled
def _held_enrolments(*, study: int, user: int) -> QuerySet[Enrolment]:
    """This person's enrolment in the study, if they work in it, locked for this transaction."""
    held = Enrolment.objects.select_for_update(of=("self",)).select_related("study__suggestion_design")
    return held.filter(study=study, user=user, left_at=None)


def return_stale(*, study: Study, at: datetime, but_of: Rater) -> int:
    """Take tasks back whose assessors left them alone for longer than the design allows. Returns how many.

    Whoever asks for work is back, and keeps theirs.
    """
    limit = left_alone_since(study, at=at)
    if limit is None:
        return 0
    left_alone = Assignment.objects.filter(task__study=study, touched_at__lt=limit)
    return return_open(left_alone.exclude(rater=but_of), because=Because.TIMED_OUT, at=at, wait=False)


def release_ahead(*, study: Study, at: datetime, but_of: Rater) -> int:
    """Free what others hold behind the task that they are at, and have held for a while. Returns how many.

    They have seen nothing of it, so it is as if they never had it: it may come to them again. Whoever is claiming or
    submitting at this moment holds their enrolment, and keeps all.
    """
    holders = held_ahead(study=study, at=at).exclude(rater=but_of).values("rater__user")
    enrolments = Enrolment.objects.select_for_update(skip_locked=True).filter(study=study, user__in=holders)
    held = [enrolment.user_id for enrolment in enrolments.order_by("pk")]
    # Asked again, now that none of these goes on to their next task meanwhile.
    idle = held_ahead(study=study, at=at).filter(rater__user__in=held).select_for_update(of=("self",), skip_locked=True)
    found = list(idle)
    for assignment in found:
        Suggestion.objects.filter(rater=assignment.rater_id, item__asked__assignment=assignment).delete()
    Place.objects.filter(pk__in=[assignment.place_id for assignment in found]).update(holder=None)
    Assignment.objects.filter(pk__in=[assignment.pk for assignment in found]).delete()
    return len(found)


@transaction.atomic
def return_open(assignments: AssignmentQuerySet, *, because: Because, at: datetime, wait: bool = True) -> int:
    """Take those of the assignments back that are open once they are locked. Returns how many.

    One that is submitted while this waits for its lock stays submitted. Without `wait`, those that somebody is
    saving or submitting at this moment are left alone.
    """
    locked = assignments.open().select_for_update(of=("self",), skip_locked=not wait)
    stored = list(locked.select_related("task__study", "rater").order_by("pk"))
    for assignment in stored:
        _take_back(assignment, because=because, at=at)
    _tell_what_went_back(stored, because=because, at=at)
    return len(stored)


def _tell_what_went_back(returned: Sequence[Assignment], *, because: Because, at: datetime) -> None:
    """Notify those whose time has run out, or those for whom the free places are new work.

    What timed out is returned when somebody asks for work, who takes the place at once.
    """
    for study in {assignment.task.study for assignment in returned}:
        of_study = [assignment for assignment in returned if assignment.task.study_id == study.pk]
        if because == Because.TIMED_OUT:
            users = [one.rater.user_id for one in of_study if one.rater.user_id]
            notify(users, study=study, kind=Kind.TASK_TAKEN, at=at)
        else:
            tell_of_free_places(study, returned=of_study, at=at)


# --- The end ------------------------------------------------------------------------------------


class Unfinished(Exception):
    """The assignment lacks answers. `questions` are those that lack something."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = questions
        names = ", ".join(dict.fromkeys(question.name for question in questions))
        super().__init__(
            gettext("Not finished yet: {names}. {first}: {lack}").format(
                names=names, first=questions[0].name, lack=questions[0].lack
            )
        )


class FirstStepUnfinished(Unfinished):
    """The first step lacks answers, so the second cannot begin."""


@transaction.atomic
def submit_assignment(*, assignment: Assignment, at: datetime) -> None:
    """Hand the assignment in. Doing it twice changes nothing.

    One in which a judge's grades come after the assessor's stays open the first time: its page shows them then.
    Raises Unfinished, AssignmentReturned and StudyClosed.
    """
    hand_in(assignment=assignment, at=at)


def hand_in(*, assignment: Assignment, at: datetime) -> None:
    """Do what `submit_assignment` does in the caller's transaction. Nothing is written where it raises."""
    (stored,) = _held(pk=assignment.pk)
    if stored.state == Assignment.State.SUBMITTED:
        return
    refuse_if_over(stored)
    questions = questions_of(stored, criteria_of(stored))
    if unfinished := [question for question in questions if question.lack]:
        raise Unfinished(unfinished)
    if stored.arm == Arm.AFTER and show_after(stored, _own_answers(questions), at=at):
        return
    stored.state = Assignment.State.SUBMITTED
    stored.submitted_at = stored.touched_at = at
    count_time(stored, sum(answer.seconds for question in questions for answer in question.answers), at=at)
    stored.save(update_fields=["state", "submitted_at", "touched_at", "active_seconds", "claimed_seconds"])
    if stored.task.task_type == TaskType.WRITTEN_ANSWER:
        for question in questions:
            hand_on_answer(item=question.item, writer=stored.rater, at=at)


def _own_answers(questions: Sequence[Question]) -> list[tuple[int, int, float | None, float]]:
    """Return what was answered, each with its item, criterion, grade and seconds."""
    return [
        (question.item.pk, answer.criterion.pk, answer.grade, answer.seconds)
        for question in questions
        for answer in question.answers
        if answer.asked
    ]


def hand_in_complete(*, assignment: Assignment, seconds: float, at: datetime) -> None:
    """Hand in an open assignment that the caller's transaction holds, and knows to lack nothing."""
    state, time = Assignment.State.SUBMITTED, believed(seconds, assignment, at=at)
    values = {"state": state, "submitted_at": at, "touched_at": at, "active_seconds": time}
    update_row(Assignment, assignment.pk, values)


@transaction.atomic
def reveal_passages(*, assignment: Assignment, at: datetime) -> None:
    """End the assignment's first step: its answers are fixed, and the page shows what the others need.

    Doing it twice changes nothing. Raises FirstStepUnfinished, AssignmentReturned, StudyClosed and NotAsked.
    """
    first_step = RULES[assignment.task.task_type].first_step
    if not first_step:
        raise NotAsked(gettext("This task has one step only."))
    (stored,) = _held(pk=assignment.pk)
    if stored.revealed_at is not None:
        return
    refuse_if_over(stored)
    questions = questions_of(stored, criteria_of(stored))
    if unfinished := [question for question in questions if question.lacks_of(first_step)]:
        raise FirstStepUnfinished(unfinished)
    stored.revealed_at = stored.touched_at = at
    stored.save(update_fields=["revealed_at", "touched_at"])


@compiled
def _held(*, pk: int) -> QuerySet[Assignment]:
    """The assignment as it is stored, locked for this transaction."""
    return Assignment.objects.select_for_update(of=("self",)).select_related("task", "rater").filter(pk=pk)


def return_assignment(*, assignment: Assignment, because: Because = Because.GIVEN_BACK, at: datetime) -> bool:
    """Take an open assignment out of its assessor's hands: the place is free, the answers go into the history.

    The row stays, to tell who had it. Returns whether it was open: what is submitted, or back already, stays as it is.
    """
    return bool(return_open(Assignment.objects.filter(pk=assignment.pk), because=because, at=at))


@transaction.atomic
def take_back_assignment(*, assignment: Assignment, because: Because = Because.UNPAID, at: datetime) -> None:
    """Take back what a crowd site does not pay, submitted or not. Doing it twice changes nothing."""
    (stored,) = _held(pk=assignment.pk)
    if stored.state != Assignment.State.RETURNED:
        _take_back(stored, because=because, at=at)


def _take_back(stored: Assignment, *, because: Because, at: datetime) -> None:
    """Free the place and put the answers into the history. The assignment is locked."""
    judgments = Judgment.objects.filter(item__asked__assignment=stored, rater=stored.rater_id)
    reason = because.value if because == Because.WITHDRAWN else "returned"
    if stored.state == Assignment.State.OPEN:
        count_time(stored, judgments.aggregate(total=Sum("seconds"))["total"] or 0, at=at)
    for judgment in judgments.select_related("item", "criterion", "rater"):
        withdraw_judgment(item=judgment.item, criterion=judgment.criterion, rater=judgment.rater, at=at, reason=reason)
    stored.drafts.all().delete()
    stored.state = Assignment.State.RETURNED
    stored.returned_at, stored.returned_because = at, because
    stored.save(update_fields=["state", "returned_at", "returned_because", "active_seconds", "claimed_seconds"])
    Place.objects.filter(pk=stored.place_id).update(holder=None)
    if stored.task.task_type == TaskType.WRITTEN_ANSWER:
        for asked in stored.asked.select_related("item"):
            hand_on_answer(item=asked.item, writer=stored.rater, at=at)


# --- Time that a browser says was spent, and how much of it the server can believe ---------------

# Browsers round, and clocks are never quite in step: so much more, in seconds, is nobody's claim.
SLACK = 2.0


def believed(seconds: float, assignment: Assignment, *, at: datetime) -> float:
    """Return how many of these seconds can have been spent on the assignment, which was not open for longer."""
    return min(seconds, max(0.0, (at - assignment.opened_at).total_seconds()))


def is_claim(seconds: float, assignment: Assignment, *, at: datetime) -> bool:
    """Whether the browser tells of more time than has passed since the assignment was opened."""
    return seconds > believed(seconds, assignment, at=at) + SLACK


def count_time(assignment: Assignment, seconds: float, *, at: datetime) -> None:
    """Set the assignment's active time, and note what was told beyond what has passed. The caller saves both."""
    assignment.active_seconds = believed(seconds, assignment, at=at)
    if is_claim(seconds, assignment, at=at):
        assignment.claimed_seconds = max(seconds, assignment.claimed_seconds or 0)
