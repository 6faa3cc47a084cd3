"""The screens of the work, shown for training."""

from __future__ import annotations

from datetime import datetime

from annotate.assignments.task_page import Screen, screen_for_nobody
from annotate.models import Task
from annotate.quality.training import TrainingText
from annotate.task_types import AskedItem
from collection.models import Study
from collection.models.studies import TaskType

# Those that ask about one text, question by question. The others train on a plain form.
ON_THEIR_SCREEN = frozenset(
    {TaskType.ANSWERABILITY, TaskType.RATING, TaskType.KEY_POINT, TaskType.RELEVANCE, TaskType.NUGGET}
)


def has_its_screen(text: TrainingText) -> bool:
    return text.item.task_type in ON_THEIR_SCREEN


def training_screen(study: Study, text: TrainingText, *, at: datetime) -> Screen:
    """Return the screen that would ask about this text. Nothing is stored for it."""
    item = text.item
    task = Task(study=study, task_type=item.task_type, topic=item.topic, report=item.report, passage=item.passage)
    items = {question.item.pk: question.item for question in text.questions}
    return screen_for_nobody(task, map(AskedItem, items.values()), at=at)
