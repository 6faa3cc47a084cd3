"""Accepted nuggets become elements, and the next version of a nugget bank."""

from __future__ import annotations

from collections.abc import Sequence

from collection.banks.versions import NewEntry, entries_of, make_version
from collection.models import (
    NuggetBank,
    RubricElement,
)
from judging.building.additions.elements import add_elements
from judging.building.additions.making import Added, Adding, by_topic
from judging.building.sources import CannotBuild
from judging.models import Product


def add_nuggets(products: Sequence[Product], adding: Adding) -> Added:
    """Add the nuggets as elements, and behind what the bank holds as its next version."""
    build = adding.build
    name = adding.bank.strip() or build.pipeline
    if not name.replace("-", "").replace("_", "").isalnum() or len(name) > 100:
        raise CannotBuild(f"“{name}” is not a name of a bank: use letters, digits, - and _.")
    found, _ = NuggetBank.objects.get_or_create(collection=build.collection, name=name)
    added = add_elements(products, RubricElement.Kind.NUGGET)
    newest = found.versions.order_by("number").last()
    held = entries_of(newest) if newest else {}
    topics: dict[int, list[NewEntry]] = {}
    for topic, of_topic in by_topic(products).items():
        entries = list(held.get(topic.pk, []))
        there = {entry.element_id for entry in entries}
        for product in of_topic:
            assert product.element is not None  # add_elements gave it
            if product.element.pk not in there:
                there.add(product.element.pk)
                entries.append(NewEntry(product.element.pk, product.data.get("importance", "")))
        topics[topic.pk] = entries
    version = make_version(
        bank=found, topics=topics, by=adding.by, at=adding.at, note=f"written by {build.model or build.engine}"
    )
    return Added(added.new, added.known, version)
