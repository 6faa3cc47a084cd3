"""What a change does to the nuggets of a topic, before it is kept: the same for a preview and for a version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext

from collection.banks.versions import NewEntry

Key = int
MERGED = ("and", "or", "sum")
# What an entry's attributes call who made it, as NuggetBank's files do.
CREATOR = "creator"


class DoesNotFit(Exception):
    """A change that cannot be made to these nuggets."""


@dataclass(frozen=True)
class Worded:
    """A nugget as a change words it."""

    text: str
    importance: str = ""
    weight: float | None = None


@dataclass(frozen=True)
class Source:
    """Where a document says what a nugget says: a span in code points, end-exclusive."""

    docno: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True)
class ByJudge:
    """Which judge proposed a nugget's words, by which model and prompt, and what its words were."""

    judge: str
    model: str
    prompt: str
    words: str

    def creators(self, text: str) -> list[dict[str, Any]]:
        """Return who made the nugget of this text, as NuggetBank's files say it."""
        judge = {"is_human": False, "judge": self.judge, "llm_model": self.model, "llm_prompt": self.prompt}
        return [judge] if self.words == text else [judge | {"words": self.words}, {"is_human": True}]


@dataclass(frozen=True)
class Change:
    """`kind` is one of NuggetProposal's. `elements` are the nuggets that it concerns, `nuggets` those it brings."""

    kind: str
    elements: tuple[Key, ...] = ()
    nuggets: tuple[Worded, ...] = ()
    aggregator: str = ""
    source: Source | None = None
    by_judge: ByJudge | None = None


@dataclass(frozen=True)
class Standing:
    """A nugget of the topic. `key` is its element's primary key, or below 0 where a change brings it.

    `text` is set where a change words it; `replaces` is then the element in whose place it stands, `source` where it is
    from, and `by_judge` the judge whose words it began with. `was` is what the bank's version says of it.
    """

    key: Key
    importance: str = ""
    weight: float | None = None
    parent: Key | None = None
    text: str = ""
    replaces: Key | None = None
    aggregator: str = ""
    source: Source | None = None
    by_judge: ByJudge | None = None
    was: NewEntry | None = None


def standing(entries: Sequence[NewEntry]) -> list[Standing]:
    """Return the nuggets of a topic as they stand in a version."""
    return [
        Standing(
            entry.element_id,
            entry.importance,
            entry.weight,
            None if entry.parent is None else entries[entry.parent].element_id,
            was=entry,
        )
        for entry in entries
    ]


def changed(nuggets: Sequence[Standing], changes: Sequence[Change], *, texts: dict[Key, str]) -> list[Standing]:
    """Return the nuggets after these changes, one after the other. Raises DoesNotFit.

    `texts` are the words of the elements: a revision that leaves them keeps its element, and so what was judged of it.
    """
    found = list(nuggets)
    for change in changes:
        found = _one(found, change, texts)
    return found


def check_shape(change: Change) -> None:
    """Raise DoesNotFit unless the change concerns and brings as many nuggets as its kind has."""
    concerned, brought = len(set(change.elements)), len(change.nuggets)
    least, most = {"new": (0, 0), "merge": (2, None)}.get(change.kind, (1, 1))
    if concerned < least or (most is not None and concerned > most):
        raise DoesNotFit(_how_many(least))
    if change.kind == "drop" and brought:
        raise DoesNotFit("What is removed has no new words.")
    if change.kind == "split" and brought < 2:
        raise DoesNotFit(gettext("Write two or more nuggets, one a line."))
    if change.kind not in ("drop", "split") and brought != 1:
        raise DoesNotFit(gettext("Write one nugget."))
    texts = [one.text for one in change.nuggets]
    if len(set(texts)) < len(texts):
        raise DoesNotFit(gettext("There is a nugget with these words already."))


def _how_many(least: int) -> str:
    if least == 0:
        return gettext("Choose none of the others for a new nugget.")
    return gettext("Choose one nugget.") if least == 1 else gettext("Choose two or more nuggets.")


