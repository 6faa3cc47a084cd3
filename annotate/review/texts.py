"""What somebody who looks over the work of others has to read and to be told, where a task has several texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from annotate.assignments.shown import Screen
from collection.models import Item, Judgment, Passage
from collection.models.studies import TaskType
from collection.texts.evidence import grounds_of


def texts_beside(item: Item) -> list[tuple[str, str]]:
    """Return the texts that an item is judged with besides its `judged_text`, each under its name."""
    if item.other_report:
        name = "The second report" if item.task_type == TaskType.BATTLE else "The second answer"
        return [(name, item.other_report.text)]
    if item.task_type == TaskType.PASSAGE_USE and item.report:
        return [("The answer", item.report.text)]
    if item.task_type == TaskType.CITATION_SUPPORT and item.report:
        return [("The report", item.report.text)]
    if item.task_type == TaskType.ANSWER_EVALUATION and item.report_id is not None:
        grounds = grounds_of(item.topic.collection, topics=[item.topic_id]).get(item.report_id)
        passages = Passage.objects.in_bulk(grounds.passages) if grounds else {}
        return [(f"Passage: {one.title}" if one.title else "Passage", one.text or "") for one in passages.values()]
    return []


def said_of_pairs(screen: Screen, judgments: Iterable[Judgment]) -> dict[int, str]:
    """Return, by judgment, which of a pair was preferred, by the letter or the side that the assessor saw."""
    pairs: dict[int, Mapping[str, Any]] = {pair["item"]: pair for pair in screen.extras.get("pairs", ())}
    said = {}
    for judgment in judgments:
        pair = pairs.get(judgment.item_id)
        if pair is not None and judgment.grade:
            left_won = (judgment.grade < 0) == pair["swapped"]
            side = pair["left"] if left_won else pair["right"]
            said[judgment.pk] = f"the {side}" if judgment.item.task_type == TaskType.BATTLE else f"answer {side}"
    return said
