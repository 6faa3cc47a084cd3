"""The passages that an answer rests on: what people and judges hold it against when they ask whether it is faithful.

They are the first passages that the report's run ranked for its topic, as retrieval-augmented systems give them to the
model. Where the run ranks nothing for it they are the topic's own, from which every system was to answer: those that
its attributes name or, if they name none, those ranked by runs without a report, such as one with the gold passages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from collection.models import Collection, Passage, RankedPassage, Report

RETRIEVED = 3  # as in CLAPNQ: the model was given the first three
GOLD = "passages"  # of a topic's attributes: the ids of its gold passages
NAMES_IN_A_QUERY = 500  # databases limit how many values one query may name


@dataclass(frozen=True)
class Grounds:
    """The passages of one answer, as primary keys in their order. `retrieved`: by its run, not the topic's own."""

    passages: tuple[int, ...]
    retrieved: bool


def grounds_of(collection: Collection, *, topics: Sequence[int] | None = None) -> dict[int, Grounds]:
    """Return the grounds of every report that has any, by report, for the whole collection or some of its topics.

    Only passages whose text is held here count. Three queries, whatever the number of reports.
    """
    of_topics = Q() if topics is None else Q(topic__in=topics)
    reports = Report.objects.filter(of_topics, run__collection=collection).order_by("pk")
    rows = list(reports.values_list("pk", "run__pk", "topic__pk", "topic__attributes"))
    ranking = RankedPassage.objects.filter(of_topics, run__collection=collection, rank__lte=RETRIEVED)
    reporting = {(run, topic) for _, run, topic, _ in rows}
    ranked: dict[tuple[int, int], list[str]] = defaultdict(list)
    given: dict[int, list[str]] = defaultdict(list)
    for run, topic, name in ranking.order_by("rank", "run__name").values_list("run__pk", "topic__pk", "passage_id"):
        ranked[run, topic].append(name)
        if (run, topic) not in reporting:
            given[topic].append(name)

    named: dict[int, tuple[list[str], bool]] = {}
    for pk, run, topic, attributes in rows:
        own = gold_of(attributes) or list(dict.fromkeys(given[topic]))[:RETRIEVED]
        retrieved = (run, topic) in ranked
        named[pk] = (ranked[run, topic][:RETRIEVED] if retrieved else own, retrieved)
    held = held_passages(collection, {name for names, _ in named.values() for name in names})
    grounds = {
        pk: Grounds(tuple(held[name] for name in names if name in held), retrieved)
        for pk, (names, retrieved) in named.items()
    }
    return {pk: found for pk, found in grounds.items() if found.passages}


def gold_of(attributes: object) -> list[str]:
    """Return the ids of a topic's gold passages, given its attributes."""
    found = attributes.get(GOLD, []) if isinstance(attributes, dict) else []
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def held_passages(collection: Collection, names: set[str]) -> dict[str, int]:
    """Return the primary keys of those of the passages that have a text, by their ids."""
    rows = Passage.objects.filter(collection=collection, text__isnull=False).exclude(text="")
    if len(names) < NAMES_IN_A_QUERY:
        rows = rows.filter(passage_id__in=names)
    return {name: pk for name, pk in rows.values_list("passage_id", "pk") if name in names}
