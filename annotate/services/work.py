"""An assessor's work: a task comes into their hands, their choices are kept, it is submitted or goes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q, Sum

from annotate.models import Assignment, AssignmentItem, Draft, Enrolment, Place
from annotate.screens import Question, State, criteria_of, questions_of
from annotate.services.design import design_of
from annotate.services.places import take_place
from annotate.services.revisions import hand_on_answer, is_with_second_reader
from annotate.task_types import RULES
from collection.models import Criterion, Guideline, Item, Judgment, Rater, Study
from collection.models.studies import TaskType
from collection.pair_orders import record_order
from collection.services import (
    NOTHING_WRITTEN,
    Span,
    Written,
    check_grade,
    check_spans,
    record_judgment,
    withdraw_judgment,
)

# A paused study gives out no new work; what assessors hold they may finish.
TAKES_CHOICES = (Study.State.OPEN, Study.State.PAUSED)
IN_HAND = (Assignment.State.OPEN, Assignment.State.SUBMITTED)


# --- Getting work -------------------------------------------------------------------------------


@transaction.atomic
def claim_next(*, study: Study, rater: Rater, at: datetime, besides: Assignment | None = None) -> Assignment | None:
    """Return the rater's open assignment, or put the next task into their hands. None: nothing is left.

    Holding the enrolment keeps two tabs of one rater from taking two tasks. `besides` is an assignment that
    does not count as open, for it is about to be submitted.
    """
    enrolments = Enrolment.objects.select_for_update(of=("self",)).select_related("study")
    enrolment = enrolments.filter(study=study, user=rater.user_id, left_at=None).first()
    if enrolment is None:
        return None
    study = enrolment.study
    return_stale(study=study, at=at, but_of=rater)
    mine = Assignment.objects.filter(task__study=study, rater=rater).open()
    others = mine.exclude(pk=besides.pk) if besides else mine
    in_hand = others.order_by("opened_at", "pk").first()
    if in_hand:
        return in_hand
    place = take_place(study=study, rater=rater, enrolment=enrolment, at=at)
    if place is None:
        return None

    assignment = Assignment.objects.create(task=place.task, place=place, rater=rater, opened_at=at, touched_at=at)
    AssignmentItem.objects.bulk_create(
        AssignmentItem(
            assignment=assignment,
            item=asked.item,
            position=position,
            inclusion_probability=asked.inclusion_probability,
            swapped=asked.swapped,
        )
        for position, asked in enumerate(RULES[place.task.task_type].draw_items(place.task, rater))
    )
    return assignment


def return_stale(*, study: Study, at: datetime, but_of: Rater) -> int:
    """Take tasks back whose assessors left them alone for longer than the design allows. Returns how many.

    Whoever asks for work is back, and keeps theirs.
    """
    minutes = design_of(study).timeout_minutes
    if not minutes:
        return 0
    left_alone = Assignment.objects.filter(task__study=study, touched_at__lt=at - timedelta(minutes=minutes))
    stale = list(left_alone.open().exclude(rater=but_of))
    for assignment in stale:
        return_assignment(assignment=assignment, at=at)
    return len(stale)


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
    written: Written = NOTHING_WRITTEN,
    at: datetime,
) -> SavedChoice:
    """Keep what the assessor chose: as a judgment when it is complete, as a draft until then.

    Grade None takes the answer back. What was typed is kept whatever the grade, so that nobody loses a text:
    in the judgment where it belongs to it, else in the draft. `seconds` is the active time spent on this
    answer so far. Raises NotAsked, StudyClosed, AssignmentReturned, GradeNotOnScale and HighlightDoesNotFit.
    """
    rules = RULES[assignment.task.task_type]
    if refusal := rules.refusal_of(item, criterion, grade, spans, written):
        raise NotAsked(refusal)
    spans = [replace(span, purpose=rules.purpose) for span in spans]
    _hold(assignment, item, criterion, at=at)
    _refuse_out_of_step(assignment, criterion)
    if grade is not None:
        _refuse_before_its_gate(assignment, item, criterion)
        _refuse_behind_a_closed_gate(assignment, item, criterion)

    if item.task_type == TaskType.WRITTEN_ANSWER and is_with_second_reader(item=item, writer=assignment.rater):
        raise NotAsked("Your answer is with its second reader now, so it stays as it is.")

    lack = rules.lack_of(item, criterion, grade, spans, written)
    on_page = {
        "grade": grade,
        "spans": [asdict(span) for span in spans],
        "answer": written.text,
        "confirmations": list(written.confirmations),
        "seconds": seconds,
        "saved_at": at,
    }
    question: dict[str, Any] = {"assignment": assignment, "item": item, "criterion": criterion}
    drafts = Draft.objects.filter(**question)
    if grade is not None and not lack:
        kept_spans, kept_answer = rules.handed_in(item, grade, spans, written)
        judgment = record_judgment(
            item=item,
            criterion=criterion,
            rater=assignment.rater,
            grade=grade,
            spans=kept_spans,
            seconds=seconds,
            written=kept_answer,
            guideline=Guideline.objects.filter(study=assignment.task.study_id).only("id").order_by("-version").first(),
            at=at,
        )
        if item.other_report_id is not None:
            swapped = AssignmentItem.objects.get(assignment=assignment, item=item).swapped
            record_order(judgment=judgment, swapped=swapped)
        if written.text.strip() in ("", kept_answer.text if kept_answer else ""):
            drafts.delete()
        else:
            Draft.objects.update_or_create(**question, defaults=on_page)
    else:
        if grade is not None:
            check_grade(grade, criterion)
        check_spans(spans, item.judged_text.text or "")
        withdraw_judgment(item=item, criterion=criterion, rater=assignment.rater, at=at)
        if grade is None and not spans and not written.text:
            drafts.delete()
        else:
            Draft.objects.update_or_create(**question, defaults=on_page)
    if assignment.task.task_type == TaskType.WRITTEN_ANSWER and assignment.state == Assignment.State.SUBMITTED:
        hand_on_answer(item=item, writer=assignment.rater, at=at)
    if closed := rules.closed_with(criterion, grade):
        _withdraw(assignment, item, closed, at=at)

    if grade is None and not spans and not written.text:
        return SavedChoice("empty", lack)
    return SavedChoice("draft" if lack else "judged", lack)


def _hold(assignment: Assignment, item: Item, criterion: Criterion, *, at: datetime) -> None:
    """Lock the assignment for this transaction, if it takes a choice about this item; else say why not."""
    task = assignment.task
    if criterion.study_id != task.study_id or criterion.task_type != item.task_type:
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


def _refuse_out_of_step(assignment: Assignment, criterion: Criterion) -> None:
    """Raise NotAsked if the assignment is not yet, or no longer, at the step that asks the criterion."""
    first_step = RULES[assignment.task.task_type].first_step
    if not first_step:
        return
    revealed = Assignment.objects.filter(pk=assignment.pk, revealed_at__isnull=False).exists()
    if revealed and criterion.name in first_step:
        raise NotAsked(f"“{criterion}” is fixed: it was asked before you saw the passages.")
    if not revealed and criterion.name not in first_step:
        raise NotAsked(f"“{criterion}” is asked when the passages are shown.")


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


def _refuse_behind_a_closed_gate(assignment: Assignment, item: Item, criterion: Criterion) -> None:
    """Raise NotAsked if an answer about this item, or about its report, has closed the criterion."""
    closing = RULES[assignment.task.task_type].closed_by.get(criterion.name)
    if closing is None:
        return
    of_its_report = Q(item__report=item.report_id) & ~Q(item__task_type=item.task_type)
    closed = Judgment.objects.filter(
        Q(item=item) | (of_its_report if item.report_id else Q()),
        rater=assignment.rater_id,
        criterion__study=criterion.study_id,
        criterion__name__in=closing,
        grade__gte=F("criterion__threshold"),
    )
    if by := closed.select_related("criterion").first():
        raise NotAsked(f"“{criterion}” is not asked after a positive answer to “{by.criterion}”.")


def _withdraw(assignment: Assignment, item: Item, names: Sequence[str], *, at: datetime) -> None:
    """Take back what was answered about the item under the criteria of these names."""
    answered = Judgment.objects.filter(
        item=item, rater=assignment.rater_id, criterion__study=assignment.task.study_id, criterion__name__in=names
    )
    for judgment in answered.select_related("criterion"):
        withdraw_judgment(item=item, criterion=judgment.criterion, rater=assignment.rater, at=at)


# --- The end ------------------------------------------------------------------------------------


class Unfinished(Exception):
    """The assignment lacks answers. `questions` are those that lack something."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = questions
        names = ", ".join(dict.fromkeys(question.name for question in questions))
        super().__init__(f"Not finished yet: {names}. {questions[0].name}: {questions[0].lack}")


