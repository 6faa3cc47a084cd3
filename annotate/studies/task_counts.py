"""What a study asks about: its task types, and what opening it would bring of each."""

from __future__ import annotations

from dataclasses import dataclass

from annotate.task_types import RULES, NothingToJudge, Text
from collection.models import Study
from collection.models.studies import TaskType
from collection.task_types import TASK_TYPES


@dataclass(frozen=True)
class Forecast:
    """What opening the study would ask under a task type, or why it cannot ask."""

    task_type: TaskType
    texts: int = 0
    items: int = 0
    drawn: int = 0
    problem: str = ""


def forecast_of(study: Study) -> list[Forecast]:
    """Count what a draft would ask if it were opened now, without making anything."""
    return [forecast_of_task_type(study, task_type) for task_type in task_types_of(study)]


def forecast_of_task_type(study: Study, task_type: TaskType) -> Forecast:
    try:
        texts = texts_of(study, task_type)
    except NothingToJudge as nothing:
        return Forecast(task_type, problem=str(nothing))
    size = study.sample_sizes.get(task_type.value, len(texts))
    items = sum(len(text.items) for text in texts)
    return Forecast(task_type, texts=len(texts), items=items, drawn=min(size, len(texts)))


def task_types_of(study: Study) -> list[TaskType]:
    """Return the task types that people are asked, in the order of their criteria.

    A criterion that its task type does not ask (of imported labels, or for judges alone) brings no tasks.
    """
    criteria = study.criteria.order_by("position", "pk").values_list("task_type", "name")
    asked = {(task_type, shape.name) for task_type in RULES for shape in TASK_TYPES[task_type].criteria}
    return list(dict.fromkeys(TaskType(task_type) for task_type, name in criteria if (task_type, name) in asked))


def texts_of(study: Study, task_type: TaskType) -> list[Text]:
    """Return every text that the task type may ask about, in the collection's order. Raises NothingToJudge."""
    return RULES[task_type].texts_of(study)
