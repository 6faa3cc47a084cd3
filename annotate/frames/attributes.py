"""What a collection's topics can be told apart by: their attributes' values, and the parts of splits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from annotate.frames.frame import SPLIT, value_name
from collection.models import Collection, SplitTopic, Study, Topic

# More values than these divide topics into too many parts to give each a number.
MOST_VALUES = 20


@dataclass(frozen=True)
class TopicAttribute:
    """An attribute with how many topics have each of its values, the most frequent first."""

    name: str
    counts: tuple[tuple[str, int], ...]


def topic_attributes(collection: Collection) -> list[TopicAttribute]:
    """Return the attributes that divide the topics into a few parts, by name, and the splits of studies."""
    rows = [row for (row,) in Topic.objects.filter(collection=collection).values_list("attributes")]
    names = {name for row in rows if isinstance(row, dict) for name, value in row.items() if _plain(value)}
    counted = {name: Counter(value_name(row.get(name)) for row in rows if _plain(row.get(name))) for name in names}
    found = [
        TopicAttribute(name, tuple(counts.most_common()))
        for name, counts in sorted(counted.items())
        if 2 <= len(counts) <= MOST_VALUES and sum(counts.values()) == len(rows)
    ]
    for study in Study.objects.filter(collection=collection, split__isnull=False).order_by("name"):
        parts = Counter(parts_of_split(collection, study.name).values())
        found.append(TopicAttribute(f"{SPLIT}{study.name}", tuple(parts.most_common())))
    return found


def _plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def values_of(collection: Collection, attribute: str) -> dict[int, str]:
    """Return the value of each topic by primary key, named as in a frame; of a split the part."""
    if not attribute:
        return {}
    if attribute.startswith(SPLIT):
        return parts_of_split(collection, attribute.removeprefix(SPLIT))
    rows = Topic.objects.filter(collection=collection).values_list("pk", "attributes")
    return {pk: value_name(attributes.get(attribute)) for pk, attributes in rows}


def parts_of_split(collection: Collection, study: str) -> dict[int, str]:
    """Return the part of each topic that the study's split put into one, by primary key."""
    rows = SplitTopic.objects.filter(split__study__name=study, split__study__collection=collection)
    return {topic: SplitTopic.Part(part).label for topic, part in rows.values_list("topic_id", "part")}
