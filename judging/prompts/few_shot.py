"""Examples for prompts, drawn from people's labels of the development part and from nowhere else."""

from __future__ import annotations

import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from collection.models import Criterion, Item, Study
from judging.data.human_labels import development_topics, grades_of_people, majorities
from stats.plurals import counted

MOST_EXAMPLES = 20


class NoExamples(ValueError):
    """So many examples cannot be drawn; the message says why."""


@dataclass(frozen=True)
class Examples:
    """Items of a study with the grade that people gave them by majority, in the order in which a prompt shows them.

    A row names the item, the grade, and the SHA-256 over the item's texts: a judge's hash covers what it shows.
    """

    study: Study
    rows: tuple[Mapping[str, Any], ...]


def draw_examples(*, criterion: Criterion, count: int, seed: int) -> Examples:
    """Draw items of the development part on whose grade people do not tie, each grade in turn.

    The same seed on the same labels draws the same items. Raises NoSplit and NoExamples.
    """
    study = criterion.study
    if not 1 <= count <= MOST_EXAMPLES:
        raise NoExamples(f"A prompt can show 1 to {MOST_EXAMPLES} examples.")
    grades = majorities(grades_of_people(criterion, topics=development_topics(study)), ties="undecided")
    labelled = (
        Item.objects.filter(study=study, task_type=criterion.task_type, pk__in=grades)
        .exclude(passage__isnull=False, passage__text__isnull=True)
        .select_related("topic", "element", "passage", "report", "other_report")
        .order_by("item_id")
    )
    chance = random.Random(seed)  # noqa: S311  # not a secret
    by_grade: dict[float, list[Item]] = defaultdict(list)
    for item in labelled:
        by_grade[grades[item.pk]].append(item)
    for items in by_grade.values():
        chance.shuffle(items)
    drawn: list[Item] = []
    while len(drawn) < count and any(by_grade.values()):
        drawn += [items.pop() for _, items in sorted(by_grade.items()) if items][: count - len(drawn)]
    if len(drawn) < count:
        raise NoExamples(
            f"The development part has {counted(len(drawn), 'items')} with an untied human grade for “{criterion}”; "
            f"{count} are needed."
        )
    chance.shuffle(drawn)
    return Examples(study, tuple(row_of(item, grades[item.pk]) for item in drawn))


def row_of(item: Item, grade: float) -> dict[str, Any]:
    """Return how a judge keeps an example."""
    return {"item": item.item_id, "grade": grade, "sha256": hash_of(item)}


def hash_of(item: Item) -> str:
    """Return the SHA-256 over all texts of the item that a prompt may show."""
    texts = [text.text_sha256 for text in (item.passage, item.report, item.other_report) if text is not None]
    parts = [item.topic.title, item.topic.request, item.element.text if item.element else "", texts]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()
