"""Examples for prompts, drawn or chosen from people's labels of the development part and from nowhere else."""

from __future__ import annotations

import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils.module_loading import import_string

from collection.models import Criterion, Item, Scale, Study
from collection.scales import difference_in_words
from judging.data.human_labels import development_topics, grades_of_people, majorities
from judging.data.reasons import anchors_among
from stats.plurals import counted

MOST_EXAMPLES = 20
TEXTS = ("topic", "element", "passage", "report", "other_report", "sentence")


class NoExamples(ValueError):
    """Such examples cannot be drawn; the message says why."""


@dataclass(frozen=True)
class Examples:
    """Items of a study with the grade that people gave them by majority, in the order in which a prompt shows them.

    A row names the item, the grade, and the SHA-256 over the item's texts: a judge's hash covers what it shows.
    """

    study: Study
    rows: tuple[Mapping[str, Any], ...]


def check_scale(criterion: Criterion, scale: Scale) -> None:
    """Raise NoExamples where a judge on this scale cannot be shown labels of the criterion."""
    if scale != criterion.scale:
        raise NoExamples(
            f"“{criterion.study}” asks “{criterion}” on another scale than the judge’s. The study’s "
            f"“{criterion.scale}”: {difference_in_words(criterion.scale, scale)}"
        )


def draw_examples(*, criterion: Criterion, count: int, seed: int) -> Examples:
    """Draw items of the development part on whose grade people do not tie, each grade in turn.

    The same seed on the same labels draws the same items. Items that judges or people are measured on are left out.
    Raises NoSplit and NoExamples.
    """
    study = criterion.study
    _check_number(count)
    grades = _grades_to_show(criterion)
    labelled = _with_texts(Item.objects.filter(study=study, task_type=criterion.task_type, pk__in=grades))
    measured = measuring(grades)
    chance = random.Random(seed)  # noqa: S311  # not a secret
    by_grade: dict[float, list[Item]] = defaultdict(list)
    for item in labelled.order_by("item_id"):
        if item.pk not in measured:
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


def choose_examples(*, criterion: Criterion, items: Iterable[str]) -> Examples:
    """Take these items, by their ids and in their order, as `draw_examples` might have drawn them.

    Raises NoSplit, and NoExamples that says of each item that cannot be taken why.
    """
    study = criterion.study
    wanted = list(dict.fromkeys(items))
    _check_number(len(wanted))
    development = development_topics(study)
    grades = _grades_to_show(criterion)
    own = Item.objects.filter(study=study, task_type=criterion.task_type, item_id__in=wanted)
    found = {item.item_id: item for item in own.select_related(*TEXTS)}
    with_texts = set(_with_texts(own).values_list("pk", flat=True))
    measured = measuring([item.pk for item in found.values()])

    def why_not(name: str) -> str:
        item = found.get(name)
        if item is None:
            return f"“{study}” has no such item for “{criterion}”"
        if item.topic_id not in development:
            return "its topic is held out or in no part; take items of development topics"
        if item.pk in measured:
            return "people or judges are measured on it"
        if item.pk not in with_texts:
            return "its text is not stored here"
        return "" if item.pk in grades else "people tie on it or have not graded it"

    refused = [f"{name}: {why}" for name in wanted if (why := why_not(name))]
    if refused:
        raise NoExamples(f"These items cannot be examples. {'. '.join(refused)}.")
    return Examples(study, tuple(row_of(found[name], grades[found[name].pk]) for name in wanted))


def measuring(items: Iterable[int]) -> set[int]:
    """Return which of the items have a known grade, or are anchors: what is shown there no longer measures."""
    keys = list(items)
    known: set[int] = import_string(settings.ITEMS_WITH_KNOWN_GRADES)(keys)
    return known | {item for item, _ in anchors_among(keys)}


def _check_number(count: int) -> None:
    if not 1 <= count <= MOST_EXAMPLES:
        raise NoExamples(f"A prompt can show 1 to {MOST_EXAMPLES} examples.")


def _grades_to_show(criterion: Criterion) -> dict[int, float]:
    """Return the grades that a prompt may show, by the item's key."""
    return majorities(grades_of_people(criterion, topics=development_topics(criterion.study)), ties="undecided")


def _with_texts(items: QuerySet[Item]) -> QuerySet[Item]:
    return items.exclude(passage__isnull=False, passage__text__isnull=True).select_related(*TEXTS)


def row_of(item: Item, grade: float) -> dict[str, Any]:
    """Return how a judge keeps an example."""
    return {"item": item.item_id, "grade": grade, "sha256": hash_of(item)}


def hash_of(item: Item) -> str:
    """Return the SHA-256 over all texts of the item that a prompt may show."""
    texts = [text.text_sha256 for text in (item.passage, item.report, item.other_report) if text is not None]
    parts = [item.topic.title, item.topic.request, item.element.text if item.element else "", texts]
    parts += [item.sentence_text] if item.sentence else []
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()
