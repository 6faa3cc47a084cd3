"""Answerability (CRUX's T1): every sub-question of a report, and where the report answers it."""

from annotate.task_types.rules import Highlighting, TaskTypeRules, every_item

RULES = TaskTypeRules(draw_items=every_item, highlighting={"answerability": Highlighting.WHEN_POSITIVE})
