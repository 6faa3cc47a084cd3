"""Nugget banks in Assize JSONL: what is exported is imported equal, and what does not fit is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.utils.timezone import now

from collection.exporting.collections import exported_collection
from collection.formats.problems import BrokenFile, InputFile
from collection.importing.collections import import_collection
from collection.models import (
    BankEntry,
    BankVersion,
    Collection,
    NuggetAnswer,
    NuggetBank,
    NuggetReference,
    RubricElement,
    User,
)
from collection.models.banks import VersionChanged
from tests.collection.files import jsonl

pytestmark = pytest.mark.django_db
NUGGET = {"type": "rubric_element", "topic_id": "t1", "kind": "nugget"}
PART = {"topic_id": "t1", "kind": "nugget"}
FILE: list[dict[str, Any]] = [
    {"type": "topic", "topic_id": "t1", "request": "Bridges?"},
    NUGGET | {"element_id": "n1", "text": "They are inspected.", "weight": -2.5, "aggregator": "sum", "group": "care"},
    NUGGET | {"element_id": "n2", "text": "Every six years.", "replaces": "n1"},
    NUGGET | {"element_id": "n3", "text": "Every seven years.", "replaces": "n2", "position": 0},
    {"type": "passage", "passage_id": "p1", "text": "Jedes Jahr prüft ein Ingenieur."},
    {"type": "nugget_answer", **PART, "element_id": "n1", "position": 0, "text": "Yearly", "right": False,
     "creator": [{"is_human": True}], "importance": "okay"},
    {"type": "nugget_reference", **PART, "element_id": "n1", "answer": None, "position": 0, "docno": "p1",
     "start": 11, "end": 16, "quote": "prüft", "encoding": "utf-8", "quality": 3},
    {"type": "nugget_reference", **PART, "element_id": "n1", "answer": 0, "position": 1, "docno": "not held"},
    {"type": "bank_version", "bank": "b", "number": 1, "made_at": "2026-03-01T09:00:00+00:00", "made_by": "rosa"},
    {"type": "bank_version", "bank": "b", "number": 2, "made_at": "2026-03-02T09:00:00+00:00", "made_by": "nobody"},
    {"type": "bank_entry", "bank": "b", "version": 1, **PART, "element_id": "n1", "position": 0, "weight": 1.5},
    {"type": "bank_entry", "bank": "b", "version": 1, **PART, "element_id": "n2", "position": 1, "parent": 0,
     "importance": "vital", "attributes": {"tags": ["x"]}},
]  # fmt: skip


@pytest.fixture
def empty(rosa: User) -> Collection:
    return Collection.objects.create(name="empty", owner=rosa)


def brought(tmp_path: Path, collection: Collection, *lines: Any) -> Any:
    return import_collection(file=InputFile(jsonl(tmp_path / "banks.jsonl", *lines)), collection=collection)


def out(collection: Collection) -> list[dict[str, Any]]:
    return [json.loads(line) for line in exported_collection(collection)]


def test_an_export_imports_equal_and_the_same_again_changes_nothing(
    tmp_path: Path, empty: Collection, rosa: User
) -> None:
    told = brought(tmp_path, empty, *FILE)
    exported = out(empty)
    other = Collection.objects.create(name="other", owner=rosa)
    brought(tmp_path, other, *exported)

    assert told.new["bank entries"] == 2
    assert [line | {"name": "empty"} if line["type"] == "collection" else line for line in out(other)] == exported
    assert not brought(tmp_path, empty, *FILE).changed
    assert not brought(tmp_path, empty, *exported).changed
    assert BankVersion.objects.get(bank__collection=empty, number=1).made_by == rosa
    edited = RubricElement.objects.filter(topic__collection=empty, element_id="n3")
    assert edited.values_list("replaces__element_id", flat=True).get() == "n2"
    part = BankEntry.objects.filter(version__bank__collection=other, position=1)
    assert part.values_list("parent__weight", flat=True).get() == 1.5
    assert NuggetAnswer.objects.filter(right=False).count() == NuggetReference.objects.filter(quality=3).count() == 2


def test_who_made_a_version_here_is_numbered(tmp_path: Path, empty: Collection, rosa: User, mallory: User) -> None:
    brought(tmp_path, empty, *FILE)
    bank = NuggetBank.objects.get(collection=empty)
    BankVersion.objects.filter(bank=bank, number=2).update(attributes={"made_by": "researcher 1"})
    for number, by in ((3, mallory), (4, rosa)):
        BankVersion.objects.create(bank=bank, number=number, made_at=now(), made_by=by)

    versions = [line for line in out(empty) if line["type"] == "bank_version"]

    assert [one["made_by"] for one in versions] == ["researcher 2", "researcher 1", "researcher 3", "researcher 2"]


@pytest.mark.parametrize(
    ("place", "change", "message"),
    [
        (6, {"start": 10}, "The quote is not at 10 to 16 of “p1”"),
        (6, {"end": None}, "Only one of “start” and “end”"),
        (7, {"answer": 5}, "The nugget has no answer at position 5"),
        (8, {"bank": "a b"}, "“a b” cannot be the name of a bank"),
        (8, {"made_at": "yesterday"}, "“yesterday” is not a time"),
        (10, {"version": 7}, "There is no version 7 of the bank “b”"),
        (11, {"parent": 9}, "There is no nugget at position 9"),
        (2, {"replaces": "n9"}, "There is no nugget “n9” of the topic “t1”"),
        (1, {"aggregator": "xor"}, 'The field “aggregator” is "xor"'),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, empty: Collection, place: int, change: dict[str, Any], message: str
) -> None:
    lines = [*FILE[:place], FILE[place] | change, *FILE[place + 1 :]]

    with pytest.raises(BrokenFile, match=message):
        brought(tmp_path, empty, *lines)

    assert not NuggetBank.objects.exists()


def test_a_version_is_made_once(empty: Collection) -> None:
    bank = NuggetBank.objects.create(collection=empty, name="b")
    version = BankVersion.objects.create(bank=bank, number=1, made_at=now())
    version.note = "other"

    with pytest.raises(VersionChanged):
        version.save()