class FirstStepUnfinished(Unfinished):
    """The first step lacks answers, so the second cannot begin."""


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
    if stored.task.task_type == TaskType.WRITTEN_ANSWER:
        for question in questions:
            hand_on_answer(item=question.item, writer=stored.rater, at=at)


@transaction.atomic
def reveal_passages(*, assignment: Assignment, at: datetime) -> None:
    """End the assignment's first step: its answers are fixed, and the page shows what the others need.

    Doing it twice changes nothing. Raises FirstStepUnfinished, AssignmentReturned, StudyClosed and NotAsked.
    """
    first_step = RULES[assignment.task.task_type].first_step
    if not first_step:
        raise NotAsked("This task has one step only.")
    stored = Assignment.objects.select_for_update(of=("self",)).select_related("task").get(pk=assignment.pk)
    if stored.revealed_at is not None:
        return
    refuse_if_over(stored)
    questions = questions_of(stored, criteria_of(stored))
    if unfinished := [question for question in questions if question.lacks_of(first_step)]:
        raise FirstStepUnfinished(unfinished)
    stored.revealed_at = stored.touched_at = at
    stored.save(update_fields=["revealed_at", "touched_at"])


@transaction.atomic
def return_assignment(*, assignment: Assignment, at: datetime) -> None:
    """Take the assignment out of its assessor's hands: the place is free, the answers go into the history.

    The row stays, to tell who had it. Doing it twice changes nothing.
    """
    held = Assignment.objects.select_for_update(of=("self",)).select_related("task", "rater")
    stored = held.get(pk=assignment.pk)
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
    if stored.task.task_type == TaskType.WRITTEN_ANSWER:
        for asked in stored.asked.select_related("item"):
            hand_on_answer(item=asked.item, writer=stored.rater, at=at)
