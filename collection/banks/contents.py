"""What stands in a collection's nugget banks, for their pages and the API."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Count, Max, QuerySet

from collection.models import BankEntry, BankVersion, Collection, NuggetAnswer, NuggetBank, NuggetReference, Topic


@dataclass(frozen=True)
class ListedNugget:
    """A nugget of a version, with how deep it lies among others' parts."""

    entry: BankEntry
    depth: int
    answers: tuple[NuggetAnswer, ...]
    references: tuple[NuggetReference, ...]


def banks_with_counts(collection: Collection) -> QuerySet[NuggetBank]:
    """Add the newest version's number and time."""
    return NuggetBank.objects.filter(collection=collection).annotate(
        newest=Max("versions__number"), changed_at=Max("versions__made_at")
    )


def versions_with_counts(bank: NuggetBank) -> list[BankVersion]:
    """Return the bank's versions, the newest first, with the numbers of nuggets and topics."""
    counted = bank.versions.select_related("made_by").order_by("-number")
    return list(
        counted.annotate(
            nugget_count=Count("entries", distinct=True), topic_count=Count("entries__element__topic", distinct=True)
        )
    )


def version_numbered(versions: list[BankVersion], written: str, default: BankVersion | None) -> BankVersion | None:
    """Return the version of this number, as it stands in an address; the default where none is written."""
    if not written:
        return default
    number = int(written) if re.fullmatch("[0-9]{1,9}", written) else 0
    return next((version for version in versions if version.number == number), None)


def topics_of(version: BankVersion) -> QuerySet[Topic]:
    """Return the topics that the version has nuggets for."""
    in_version = BankEntry.objects.filter(version=version).values("element__topic")
    return Topic.objects.filter(pk__in=in_version).order_by("pk")


def nuggets_of(version: BankVersion, topic: Topic) -> list[ListedNugget]:
    """Return the nuggets of a topic, each part behind its parent, with answers and references."""
    entries = list(version.entries.filter(element__topic=topic).select_related("element").order_by("position"))
    elements = [entry.element_id for entry in entries]
    answers: dict[int, list[NuggetAnswer]] = defaultdict(list)
    references: dict[int, list[NuggetReference]] = defaultdict(list)
    for answer in NuggetAnswer.objects.filter(element__in=elements).order_by("position"):
        answers[answer.element_id].append(answer)
    for reference in NuggetReference.objects.filter(element__in=elements).order_by("position"):
        references[reference.element_id].append(reference)
    depths: dict[int, int] = {}
    found = []
    for entry in entries:
        depths[entry.pk] = depths.get(entry.parent_id, -1) + 1 if entry.parent_id else 0
        own = tuple(answers[entry.element_id]), tuple(references[entry.element_id])
        found.append(ListedNugget(entry, depths[entry.pk], *own))
    return found
