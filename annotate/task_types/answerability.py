"""Answerability (CRUX's T1): every sub-question of a report, and where the report answers it."""

from annotate.task_types.rules import TaskTypeRules, every_item
from annotate.task_types.texts import reports_of
from collection.models.studies import TaskType

RULES = TaskTypeRules(
    task_type=TaskType.ANSWERABILITY,
    summary="For each report: does it answer each of its topic’s sub-questions, and where?",
    texts_are="reports",
    texts_of=reports_of,
    draw_items=every_item,
)
