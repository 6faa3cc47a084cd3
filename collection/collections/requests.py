"""A topic's request, written after the topic was imported; never changed where somebody was asked about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from collection.models import Collection, Item, RankedPassage, Topic

MOST_NAMED = 5


class RequestInUse(ValueError):
    """A study asks about the topic, or passages were retrieved for it: its request stays as it is."""


@transaction.atomic
def set_requests(collection: Collection, requests: Mapping[int, tuple[str, Mapping[str, Any]]]) -> int:
    """Give topics, by primary key, the request with how it was made; return how many had another or none.

    What is empty is filled, as an import does. Raises RequestInUse where a topic's request is another one already and a
    study asks about the topic, or a run was retrieved here for it; nothing is changed then.
    """
    topics = Topic.objects.select_for_update().filter(collection=collection, pk__in=requests).order_by("pk")
    changed = [topic for topic in topics if topic.request != requests[topic.pk][0]]
    replaced = [topic for topic in changed if topic.request.strip()]
    if used := _in_use(replaced):
        named = ", ".join(f"“{topic.topic_id}”" for topic in used[:MOST_NAMED])
        more = f" and {len(used) - MOST_NAMED:,} more" if len(used) > MOST_NAMED else ""
        raise RequestInUse(
            f"The request of {named}{more} stays as it is: a study asks about the topic, or passages were retrieved "
            "for it. Reject the new request there, or import the topic under another id."
        )
    for topic in changed:
        topic.request, making = requests[topic.pk]
        topic.attributes = {**topic.attributes, "generated": dict(making)}
    Topic.objects.bulk_update(changed, ["request", "attributes"], batch_size=500)
    return len(changed)


def _in_use(topics: list[Topic]) -> list[Topic]:
    keys = [topic.pk for topic in topics]
    retrieved = RankedPassage.objects.filter(run__attributes__has_key="retrieval", topic=OuterRef("pk"))
    asked = Topic.objects.filter(Exists(Item.objects.filter(topic=OuterRef("pk"))) | Exists(retrieved))
    return list(asked.filter(pk__in=keys).order_by("pk"))
