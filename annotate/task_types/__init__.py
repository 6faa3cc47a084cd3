"""The rules of each task type: what a choice still lacks, what follows what, and which items are asked."""

from annotate.task_types import answerability, key_point, rating
from annotate.task_types.rules import AskedItem, Highlighting, TaskTypeRules
from collection.models.studies import TaskType

RULES: dict[str, TaskTypeRules] = {
    TaskType.ANSWERABILITY: answerability.RULES,
    TaskType.RATING: rating.RULES,
    TaskType.KEY_POINT: key_point.RULES,
}

__all__ = ["RULES", "AskedItem", "Highlighting", "TaskTypeRules"]
