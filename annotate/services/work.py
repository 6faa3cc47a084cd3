"""An assessor's work: a task comes into their hands, their choices are kept, it is submitted or goes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum

from annotate.models import Assignment, AssignmentItem, Draft, Enrolment, Place
from annotate.screens import Question, State, criteria_of, questions_of
from annotate.task_types import RULES
from annotate.task_types.rules import is_positive
from collection.models import Criterion, Guideline, Item, Judgment, Rater, Study
from collection.services import Span, check_grade, check_spans, record_judgment, withdraw_judgment

# A paused study gives out no new work; what assessors hold they may finish.
TAKES_CHOICES = (Study.State.OPEN, Study.State.PAUSED)
IN_HAND = (Assignment.State.OPEN, Assignment.State.SUBMITTED)


# --- Getting work -------------------------------------------------------------------------------


@transaction.atomic
def claim_next(*, study: Study, rater: Rater, at: datetime) -> Assignment | None:
    """Return the rater's open assignment, or put the next task into their hands. None: nothing is left.

    Holding the enrolment keeps two tabs of one rater from taking two tasks. Many raters at once pass by
    one another's locked places; SQLite, which has no such locks, lets one transaction in at a time.
    """
    enrolment = Enrolment.objects.select_for_update().filter(study=study, user=rater.user_id, left_at=None).first()
    if enrolment is None:
        return None
    in_hand = Assignment.objects.filter(task__study=study, rater=rater).open().order_by("task__position").first()
    if in_hand:
        return in_hand
    place = free_places(study=study, rater=rater).select_for_update(of=("self",), skip_locked=True).first()
    if place is None:
        return None

    place.holder = rater
    place.save(update_fields=["holder"])
    assignment = Assignment.objects.create(task=place.task, place=place, rater=rater, opened_at=at, touched_at=at)
    AssignmentItem.objects.bulk_create(
        AssignmentItem(
            assignment=assignment,
            item=asked.item,
            position=position,
            inclusion_probability=asked.inclusion_probability,
        )
        for position, asked in enumerate(RULES[place.task.task_type].draw_items(place.task, rater))
    )
    return assignment


def free_places(*, study: Study, rater: Rater) -> QuerySet[Place]:
    """Places that this rater may take now, in the order in which they are handed out."""
    had = Assignment.objects.filter(task=OuterRef("task"), rater=rater)
    submitted_before = Assignment.objects.filter(
        task=OuterRef("task__after"), rater=rater, state=Assignment.State.SUBMITTED
    )
    return (
        Place.objects.filter(task__study=study, task__study__state=Study.State.OPEN, holder=None)
        .filter(~Exists(had))
        .filter(Q(task__after=None) | Exists(submitted_before))
        .select_related("task")
        .order_by("task__position", "number")
    )


# --- Choices ------------------------------------------------------------------------------------


class StudyClosed(Exception):
    """The study takes no choices any more."""


class AssignmentReturned(Exception):
    """The assignment went back: it is no longer in this assessor's hands."""


class NotAsked(ValueError):
    """The assignment does not ask this of its assessor."""


@dataclass(frozen=True)
class SavedChoice:
    """What became of a choice: a judgment, a draft that lacks something, or nothing where it was taken back."""

    state: State
    lack: str


@transaction.atomic
def save_choice(
    *,
    assignment: Assignment,
    item: Item,
    criterion: Criterion,
    grade: float | None,
    spans: Sequence[Span] = (),
    seconds: float | None = None,
    at: datetime,
) -> SavedChoice:
    """Keep what the assessor chose: as a judgment when it is complete, as a draft until then.

    Grade None takes the answer back. `seconds` is the active time spent on this answer so far. Raises
    NotAsked, StudyClosed, AssignmentReturned, GradeNotOnScale and HighlightDoesNotFit.
    """
    rules = RULES[assignment.task.task_type]
    if refusal := rules.refusal(criterion, grade, len(spans)):
        raise NotAsked(refusal)
    spans = [replace(span, purpose=rules.purpose) for span in spans]
    _hold(assignment, item, criterion, at=at)
    if grade is not None:
        _refuse_before_its_gate(assignment, item, criterion)

    lack = rules.lack(criterion, grade, len(spans))
    question: dict[str, Any] = {"assignment": assignment, "item": item, "criterion": criterion}
    drafts = Draft.objects.filter(**question)
    if grade is not None and not lack:
        record_judgment(
            item=item,
            criterion=criterion,
            rater=assignment.rater,
            grade=grade,
            spans=spans,
            seconds=seconds,
            guideline=Guideline.objects.filter(study=assignment.task.study_id).only("id").order_by("-version").first(),
            at=at,
        )
        drafts.delete()
    else:
        if grade is not None:
            check_grade(grade, criterion)
        check_spans(spans, item.judged_text.text or "")
        withdraw_judgment(item=item, criterion=criterion, rater=assignment.rater, at=at)
        if grade is None and not spans:
            drafts.delete()
        else:
            Draft.objects.update_or_create(
                **question, defaults={"grade": grade, "spans": [asdict(span) for span in spans], "saved_at": at}
            )
    if criterion.name in rules.follows.values() and not (grade is not None and is_positive(criterion, grade)):
        _withdraw_followers(assignment, item, criterion, at=at)

    if grade is None and not spans:
        return SavedChoice("empty", lack)
    return SavedChoice("draft" if lack else "judged", lack)


