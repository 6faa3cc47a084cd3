"""What an assessor said of a rubric element at another text: it is not asked again, but copied."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from annotate.models import Assignment
from annotate.task_types import RULES
from collection.judgments.services import copy_grade
from collection.models import Criterion, Item, Judgment


def earlier_grades(assignment: Assignment, items: Collection[Item]) -> dict[tuple[int, int], Judgment]:
    """Return the newest judgment of each item's rubric element at another item, by (item, criterion)."""
    names = RULES[assignment.task.task_type].said_once
    elements = {item.element_id: item.pk for item in items if item.element_id is not None}
    if not names or not elements or assignment.rater_id is None:
        return {}
    judged = Judgment.objects.filter(
        rater=assignment.rater_id,
        item__element__in=elements,
        criterion__study=assignment.task.study_id,
        criterion__name__in=names,
        grade__isnull=False,
    ).exclude(item__in=elements.values())
    newest_last = judged.select_related("item", "criterion__scale", "rater").order_by("judged_at", "pk")
    return {(elements[one.item.element_id], one.criterion_id): one for one in newest_last if one.item.element_id}


def copy_earlier_grades(
    assignment: Assignment, item: Item, answered: Criterion, *, guideline: int | None, at: datetime
) -> None:
    """Now that something else is answered about the item, give it what its assessor said of its element elsewhere."""
    names = RULES[assignment.task.task_type].said_once
    if not names or answered.name in names or item.element_id is None:
        return
    judged = Judgment.objects.filter(item=item, rater=assignment.rater_id, criterion__name__in=names)
    there = set(judged.values_list("criterion", flat=True))
    for (_, criterion), judgment in earlier_grades(assignment, [item]).items():
        if criterion not in there:
            copy_grade(judgment, item=item, guideline=guideline, at=at)
