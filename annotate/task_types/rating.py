"""Rating (CRUX's T2): a passage rated on two of the sub-questions that its assessor answered before.

One is drawn from those the assessor found answerable in the report, one from the unanswerable; where
one side is empty both come from the other. Without a report before it, two of all are drawn. Items that
active labelling drew are all asked: they have their probability already.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial

from annotate.models import Task
from annotate.task_types.missing_texts import left_out_of_pool
from annotate.task_types.rules import AskedItem, TaskTypeRules, is_positive
from annotate.task_types.texts import ranked_passages_of
from collection.models import Draw, Highlight, Item, Judgment, Rater, RubricElement
from collection.models.studies import TaskType

ASKED = 2

_random = random.SystemRandom()


def draw_two_items(items: Sequence[Item], task: Task, rater: Rater | None) -> list[AskedItem]:
    """Draw the passage's two questions for this rater, in random order."""
    if Draw.objects.filter(item__in=[item.pk for item in items], purpose=Draw.Purpose.ACTIVE).exists():
        return _draw(items, len(items))
    found = _found_answerable(task, rater) if rater else {}
    answerable = [item for item in items if found.get(item.element_id) is True]
    unanswerable = [item for item in items if found.get(item.element_id) is False]

    if answerable and unanswerable:
        drawn = _draw(answerable, 1) + _draw(unanswerable, 1)
    else:
        drawn = _draw(answerable or unanswerable or items, ASKED)
    _random.shuffle(drawn)
    return drawn


def _draw(items: Sequence[Item], n: int) -> list[AskedItem]:
    n = min(n, len(items))
    return [AskedItem(item, inclusion_probability=n / len(items)) for item in _random.sample(items, n)]


def _found_answerable(task: Task, rater: Rater) -> dict[int | None, bool]:
    """Map each sub-question to whether the rater found the report before this passage to answer it."""
    judgments = (
        Judgment.objects.filter(
            item__task_item__task=task.after_id, rater=rater, criterion__task_type=TaskType.ANSWERABILITY
        )
        .graded()
        .select_related("criterion", "item")
    )
    return {j.item.element_id: is_positive(j.criterion, j.grade) for j in judgments if j.grade is not None}


RULES = TaskTypeRules(
    task_type=TaskType.RATING,
    summary="For each retrieved passage: how well does it answer a sub-question?",
    texts_are="passages",
    texts_of=ranked_passages_of,
    left_out_of=partial(left_out_of_pool, about=RubricElement.Kind.SUB_QUESTION),
    draw_items=draw_two_items,
    purpose=Highlight.Purpose.RATIONALE,
)
