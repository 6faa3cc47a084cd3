"""What an assessor chooses, as soon as they choose it: a judgment when it is complete, a draft until then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Greatest
from django.utils.translation import gettext

from annotate.assignments.assignments import believed, is_claim
from annotate.assignments.earlier_grades import copy_earlier_grades
from annotate.assignments.errors import (
    IN_HAND,
    TAKES_CHOICES,
    NotAsked,
    refuse_before_its_gate,
    refuse_behind_a_closed_gate,
    refuse_if_over,
    refuse_out_of_step,
    why_fixed,
)
from annotate.assignments.questions import criteria_of, questions_of
from annotate.assignments.revisions import hand_on_answer, is_with_second_reader
from annotate.assignments.saved_choices import Choice
from annotate.assignments.shown import Question, State
from annotate.models import Assignment, AssignmentItem, Draft
from annotate.suggestions.shown import note_decision
from annotate.task_types import RULES
from collection.judgments.compiled_sql import compiled
from collection.judgments.inserting import update_row
from collection.judgments.pair_orders import record_order
from collection.judgments.services import (
    NOTHING_WRITTEN,
    Span,
    Written,
    check_grade,
    check_spans,
    record_judgment,
    title_to_choose,
    withdraw_judgment,
)
from collection.models import Criterion, Guideline, Item, Judgment
from collection.models.studies import TaskType


@dataclass(frozen=True)
class SavedChoice:
    """What became of a choice: a judgment, a draft that lacks something, or nothing where it was taken back.

    `submitted`: the task is, so that what was judged before counts until nothing is lacking any more.
    """

    state: State
    lack: str
    submitted: bool = False


def keep_choice(
    *,
    assignment: Assignment,
    item: Item,
    criterion: Criterion,
    grade: float | None,
    spans: Sequence[Span] = (),
    seconds: float | None = None,
    written: Written = NOTHING_WRITTEN,
    guidelines: int | None = None,
    unsure: bool = False,
    at: datetime,
) -> SavedChoice:
    """Keep what the assessor chose: as a judgment when it is complete, as a draft until then.

    Grade None takes the answer back. What was typed is kept whatever the grade, so that nobody loses a text:
    in the judgment where it belongs to it, else in the draft. In a submitted assignment the earlier judgments of
    the item stay in force until all that is asked about it is complete again. `seconds` is the active time spent
    on this answer so far; no more of it counts than has passed since the assignment was opened.
    `guidelines` is the version that the assessor was shown, which the judgment remembers; None: not known. `unsure`:
    they are not sure of the grade, which counts as any other.
    Raises NotAsked, StudyClosed, AssignmentReturned, GradeNotOnScale and HighlightDoesNotFit. In the caller's
    transaction, which then rolls back.
    """
    rules = RULES[assignment.task.task_type]
    if refusal := rules.refusal_of(item, criterion, grade, spans, written):
        raise NotAsked(refusal)
    spans = [replace(span, purpose=rules.purpose) for span in spans]
    claimed = seconds if seconds is not None and is_claim(seconds, assignment, at=at) else None
    seconds = None if seconds is None else believed(seconds, assignment, at=at)
    held = _hold(assignment, item, criterion, claimed=claimed, guidelines=guidelines, at=at)
    refuse_out_of_step(assignment, criterion)
    note_decision(assignment, item=item.pk, criterion=criterion.pk, seconds=seconds, at=at)
    choice = Choice(grade, spans, seconds, written, unsure)
    if held.submitted_at is not None:
        assignment.submitted_at = held.submitted_at
        return _change_submitted(assignment, item, criterion, held, choice, at=at)
    if grade is not None:
        refuse_before_its_gate(assignment, item, criterion)
        refuse_behind_a_closed_gate(assignment, item, criterion)
    lack = rules.lack_of(item, criterion, grade, spans, written)
    is_empty = grade is None and not spans and not written.text
    if grade is not None and not lack:
        has_draft = _judge(assignment, item, criterion, held, choice, at=at)
    else:
        if grade is not None:
            check_grade(grade, criterion)
        check_spans(spans, item.judged_text.text or "", title=title_to_choose(item))
        if held.judged:
            withdraw_judgment(item=item, criterion=criterion, rater=assignment.rater, at=at)
        has_draft = not is_empty
    question = {"assignment": assignment, "item": item, "criterion": criterion}
    if has_draft:
        _keep_draft(question, held, choice, unfinished=bool(lack), at=at)
    elif held.drafted:
        Draft.objects.filter(**question).delete()
    if closed := rules.closed_with(criterion, grade):
        _withdraw(assignment, item, closed, at=at)

    if is_empty:
        return SavedChoice("empty", lack)
    return SavedChoice("draft" if lack else "judged", lack)


save_choice = transaction.atomic(keep_choice)


def _judge(
    assignment: Assignment, item: Item, criterion: Criterion, held: _Held, choice: Choice, *, at: datetime
) -> bool:
    """Make the complete choice the judgment. Returns whether a text is left that does not belong to it."""
    grade, written = choice.grade, choice.written
    assert grade is not None  # nothing is lacking
    kept_spans, kept_answer = RULES[assignment.task.task_type].handed_in(item, grade, choice.spans, written)
    judgment = record_judgment(
        item=item,
        criterion=criterion,
        rater=assignment.rater,
        grade=grade,
        spans=kept_spans,
        seconds=choice.seconds,
        written=kept_answer,
        unsure=choice.unsure,
        guideline=held.guideline,
        at=at,
    )
    if item.other_report_id is not None:
        record_order(judgment=judgment, swapped=held.swapped)
    copy_earlier_grades(assignment, item, criterion, guideline=held.guideline, at=at)
    return written.text.strip() not in ("", kept_answer.text if kept_answer else "")


# --- What is submitted --------------------------------------------------------------------------


def _change_submitted(
    assignment: Assignment, item: Item, criterion: Criterion, held: _Held, choice: Choice, *, at: datetime
) -> SavedChoice:
    """Keep the change as a draft; once nothing is lacking about the item, hand in all that was changed about it."""
    if fixed := why_fixed(assignment):
        raise NotAsked(fixed)
    if item.task_type == TaskType.WRITTEN_ANSWER and is_with_second_reader(item=item, writer=assignment.rater):
        raise NotAsked(gettext("A second person is reading your answer, so it can no longer be changed."))
    if choice.grade is not None:
        check_grade(choice.grade, criterion)
    check_spans(choice.spans, item.judged_text.text or "", title=title_to_choose(item))
    draft = {"assignment": assignment, "item": item, "criterion": criterion}
    _keep_draft(draft, held, choice, unfinished=True, at=at)
    (question,) = [one for one in questions_of(assignment, criteria_of(assignment)) if one.item.pk == item.pk]
    (answer,) = [one for one in question.answers if one.criterion.pk == criterion.pk]
    if choice.grade is not None and not answer.asked:
        raise NotAsked(
            gettext("“{criterion}” is not asked after what you answered before it.").format(
                criterion=criterion.question
            )
        )
    if not question.lack:
        _hand_in_changes(assignment, item, question, held, at=at)
    return SavedChoice(answer.state, question.lack, submitted=True)


def _hand_in_changes(assignment: Assignment, item: Item, question: Question, held: _Held, *, at: datetime) -> None:
    """Make what was changed about the item its judgments; what is not asked any more goes into the history."""
    changed = Draft.objects.filter(assignment=assignment, item=item, unfinished=True)
    names = set(changed.values_list("criterion__pk", flat=True))
    for answer in question.answers:
        mine = changed.filter(criterion=answer.criterion)
        if not answer.asked:
            withdraw_judgment(item=item, criterion=answer.criterion, rater=assignment.rater, at=at)
            mine.delete()
        elif answer.criterion.pk in names:
            choice = Choice(answer.grade, answer.spans, answer.seconds, answer.written, answer.unsure)
            if _judge(assignment, item, answer.criterion, held, choice, at=at):
                mine.update(unfinished=False)
            else:
                mine.delete()
    if assignment.task.task_type == TaskType.WRITTEN_ANSWER:
        hand_on_answer(item=item, writer=assignment.rater, at=at)


@transaction.atomic
def drop_changes(*, assignment: Assignment) -> int:
    """Forget the changes of a submitted assignment that lack something: the earlier answers stay. Returns how many."""
    stored = Assignment.objects.select_for_update(of=("self",)).get(pk=assignment.pk)
    if stored.state != Assignment.State.SUBMITTED:
        return 0
    return stored.drafts.filter(unfinished=True).delete()[0]


# --- While the assignment is held ---------------------------------------------------------------


@dataclass(frozen=True)
class _Held:
    """How a question of an assignment stands. Nobody else changes it until this transaction ends."""

    guideline: int | None
    swapped: bool
    judged: bool
    drafted: bool
    submitted_at: datetime | None


def _hold(
    assignment: Assignment,
    item: Item,
    criterion: Criterion,
    *,
    claimed: float | None,
    guidelines: int | None,
    at: datetime,
) -> _Held:
    """Lock the assignment for this transaction, if it takes a choice about this item; else say why not.

    `claimed` is noted beside it: seconds that its browser tells of and that cannot have passed.

    Two statements: the first waits until whoever has the assignment is done, the second sees what they did. As one
    UPDATE with joins, PostgreSQL would go by a study's state from before it waited.
    """
    task = assignment.task
    of_its_type = criterion.study_id == task.study_id and criterion.task_type == item.task_type
    if not of_its_type or not RULES[task.task_type].asks(criterion, item):
        raise NotAsked(gettext("This task does not ask for “{criterion}”.").format(criterion=criterion.question))
    if claimed is None:
        is_held = update_row(Assignment, assignment.pk, {"touched_at": at}, state=IN_HAND)
    else:
        most = Greatest(Coalesce("claimed_seconds", 0.0), claimed)
        held = Assignment.objects.filter(pk=assignment.pk, state__in=IN_HAND)
        is_held = bool(held.update(touched_at=at, claimed_seconds=most))
    asked = _as_it_stands(
        assignment=assignment.pk,
        item=item.pk,
        criterion=criterion.pk,
        rater=assignment.rater_id,
        guidelines=guidelines or 0,
    )
    if not is_held or not asked:
        refuse_if_over(assignment)
        if item.element and item.element.masked:
            raise NotAsked(gettext("This is no longer asked: a researcher has removed it. Reload the page."))
        raise NotAsked(gettext("This assignment does not ask about this item."))
    return _Held(**asked[0])


@compiled
def _as_it_stands(
    *, assignment: int, item: int, criterion: int, rater: int, guidelines: int
) -> QuerySet[AssignmentItem, Any]:
    """The question, unless its study takes no choices now."""
    shown = Guideline.objects.filter(study=OuterRef("assignment__task__study"), version=guidelines)
    judgments = Judgment.objects.filter(item=item, criterion=criterion, rater=rater)
    drafts = Draft.objects.filter(assignment=assignment, item=item, criterion=criterion)
    asked = AssignmentItem.objects.filter(
        assignment=assignment, item=item, assignment__task__study__state__in=TAKES_CHOICES
    ).exclude(item__element__masked=True)
    return asked.values(
        "swapped",
        submitted_at=F("assignment__submitted_at"),
        guideline=Subquery(shown.values("pk")[:1]),
        judged=Exists(judgments),
        drafted=Exists(drafts),
    )


def _keep_draft(question: dict[str, Any], held: _Held, choice: Choice, *, unfinished: bool, at: datetime) -> None:
    """Keep what stands on the page at this question, in the place of the draft before."""
    on_page = {
        "grade": choice.grade,
        "spans": [asdict(span) for span in choice.spans],
        "answer": choice.written.text,
        "confirmations": list(choice.written.confirmations),
        "unsure": choice.unsure,
        "seconds": choice.seconds,
        "saved_at": at,
        "unfinished": unfinished,
    }
    if held.drafted:
        Draft.objects.filter(**question).update(**on_page)
    else:
        Draft.objects.create(**question, **on_page)


def _withdraw(assignment: Assignment, item: Item, names: Sequence[str], *, at: datetime) -> None:
    """Take back what was answered about the item under the criteria of these names."""
    answered = Judgment.objects.filter(
        item=item, rater=assignment.rater_id, criterion__study=assignment.task.study_id, criterion__name__in=names
    )
    for judgment in answered.select_related("criterion"):
        withdraw_judgment(item=item, criterion=judgment.criterion, rater=assignment.rater, at=at)
