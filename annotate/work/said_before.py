"""What an assessor said of a rubric element before is copied to its other items, not asked again."""

from __future__ import annotations

from datetime import datetime

from annotate.assignments.said_before import said_before
from annotate.models import Assignment
from annotate.task_types import RULES
from collection.judgments.services import copy_grade
from collection.models import Criterion, Item, Judgment


def copy_what_was_said(
    assignment: Assignment, item: Item, answered: Criterion, *, guideline: int | None, at: datetime
) -> None:
    """Now that something else is answered about the item, give it what its assessor said of its element elsewhere."""
    names = RULES[assignment.task.task_type].said_once
    if not names or answered.name in names or item.element_id is None:
        return
    judged = Judgment.objects.filter(item=item, rater=assignment.rater_id, criterion__name__in=names)
    there = set(judged.values_list("criterion", flat=True))
    for (_, criterion), judgment in said_before(assignment, [item]).items():
        if criterion not in there:
            copy_grade(judgment, item=item, guideline=guideline, at=at)
