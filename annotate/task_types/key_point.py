"""Key point (LONG²RAG): is it in the document, and only then, does it belong in an answer."""

from annotate.task_types.rules import TaskTypeRules, every_item
from annotate.task_types.texts import key_point_passages_of
from collection.models.studies import TaskType

RULES = TaskTypeRules(
    task_type=TaskType.KEY_POINT,
    summary="For each document and key point: does the document say it, and does an answer need it?",
    texts_are="passages",
    texts_of=key_point_passages_of,
    draw_items=every_item,
    follows={"utility": "grounded"},
)
