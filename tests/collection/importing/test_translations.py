"""Translations of passages, in and out again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from collection.exporting.collections import exported_collection
from collection.formats.problems import BrokenFile, InputFile
from collection.importing.collections import import_collection
from collection.importing.trec import import_passages
from collection.models import Collection, Passage, User

pytestmark = pytest.mark.django_db

SAID = {"text": "Eine Brücke aus Eiche. 🌉", "language": "de", "by": "Opus MT", "kind": "model"}


def passages(tmp_path: Path, collection: Collection, *lines: dict[str, Any]) -> Any:
    path = tmp_path / "passages.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return import_passages(file=InputFile(path), collection=collection)


@pytest.fixture
def empty(rosa: User) -> Collection:
    return Collection.objects.create(name="oak", owner=rosa)


def test_a_translation_comes_in_and_goes_out(empty: Collection, rosa: User, tmp_path: Path) -> None:
    line = {"id": "p1", "text": "A bridge of oak.", "translation": SAID}

    assert passages(tmp_path, empty, line).changed
    assert not passages(tmp_path, empty, line).changed

    exported = "".join(exported_collection(empty))
    assert json.loads(exported.splitlines()[1])["translation"] == SAID
    again = Collection.objects.create(name="again", owner=rosa)
    path = tmp_path / "again.jsonl"
    path.write_text(exported)
    import_collection(file=InputFile(path), collection=again)
    assert Passage.objects.get(collection=again).translation == SAID


def test_a_later_file_adds_a_translation_and_an_earlier_one_takes_none_away(empty: Collection, tmp_path: Path) -> None:
    plain = {"id": "p1", "text": "A bridge of oak.", "source": "web"}
    passages(tmp_path, empty, plain)

    assert passages(tmp_path, empty, plain | {"translation": SAID}).changed
    assert not passages(tmp_path, empty, plain).changed

    kept = Passage.objects.get()
    assert (kept.translation, kept.text, kept.attributes) == (SAID, "A bridge of oak.", {"source": "web"})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"text": "A bridge of oak.", "translation": SAID | {"text": "Another."}}, "another translation"),
        ({"text": "A bridge of stone.", "translation": SAID}, "another text"),
    ],
)
def test_a_translation_does_not_change(empty: Collection, tmp_path: Path, line: dict[str, Any], reason: str) -> None:
    passages(tmp_path, empty, {"id": "p1", "text": "A bridge of oak.", "translation": SAID})

    with pytest.raises(BrokenFile, match=reason):
        passages(tmp_path, empty, {"id": "p1", **line})

    assert Passage.objects.get().translation == SAID


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ("Eine Brücke.", "not an object"),
        ({**SAID, "kind": "robot"}, "kind"),
        ({**SAID, "language": "German!"}, "not a language"),
        ({**SAID, "text": " "}, "“text” is empty"),
        ({**SAID, "by": ""}, "“by” is empty"),
        ({**SAID, "by": "x" * 201}, "201 characters"),
        ({"text": "Eine Brücke."}, "“language” is missing"),
        ({**SAID, "more": 1}, "more"),
    ],
)
def test_a_broken_translation_is_refused(empty: Collection, tmp_path: Path, wrong: Any, reason: str) -> None:
    with pytest.raises(BrokenFile, match=reason):
        passages(tmp_path, empty, {"id": "p1", "text": "A bridge.", "translation": wrong})

    assert not Passage.objects.exists()