def _hold(assignment: Assignment, item: Item, criterion: Criterion, *, at: datetime) -> None:
    """Lock the assignment for this transaction, if it takes a choice about this item; else say why not."""
    task = assignment.task
    if criterion.study_id != task.study_id or criterion.task_type != task.task_type:
        raise NotAsked(f"This task does not ask for “{criterion}”.")
    held = Assignment.objects.filter(pk=assignment.pk, state__in=IN_HAND).update(touched_at=at)
    asked = AssignmentItem.objects.filter(
        assignment=assignment, item=item, assignment__task__study__state__in=TAKES_CHOICES
    )
    if not held or not asked.exists():
        refuse_if_over(assignment)
        raise NotAsked("This assignment does not ask about this item.")


def refuse_if_over(assignment: Assignment) -> None:
    """Raise AssignmentReturned or StudyClosed if the assignment takes nothing any more."""
    stored = Assignment.objects.select_related("task__study").get(pk=assignment.pk)
    if stored.state == Assignment.State.RETURNED:
        raise AssignmentReturned("This task is no longer in your hands: it was given back.")
    if stored.task.study.state not in TAKES_CHOICES:
        raise StudyClosed(f"“{stored.task.study}” is {stored.task.study.get_state_display()}: it takes no answers now.")


def _refuse_before_its_gate(assignment: Assignment, item: Item, criterion: Criterion) -> None:
    """Raise NotAsked if the criterion follows another, whose answer does not open it."""
    gate = RULES[assignment.task.task_type].follows.get(criterion.name)
    if gate is None:
        return
    opened = Judgment.objects.filter(
        item=item,
        rater=assignment.rater_id,
        criterion__study=criterion.study_id,
        criterion__name=gate,
        grade__gte=F("criterion__threshold"),
    )
    if not opened.exists():
        raise NotAsked(f"“{criterion}” is asked only after a positive answer to “{gate}”.")


def _withdraw_followers(assignment: Assignment, item: Item, gate: Criterion, *, at: datetime) -> None:
    """Take back what was answered under the criteria that the gate has closed."""
    follows = RULES[assignment.task.task_type].follows
    names = [follower for follower, followed in follows.items() if followed == gate.name]
    answered = Judgment.objects.filter(
        item=item, rater=assignment.rater_id, criterion__study=gate.study_id, criterion__name__in=names
    )
    for judgment in answered.select_related("criterion"):
        withdraw_judgment(item=item, criterion=judgment.criterion, rater=assignment.rater, at=at)


# --- The end ------------------------------------------------------------------------------------


class Unfinished(Exception):
    """The assignment lacks answers. `questions` are those that lack something."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = questions
        numbers = ", ".join(str(question.number) for question in questions)
        super().__init__(f"Not finished yet: {numbers}. {questions[0].number}: {questions[0].lack}")


@transaction.atomic
def submit_assignment(*, assignment: Assignment, at: datetime) -> None:
    """Hand the assignment in. Doing it twice changes nothing.

    Raises Unfinished, AssignmentReturned and StudyClosed.
    """
    stored = Assignment.objects.select_for_update(of=("self",)).select_related("task").get(pk=assignment.pk)
    if stored.state == Assignment.State.SUBMITTED:
        return
    refuse_if_over(stored)
    questions = questions_of(stored, criteria_of(stored))
    if unfinished := [question for question in questions if question.lack]:
        raise Unfinished(unfinished)
    stored.state = Assignment.State.SUBMITTED
    stored.submitted_at = stored.touched_at = at
    stored.active_seconds = sum(answer.seconds for question in questions for answer in question.answers)
    stored.save(update_fields=["state", "submitted_at", "touched_at", "active_seconds"])


@transaction.atomic
def return_assignment(*, assignment: Assignment, at: datetime) -> None:
    """Take the assignment out of its assessor's hands: the place is free, the answers go into the history.

    The row stays, to tell who had it. Doing it twice changes nothing.
    """
    stored = Assignment.objects.select_for_update().get(pk=assignment.pk)
    if stored.state == Assignment.State.RETURNED:
        return
    judgments = Judgment.objects.filter(item__asked__assignment=stored, rater=stored.rater_id)
    stored.active_seconds = judgments.aggregate(total=Sum("seconds"))["total"] or 0
    for judgment in judgments.select_related("item", "criterion", "rater"):
        withdraw_judgment(
            item=judgment.item, criterion=judgment.criterion, rater=judgment.rater, at=at, reason="returned"
        )
    stored.drafts.all().delete()
    stored.state = Assignment.State.RETURNED
    stored.save(update_fields=["state", "active_seconds"])
    Place.objects.filter(pk=stored.place_id).update(holder=None)
