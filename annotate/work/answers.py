"""The answer that completes a task, in one go: it is saved, the task submitted, and what comes next is in hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from annotate.assignments.assignments import Unfinished, hand_in, hand_in_complete, hold_enrolment
from annotate.assignments.places import left_alone_since
from annotate.models import Assignment, AssignmentItem
from annotate.task_types import RULES
from annotate.work.next_work import NextWork, next_work, work_behind_gates
from annotate.work.saving import SavedChoice, keep_choice
from annotate.work.sent_choices import SentChoice
from collection.judgments.compiled_sql import compiled
from collection.judgments.services import NOTHING_WRITTEN, written_in
from collection.models import Arm, Criterion, Judgment, User
from collection.questions.shapes import TASK_TYPES


@dataclass(frozen=True)
class Answered:
    """What became of an answer that was to complete its task: what comes next, or what the task still lacks."""

    saved: SavedChoice
    following: NextWork
    unfinished: str = ""


def answer_and_submit(
    *, asked: AssignmentItem, criterion: Criterion, sent: SentChoice, user: User, at: datetime
) -> Answered:
    """Save the choice, submit its task if that lacks nothing, and say what comes next. The choice is kept in any case.

    `asked` knows whether its task asks nothing else (`is_alone`) and the person came from a crowd site (`is_of_crowd`).

    Doing it twice changes nothing, and says the same. Raises what `save_choice` raises.
    """
    assignment, study = asked.assignment, asked.assignment.task.study
    if asked.is_of_crowd:  # type: ignore[attr-defined]
        # Whoever takes a session back holds it before its tasks, so it is not to be held after one of them.
        with transaction.atomic():
            saved, unfinished = _save_and_submit(asked, criterion, sent, at=at)
        return Answered(saved, NextWork() if unfinished else next_work(study=study, user=user, at=at), unfinished)
    with transaction.atomic():
        # Held first, as by whoever ends a person's work in the study, or each might wait for the other.
        enrolment = hold_enrolment(study=study.pk, user=user.pk)
        saved, unfinished = _save_and_submit(asked, criterion, sent, at=at)
        if unfinished:
            return Answered(saved, NextWork(), unfinished)
        following = work_behind_gates(enrolment=enrolment, study=study, user=user, rater=assignment.rater, at=at)
        if enrolment and left_alone_since(enrolment.study, at=at):
            # What was claimed ahead begins to be left alone now.
            mine = Assignment.objects.filter(rater=assignment.rater_id, task__study=study.pk, set_aside_at=None).open()
            mine.update(touched_at=at)
    return Answered(saved, following)


def _save_and_submit(
    asked: AssignmentItem, criterion: Criterion, sent: SentChoice, *, at: datetime
) -> tuple[SavedChoice, str]:
    assignment = asked.assignment
    if assignment.state == Assignment.State.SUBMITTED and _stands(asked, criterion, sent):
        return SavedChoice("judged", "", submitted=True), ""
    saved = keep_choice(
        assignment=assignment,
        item=asked.item,
        criterion=criterion,
        grade=sent.grade,
        spans=sent.spans,
        seconds=sent.seconds,
        written=sent.written,
        guidelines=sent.guidelines,
        unsure=sent.unsure,
        at=at,
    )
    if saved.state == "judged" and not saved.submitted and _is_all_that_is_asked(asked):
        hand_in_complete(assignment=assignment, seconds=sent.seconds or 0, at=at)
        return saved, ""
    try:
        hand_in(assignment=assignment, at=at)
    except Unfinished as refused:
        return saved, str(refused)
    return saved, ""


def _is_all_that_is_asked(asked: AssignmentItem) -> bool:
    """Whether the task asks one criterion of one item, and nothing follows from the answer but that it is submitted."""
    if asked.assignment.arm == Arm.AFTER:
        return False
    rules = RULES[asked.assignment.task.task_type]
    criteria = [shape for task_type in rules.asks_about for shape in TASK_TYPES[task_type].criteria]
    return asked.is_alone and len(criteria) == 1 and not rules.writing and not rules.first_step  # type: ignore[attr-defined]


def _stands(asked: AssignmentItem, criterion: Criterion, sent: SentChoice) -> bool:
    """Whether the choice is what was submitted: it was sent once more, because the reply was lost."""
    for judgment in _judgments(item=asked.item_id, criterion=criterion.pk, rater=asked.assignment.rater_id):
        marks = [(mark.start or 0, mark.end or 0, mark.quote) for mark in judgment.highlights.all()]
        sent_marks = [(span.start, span.end, span.quote) for span in sent.spans]
        written = written_in(judgment) or NOTHING_WRITTEN
        stands = judgment.grade, judgment.unsure, marks, written.text
        return stands == (sent.grade, sent.unsure, sent_marks, sent.written.text)
    return False


@compiled
def _judgments(*, item: int, criterion: int, rater: int) -> QuerySet[Judgment]:
    return Judgment.objects.filter(item=item, criterion=criterion, rater=rater).select_related("answer")
