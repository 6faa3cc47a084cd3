"""What a page shows of an assignment: its text, its questions, and what was answered so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from annotate.assignments.errors import why_fixed
from annotate.assignments.guideline_reading import shown_guidelines
from annotate.assignments.questions import NOBODY, Chosen, asked_of, criteria_of, questions_with
from annotate.assignments.saved_choices import Choice, choices_so_far
from annotate.assignments.shown import Screen
from annotate.models import Assignment, AssignmentItem, Task
from annotate.task_types import RULES, AskedItem
from collection.models import Criterion
from collection.texts.lines import lines_of


def screen_of(assignment: Assignment, *, is_new: bool = False) -> Screen:
    """Read all that the assignment's page shows, in a number of queries that does not grow with it.

    `is_new`: nothing is saved of it yet.
    """
    chosen: Chosen = defaultdict(Choice) if is_new else choices_so_far(assignment)
    return _screen(assignment, asked_of(assignment=assignment.pk), chosen)


def screen_of_new(assignment: Assignment, criteria: Sequence[Criterion]) -> Screen:
    """Return what the page shows of an assignment that was just claimed, in a study with these criteria."""
    return _screen(assignment, assignment.drawn, defaultdict(Choice), criteria)  # type: ignore[attr-defined]


def screen_for_nobody(task: Task, asked: Iterable[AskedItem], *, at: datetime, revealed: bool = False) -> Screen:
    """Return what a page would show of the task that asks this; if `revealed`, its second step.

    The assignment stands in no table and in nobody's hands. Neither the task nor its items need be stored, but the
    items have keys by which the page tells them apart.
    """
    assignment = Assignment(task=task, opened_at=at, touched_at=at, revealed_at=at if revealed else None)
    rows = [
        AssignmentItem(item=one.item, position=position, swapped=one.swapped)
        for position, one in enumerate(asked)
        if one.item.element is None or not one.item.element.masked
    ]
    return _screen(assignment, rows, defaultdict(Choice))


def _screen(
    assignment: Assignment,
    asked: Sequence[AssignmentItem],
    chosen: Chosen,
    of_study: Sequence[Criterion] | None = None,
) -> Screen:
    task = assignment.task
    text = task.report or task.passage
    rules = RULES[task.task_type]
    return Screen(
        assignment=assignment,
        text=text,
        criteria=(criteria := criteria_of(assignment, of_study)),
        questions=questions_with(assignment, criteria, asked, chosen),
        shown_guidelines=shown_guidelines(study=task.study_id, rater=assignment.rater_id or NOBODY),
        extras=rules.extras_of(assignment, asked),
        purpose=rules.purpose,
        fixed=why_fixed(assignment) if assignment.state == Assignment.State.SUBMITTED else "",
        paragraphs=lines_of(text.text or "") if text else [],
    )
