"""Key point (LONG²RAG): is it in the document, and only then, does it belong in an answer."""

from annotate.task_types.rules import TaskTypeRules, every_item

RULES = TaskTypeRules(draw_items=every_item, follows={"utility": "grounded"})
