"""Making versions of a nugget bank, and what changed between two of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from collection.models import BankEntry, BankVersion, Collection, NuggetBank, RubricElement, User

BATCH = 1_000


@dataclass(frozen=True)
class NewEntry:
    """A nugget as it is to be in a version. `parent` is the place of the nugget that it is a part of, in its topic."""

    element_id: int
    importance: str = ""
    weight: float | None = None
    parent: int | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)


Topics = Mapping[int, Sequence[NewEntry]]


def newest_versions(collection: Collection | int) -> QuerySet[BankVersion]:
    """Return the newest version of each of the collection's banks: those that count."""
    later = BankVersion.objects.filter(bank=OuterRef("bank"), number__gt=OuterRef("number"))
    return BankVersion.objects.filter(~Exists(later), bank__collection=collection)


def dropped_elements(collection: Collection | int) -> QuerySet[RubricElement]:
    """Return the elements that were in a bank and are in none now: judgments about them are kept, and do not count."""
    were = RubricElement.objects.filter(topic__collection=collection, bank_entries__isnull=False)
    now_there = BankEntry.objects.filter(version__in=newest_versions(collection)).values("element")
    return were.exclude(pk__in=now_there)


def entries_of(version: BankVersion, *, topics: Sequence[int] | None = None) -> dict[int, list[NewEntry]]:
    """Return what is in a version, by the topics' primary keys, in order."""
    rows = BankEntry.objects.filter(version=version)
    if topics is not None:
        rows = rows.filter(element__topic__in=topics)
    names = ("element__topic__pk", "element__pk", "importance", "weight", "parent__position", "attributes")
    found: dict[int, list[NewEntry]] = defaultdict(list)
    for topic, *entry in rows.order_by("element__topic", "position").values_list(*names):
        found[topic].append(NewEntry(*entry))
    return dict(found)


@transaction.atomic
def make_version(
    *,
    bank: NuggetBank,
    topics: Topics,
    by: User | None,
    at: datetime,
    note: str = "",
    said: Mapping[str, Any] | None = None,
) -> BankVersion | None:
    """Make the bank's next version, with these topics as given and all others as they were; None if nothing changes.

    `said` is what a file says of topics besides, by their ids, as a version's `attributes["topics"]` keeps it.
    """
    NuggetBank.objects.select_for_update().get(pk=bank.pk)
    before = bank.versions.order_by("number").last()
    held = entries_of(before) if before else {}
    after = {topic: list(entries) for topic, entries in {**held, **topics}.items() if entries}
    said_before = before.attributes.get("topics") if before else None
    topics_said = {**(said_before if isinstance(said_before, dict) else {}), **(said or {})}
    if before and after == held and topics_said == (said_before or {}):
        return None
    version = BankVersion.objects.create(
        bank=bank,
        number=before.number + 1 if before else 1,
        made_at=at,
        made_by=by,
        note=note,
        attributes={"topics": topics_said} if topics_said else {},
    )
    _store(version, after)
    return version


def _store(version: BankVersion, topics: Topics) -> None:
    """Store the entries, parents before their parts."""
    placed: dict[tuple[int, int], BankEntry] = {}
    waiting = [(topic, place, entry) for topic, entries in topics.items() for place, entry in enumerate(entries)]
    while waiting:
        ready = [one for one in waiting if one[2].parent is None or (one[0], one[2].parent) in placed]
        if not ready:
            raise ValueError("A nugget is a part of itself.")
        rows = [
            BankEntry(
                version=version,
                element_id=entry.element_id,
                parent=None if entry.parent is None else placed[topic, entry.parent],
                position=place,
                importance=entry.importance,
                weight=entry.weight,
                attributes=dict(entry.attributes),
            )
            for topic, place, entry in ready
        ]
        BankEntry.objects.bulk_create(rows, batch_size=BATCH)
        placed |= {(topic, place): row for (topic, place, _), row in zip(ready, rows, strict=True)}
        done = {(topic, place) for topic, place, _ in ready}
        waiting = [one for one in waiting if one[:2] not in done]


# --- What changed ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """One nugget of a topic in two versions. `before` or `after` is None where it is not in that version."""

    what: str
    topic: str
    before: BankEntry | None
    after: BankEntry | None

    @property
    def details(self) -> list[str]:
        """Say in words what changed of it besides its text."""
        if self.before is None or self.after is None:
            return []
        one, other = self.before, self.after
        said = []
        if one.importance != other.importance:
            said.append(f"{one.importance or 'no importance'} → {other.importance or 'no importance'}")
        if one.weight != other.weight:
            said.append(f"weight {_shown(one.weight)} → {_shown(other.weight)}")
        if one.element.aggregator != other.element.aggregator:
            said.append(f"{one.element.aggregator or 'no aggregator'} → {other.element.aggregator or 'no aggregator'}")
        if _parent(one) != _parent(other):
            said.append("made a part of another nugget" if other.parent_id else "no longer a part")
        return said

    def as_dict(self) -> dict[str, Any]:
        return {
            "change": self.what,
            "topic": self.topic,
            "before": self.before.element.text if self.before else None,
            "after": self.after.element.text if self.after else None,
            "details": self.details,
        }


def _shown(weight: float | None) -> str:
    return "none" if weight is None else f"{weight:g}"


def _parent(entry: BankEntry) -> int | None:
    return entry.parent.element_id if entry.parent else None


def changes_between(before: BankVersion, after: BankVersion, *, topic: int | None = None) -> list[Change]:
    """Return what was added, dropped, reworded, weighed or sorted otherwise, in the order of topics and nuggets.

    A nugget is reworded where its element replaces one of `before`, directly or by way of others, that is gone.
    Where one was split, the first of its parts is the reworded one and the others are added.
    """
    ones, others = (_in_order(version, topic) for version in (before, after))
    gone = {element: entry for element, entry in ones.items() if element not in others}
    formers = _formers({element for element in others if element not in ones}, after.bank.collection_id)
    found: list[Change] = []
    for element, entry in others.items():
        name = entry.element.topic.topic_id
        if element in ones:
            change = Change("reweighed", name, ones[element], entry)
            found += [change] if change.details else []
            continue
        former = next((one for one in formers.get(element, ()) if one in gone), None)
        if former is None:
            found.append(Change("added", name, None, entry))
        else:
            found.append(Change("reworded", name, gone.pop(former), entry))
    found += [Change("dropped", entry.element.topic.topic_id, entry, None) for entry in gone.values()]
    order = {topic_id: place for place, topic_id in enumerate(dict.fromkeys(one.topic for one in found))}
    return sorted(found, key=lambda one: order[one.topic])


def _in_order(version: BankVersion, topic: int | None) -> dict[int, BankEntry]:
    rows = version.entries.select_related("element__topic", "parent").order_by("element__topic", "position")
    return {entry.element_id: entry for entry in (rows.filter(element__topic=topic) if topic else rows)}


def _formers(elements: set[int], collection: int) -> dict[int, list[int]]:
    """Return for each element those that it replaces, the nearest first."""
    edits = RubricElement.objects.filter(topic__collection=collection, replaces__isnull=False)
    replaces = dict(edits.values_list("pk", "replaces__pk"))
    found: dict[int, list[int]] = {}
    for element in elements:
        chain: list[int] = []
        while (former := replaces.get(chain[-1] if chain else element)) and former not in chain:
            chain.append(former)
        found[element] = chain
    return found
