"""The screens of the work, shown for training: nothing that is made for them is kept."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from django.db import transaction
from django.db.models import Max

from annotate.models import Assignment, AssignmentItem, Place, Task
from annotate.quality.training import TrainingText
from annotate.screens import Screen, screen_of
from collection.models import Item, Rater, Study
from collection.models.studies import TaskType

Shown = TypeVar("Shown")

# Those that ask about one text, question by question. The others train on a plain form.
ON_THEIR_SCREEN = frozenset(
    {TaskType.ANSWERABILITY, TaskType.RATING, TaskType.KEY_POINT, TaskType.RELEVANCE, TaskType.NUGGET}
)


def has_its_screen(text: TrainingText) -> bool:
    return text.item.task_type in ON_THEIR_SCREEN


def with_training_screen(study: Study, text: TrainingText, show: Callable[[Screen], Shown], *, at: datetime) -> Shown:
    """Return what `show` makes of the screen that would ask about this text.

    The task and an assignment for nobody are made, shown and rolled back.
    """
    with transaction.atomic():
        shown = show(screen_of(_assignment_for_nobody(study, text, at=at)))
        transaction.set_rollback(True)
    return shown


def _assignment_for_nobody(study: Study, text: TrainingText, *, at: datetime) -> Assignment:
    nobody = Rater.objects.create(kind=Rater.Kind.ASSESSOR, name="training")
    item = text.item
    last = study.tasks.aggregate(last=Max("position"))["last"] or 0
    task = Task.objects.create(
        study=study,
        task_type=item.task_type,
        topic=item.topic,
        report=item.report,
        passage=item.passage,
        position=last + 1,
    )
    place = Place.objects.create(task=task, number=1, holder=nobody)
    assignment = Assignment.objects.create(task=task, place=place, rater=nobody, opened_at=at, touched_at=at)
    items: dict[int, Item] = {question.item.pk: question.item for question in text.questions}
    AssignmentItem.objects.bulk_create(
        AssignmentItem(assignment=assignment, item=item, position=position)
        for position, item in enumerate(items.values())
    )
    return assignment
