"""Items with all that a prompt needs, read in bulk."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from collection.models import Item

PARTS = ("topic", "element", "passage", "report", "other_report", "sentence")


def with_texts(items: QuerySet[Item]) -> list[Item]:
    """Return the items with their topics, elements and texts, each of which is read once.

    What `prefetch_related` does, at a third of its price: a worker does this for every pair.
    """
    found = list(items)
    for part in PARTS:
        field: Any = Item._meta.get_field(part)
        keys = [getattr(item, field.attname) for item in found]
        wanted = {key for key in keys if key is not None}
        model: Any = field.related_model
        rows = model._default_manager.in_bulk(wanted) if wanted else {}
        for item, key in zip(found, keys, strict=True):
            field.set_cached_value(item, rows.get(key))
    return found
