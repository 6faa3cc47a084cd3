"""Sets of nuggets to compare: a bank's version, what one creator made of it, what a person proposed, or key points.

Key points beside what people propose: the share of people's own that the model's have (LONG²RAG, Qi et al. 2024, 3.3).
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db.models import Max, QuerySet

from collection.banks.proposals import NuggetOfPerson, nuggets_by_person
from collection.banks.visibility import sees_all
from collection.models import (
    BankEntry,
    BankVersion,
    Collection,
    ElementSpan,
    NuggetAnswer,
    NuggetReference,
    NuggetWorkshop,
    RubricElement,
    User,
    WorkshopPerson,
    WorkshopTopic,
)
from stats.agreement.nugget_sets import NuggetSet, SetNugget, SourceSpan
from stats.refusals import Refused

# bank, bank@version, bank:creator, bank@version:creator
NAME = re.compile(r"(?P<bank>[-\w]+)(@(?P<version>[0-9]{1,9}))?(:(?P<creator>.+))?", re.DOTALL)
# workshop/key:username
PROPOSED = re.compile(r"workshop/(?P<workshop>[0-9]{1,9}):(?P<person>.+)", re.DOTALL)
# A collection's key points: all that were extracted, and those that are asked about.
KEY_POINTS = {"key-points/all": "key points, masked ones too", "key-points/asked": "key points that are asked about"}
MOST_VERSIONS = 20
# Where a file of nuggets says who made one, by what it is called then.
SAYS_WHO = ("assessor_id", "llm_model", "name", "id")


class NoSuchSet(Refused):
    """There is no such set of nuggets; the message says which there are."""


@dataclass(frozen=True)
class ChosenSet:
    """A set of nuggets by topic id; `label` says in words whose it is, `workshop` in which a person proposes it."""

    name: str
    label: str
    nuggets: NuggetSet
    workshop: NuggetWorkshop | None = None


def set_choices(collection: Collection, user: User | None) -> list[tuple[str, str]]:
    """Return the names of the sets that there are for this user, None by command, with their labels.

    They are versions, the newest ones' creators, who handed in proposals to a workshop, and the key points.
    """
    found = []
    for bank in collection.nugget_banks.annotate(newest=Max("versions__number")).order_by("name"):
        if bank.newest is None:
            continue
        numbers = bank.versions.order_by("-number").values_list("number", flat=True)[:MOST_VERSIONS]
        found += [(f"{bank}@{number}", f"{bank}, version {number}") for number in numbers]
        entries = _entries(bank.versions.get(number=bank.newest))
        creators = sorted({who for of in _creators(entries).values() for who in of})
        if len(creators) > 1:
            found += [(f"{bank}:{who}", f"{bank}, made by {who}") for who in creators]
    for person in _people_seen(collection, user):
        found.append((f"workshop/{person.workshop_id}:{person.user}", _proposed_by(person)))
    if found and _key_points(collection, "key-points/all").exists():
        found += KEY_POINTS.items()
    return found


def _people_seen(collection: Collection, user: User | None) -> Iterator[WorkshopPerson]:
    """Yield who handed in proposals to a workshop, as far as this user may know whose they are: their own, or all."""
    people = WorkshopPerson.objects.filter(workshop__bank__collection=collection, handed_in__isnull=False).distinct()
    people = people.select_related("user", "workshop__bank").order_by("workshop", "pk")
    for workshop, listed in groupby(people, key=lambda person: person.workshop):
        everybody = sees_all(user, workshop)
        yield from (person for person in listed if everybody or person.user == user)


def usual_sets(collection: Collection, user: User | None) -> tuple[str, str] | None:
    """Return two sets to begin with: two people's of a workshop or a bank, else two banks or versions.

    Else what there is beside the key points; None where there are no two.
    """
    every = [name for name, _ in set_choices(collection, user)]
    listed = [name for name in every if name not in KEY_POINTS]
    by_maker: dict[str, list[str]] = defaultdict(list)
    for name in listed:
        made, _, maker = name.partition(":")
        if maker:
            by_maker[made].append(name)
    newest = {name.partition("@")[0]: name for name in reversed(listed) if ":" not in name}
    groups = [
        *reversed(by_maker.values()),
        sorted(newest.values()),
        [name for name in listed if ":" not in name],
        every,
    ]
    chosen = next((names for names in groups if len(names) > 1), None)
    return (chosen[0], chosen[1]) if chosen else None


def read_set(collection: Collection, name: str, user: User | None) -> ChosenSet:
    """Return a set by its name: `bank`, `bank@version`, either with `:creator`, `workshop/key:username`, or key points.

    Raises NoSuchSet, also for what people propose unless this user, None by command, may see it.
    """
    if name in KEY_POINTS:
        return ChosenSet(name, KEY_POINTS[name], _of_key_points(collection, name))
    if of_workshop := PROPOSED.fullmatch(name):
        key = int(of_workshop["workshop"]), of_workshop["person"]
        people = {(person.workshop_id, person.user.username): person for person in _people_seen(collection, user)}
        if key not in people:
            raise NoSuchSet(f"There is no set of nuggets “{name}”: nobody of this name handed in proposals there.")
        return _proposed(name, people[key])
    asked = NAME.fullmatch(name)
    versions = BankVersion.objects.filter(bank__collection=collection, bank__name=asked["bank"] if asked else "")
    if asked and asked["version"]:
        versions = versions.filter(number=int(asked["version"]))
    version = versions.select_related("bank").order_by("-number").first()
    if asked is None or version is None:
        raise NoSuchSet(
            f"There is no set of nuggets “{name}”. Name one as bank, bank@version, bank:creator or key-points/all."
        )
    entries = _entries(version)
    label = f"{version.bank}, version {version.number}"
    if creator := asked["creator"]:
        made = _creators(entries)
        entries = [entry for entry in entries if creator in made.get(entry.pk, ())]
        label = f"{version.bank}, made by {creator}"
        if not entries:
            raise NoSuchSet(f"“{creator}” made no nugget of {version}.")
    return ChosenSet(name, label, _nuggets(entries))


def _key_points(collection: Collection, name: str) -> QuerySet[RubricElement]:
    """Return the points of documents; those that answers make themselves are their run's."""
    points = RubricElement.objects.filter(topic__collection=collection, kind=RubricElement.Kind.KEY_POINT)
    points = points.exclude(attributes__has_key="run").exclude(text="")
    return points if name == "key-points/all" else points.filter(masked=False)


