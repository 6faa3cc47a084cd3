"""What an assessor will see of a study, before anybody does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from django.db import transaction

from annotate.models import Assignment, AssignmentItem, Place, Task
from annotate.screens import Screen, screen_of
from annotate.services.frame import task_types_of, texts_of
from annotate.services.opening import key_of, make_items, make_tasks
from annotate.task_types import RULES, NothingToJudge
from collection.models import Rater, Study
from collection.models.studies import TaskType

Shown = TypeVar("Shown")


def with_preview(
    study: Study, task_type: TaskType, show: Callable[[Screen], Shown], *, at: datetime, revealed: bool = False
) -> Shown:
    """Return what `show` makes of the screen of the study's first task of this type; if `revealed`, its second step.

    The task, or in a draft its items too, and an assignment for nobody are made, shown and rolled back:
    nothing is kept. Raises NothingToJudge.
    """
    if task_type not in task_types_of(study):
        raise NothingToJudge(f"“{study}” does not ask for {task_type.label}.")
    with transaction.atomic():
        assignment = assignment_for_nobody(study, task_type, at=at)
        assignment.revealed_at = at if revealed else None
        screen = screen_of(assignment)
        shown = show(screen)
        transaction.set_rollback(True)
    return shown


def assignment_for_nobody(study: Study, task_type: TaskType, *, at: datetime) -> Assignment:
    nobody = Rater.objects.create(kind=Rater.Kind.ASSESSOR, name="preview")
    task = first_task(study, task_type)
    number = task.places.count() + 1
    place = Place.objects.create(task=task, number=number, holder=nobody)
    assignment = Assignment.objects.create(task=task, place=place, rater=nobody, opened_at=at, touched_at=at)
    AssignmentItem.objects.bulk_create(
        AssignmentItem(assignment=assignment, item=asked.item, position=position, swapped=asked.swapped)
        for position, asked in enumerate(RULES[task_type].draw_items(task, nobody))
    )
    mine = Assignment.objects.select_related("rater", "task__study", "task__topic", "task__report", "task__passage")
    return mine.get(pk=assignment.pk)


def first_task(study: Study, task_type: TaskType) -> Task:
    """Return the study's first task of this type; a draft has none, so its first text becomes one."""
    if task := study.tasks.filter(task_type=task_type).order_by("position").first():
        return task
    texts = texts_of(study, task_type)[:1]
    if not texts:
        raise NothingToJudge(f"There is nothing yet that {task_type.label} could ask about.")
    items = make_items(study, texts)
    make_tasks(study, {texts[0]: [items[key_of(asked, texts[0].topic)] for asked in texts[0].items]})
    return study.tasks.get(task_type=task_type)
