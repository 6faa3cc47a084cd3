"""Topics whose questions have categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collection.models import Collection

CAUSAL = {"category": "causal"}


def with_categories(collection: Collection, attributes: Mapping[str, Mapping[str, Any]] | None = None) -> None:
    """Give these topics these attributes; without, every question asks why."""
    for topic in collection.topics.order_by("pk"):
        if attributes is None or topic.topic_id in attributes:
            topic.attributes = topic.attributes | dict(CAUSAL if attributes is None else attributes[topic.topic_id])
            topic.save(update_fields=["attributes"])