def _one(nuggets: list[Standing], change: Change, texts: dict[Key, str]) -> list[Standing]:
    check_shape(change)
    here = {one.key: one for one in nuggets}
    if any(key not in here for key in change.elements):
        raise DoesNotFit(gettext("A nugget that this concerns is changed or removed already."))
    taken = {one.text or texts.get(one.key, "") for one in nuggets if one.key not in change.elements}
    if change.kind != "drop" and any(one.text in taken for one in change.nuggets):
        raise DoesNotFit(gettext("There is a nugget with these words already."))
    first = min([0, *here]) - 1
    brought = [
        Standing(
            first - place, one.importance, one.weight, text=one.text, source=change.source, by_judge=change.by_judge
        )
        for place, one in enumerate(change.nuggets)
    ]
    match change.kind:
        case "new":
            return [*nuggets, *brought]
        case "drop":
            return _without(nuggets, change.elements[0])
        case "revise":
            return _revised(nuggets, here[change.elements[0]], brought[0], texts)
        case "split":
            return _split(nuggets, here[change.elements[0]], brought)
    return _merged(nuggets, change, brought[0])


def _without(nuggets: list[Standing], key: Key) -> list[Standing]:
    """Leave a nugget out, with its parts and theirs."""
    gone = {key}
    while more := {one.key for one in nuggets if one.parent in gone} - gone:
        gone |= more
    return [one for one in nuggets if one.key not in gone]


def _revised(nuggets: list[Standing], old: Standing, new: Standing, texts: dict[Key, str]) -> list[Standing]:
    if new.text == (old.text or texts.get(old.key)):
        weighed = replace(old, importance=new.importance, weight=new.weight)
        return [weighed if one.key == old.key else one for one in nuggets]
    edited = replace(new, parent=old.parent, replaces=_replaced(old), aggregator=old.aggregator)
    return [
        edited if one.key == old.key else replace(one, parent=new.key) if one.parent == old.key else one
        for one in nuggets
    ]


def _split(nuggets: list[Standing], old: Standing, parts: list[Standing]) -> list[Standing]:
    if any(one.parent == old.key for one in nuggets):
        raise DoesNotFit(gettext("This nugget is made of parts: split those."))
    instead = [replace(one, parent=old.parent, replaces=_replaced(old)) for one in parts]
    return [each for one in nuggets for each in (instead if one.key == old.key else [one])]


def _merged(nuggets: list[Standing], change: Change, new: Standing) -> list[Standing]:
    """One nugget in place of several, or with an aggregator above them: then what was judged of them still counts."""
    if change.aggregator and change.aggregator not in MERGED:
        raise DoesNotFit("Choose how these become one.")
    merged = set(change.elements)
    if any(set(_above(nuggets, key)) & merged for key in merged):
        raise DoesNotFit(gettext("A nugget and its own part cannot be merged."))
    first = next(one for one in nuggets if one.key in merged)
    if change.aggregator:
        parent = replace(new, parent=first.parent, aggregator=change.aggregator)
        below = [replace(one, parent=new.key) if one.key in merged else one for one in nuggets]
        at = below.index(next(one for one in below if one.key == first.key))
        return [*below[:at], parent, *below[at:]]
    whole = replace(new, parent=first.parent, replaces=_replaced(first))
    return [
        whole if one.key == first.key else replace(one, parent=new.key) if one.parent in merged else one
        for one in nuggets
        if one.key == first.key or one.key not in merged
    ]


def _above(nuggets: list[Standing], key: Key) -> Iterator[Key]:
    """Yield the nuggets that this one is a part of, the nearest first."""
    parents = {one.key: one.parent for one in nuggets}
    while (parent := parents[key]) is not None:
        yield parent
        key = parent


def _replaced(old: Standing) -> Key | None:
    """The stored element in whose place something comes."""
    return old.key if old.key > 0 else old.replaces


def as_entries(nuggets: Sequence[Standing]) -> list[NewEntry]:
    """Return the entries of a version. Every key must be an element's."""
    place = {one.key: number for number, one in enumerate(nuggets)}
    return [
        NewEntry(
            one.key,
            one.importance,
            one.weight,
            None if one.parent is None else place[one.parent],
            _said_of(one),
        )
        for one in nuggets
    ]


def _said_of(nugget: Standing) -> Mapping[str, Any]:
    if nugget.was:
        return nugget.was.attributes
    return {CREATOR: nugget.by_judge.creators(nugget.text)} if nugget.by_judge else {}