def _of_key_points(collection: Collection, name: str) -> NuggetSet:
    """Return the key points with their places in the documents. Raises NoSuchSet."""
    points = list(_key_points(collection, name).select_related("topic").order_by("topic", "position"))
    if not points:
        raise NoSuchSet(f"“{collection}” has no {KEY_POINTS[name]}. Build some, or import them.")
    spans: dict[int, list[SourceSpan]] = defaultdict(list)
    places = ElementSpan.objects.filter(element__in=_key_points(collection, name))
    for pk, document, start, end in places.values_list("element_id", "passage__passage_id", "start", "end"):
        spans[pk].append(SourceSpan(document, start, end))
    found: dict[str, list[SetNugget]] = defaultdict(list)
    for one in points:
        found[one.topic.topic_id].append(
            SetNugget(one.text, one.importance, one.weight, tuple(spans[one.pk]), key=one.pk)
        )
    return dict(found)


def _proposed(name: str, person: WorkshopPerson) -> ChosenSet:
    """Return what the person proposed for the topics that they handed in, as they worded it."""
    nuggets, worded = {}, Counter[bool]()
    for held in WorkshopTopic.objects.filter(handed_in__person=person).select_related("topic"):
        proposed = nuggets_by_person(held).get(person.user, [])
        nuggets[held.topic.topic_id] = [_as_proposed(one) for one in proposed]
        worded.update(one.by_judge for one in proposed)
    label = _proposed_by(person)
    if worded[True]:  # two people may agree because one judge worded for both
        label += f" ({worded[True]:,} of {worded.total():,} began with a judge’s words)"
    return ChosenSet(name, label, nuggets, person.workshop)


def _proposed_by(person: WorkshopPerson) -> str:
    return f"{person.workshop.bank}, workshop of {person.workshop.made_at:%Y-%m-%d}, proposed by {person.user}"


def _as_proposed(one: NuggetOfPerson) -> SetNugget:
    marked = one.start is not None and one.end is not None
    spans = (SourceSpan(one.docno or f"report of {one.run}", one.start or 0, one.end or 0),) if marked else ()
    return SetNugget(one.text, one.importance, one.weight, spans)


def _entries(version: BankVersion) -> list[BankEntry]:
    """Return what is asked about: nuggets that are made of no others, without masked ones."""
    listed = version.entries.filter(sub_entries=None, element__masked=False).select_related("element__topic")
    return list(listed.order_by("element__topic", "position"))


def _nuggets(entries: list[BankEntry]) -> NuggetSet:
    elements = [entry.element_id for entry in entries]
    spans: dict[int, list[SourceSpan]] = defaultdict(list)
    places = NuggetReference.objects.filter(element__in=elements, start__isnull=False, end__isnull=False)
    for pk, document, start, end in places.values_list("element__pk", "docno", "start", "end"):
        spans[pk].append(SourceSpan(document, start or 0, end or 0))
    found: dict[str, list[SetNugget]] = defaultdict(list)
    for entry in entries:
        element = entry.element
        weight = element.weight if entry.weight is None else entry.weight
        importance = entry.importance or element.importance
        nugget = SetNugget(element.text, importance, weight, tuple(spans[element.pk]), key=element.pk)
        found[element.topic.topic_id].append(nugget)
    return dict(found)


def _creators(entries: list[BankEntry]) -> dict[int, set[str]]:
    """Return who made each entry: as its file says of the nugget, else of its answers and references."""
    elements = {entry.element_id for entry in entries}
    said: dict[int, set[str]] = defaultdict(set)
    for model in (NuggetAnswer, NuggetReference):
        rows = model.objects.filter(element__in=elements, creator__isnull=False)
        for pk, creator in rows.values_list("element__pk", "creator"):
            said[pk].update(creator_names(creator))
    found = {}
    for entry in entries:
        own = {*_named(entry.attributes), *_named(entry.element.attributes)}
        found[entry.pk] = own or said[entry.element_id]
    return found


def _named(attributes: Mapping[str, Any]) -> Iterator[str]:
    yield from creator_names(attributes.get("creator"))


def creator_names(creator: Any) -> Iterator[str]:
    """Yield the names in what a file says of a creator: a name, an object that has one, or a list of these."""
    if isinstance(creator, list):
        for one in creator:
            yield from creator_names(one)
    elif isinstance(creator, str) and creator.strip():
        yield creator.strip()
    elif isinstance(creator, dict):
        name = next((str(creator[key]) for key in SAYS_WHO if creator.get(key)), "")
        if name or "is_human" in creator:
            yield name or ("a person" if creator["is_human"] else "a model")
        elif creator:
            yield json.dumps(creator, ensure_ascii=False, sort_keys=True)
