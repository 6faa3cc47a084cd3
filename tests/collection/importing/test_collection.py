"""Assize JSONL in and out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

from collection.exporting.collections import exported_collection
from collection.formats.jsonl import LINES
from collection.models import Collection, ElementSpan, Passage, RankedPassage, Report, Run, Topic, User
from collection.models.texts import text_hash
from tests.collection.files import everything, jsonl, refused, run_command

VITAL = "vital"
SPAN = {"type": "element_span", "topic_id": "t1", "kind": "nugget", "element_id": "n1", "passage_id": "p#1"}
BRIDGES: list[dict[str, Any]] = [
    {"type": "collection", "name": "elsewhere", "title": "Bridges", "licence": "CC0", "year": 2025},
    {"type": "topic", "topic_id": "t1", "title": "Old bridges", "request": "Report on old bridges.", "domain": "civil"},
    {"type": "rubric_element", "topic_id": "t1", "kind": "sub_question", "element_id": "q1", "text": "Who inspects?"},
    {"type": "rubric_element", "topic_id": "t1", "kind": "sub_question", "element_id": "q2", "masked": True},
    {
        "type": "rubric_element",
        "topic_id": "t1",
        "kind": "nugget",
        "element_id": "n1",
        "text": "x",
        "importance": "vital",
    },
    {"type": "rubric_element", "topic_id": "t1", "kind": "key_point", "element_id": "k1", "text": "Engineers do."},
    {"type": "passage", "passage_id": "p#1", "text": "Every 🌉 is seen.\r\nBy whom? By engineers.", "document_id": "d"},
    {"type": "passage", "passage_id": "p#2", "text": None},
    {
        "type": "element_span",
        "topic_id": "t1",
        "kind": "key_point",
        "element_id": "k1",
        "passage_id": "p#1",
        "quote": "By engineers.",
    },
    {"type": "system", "name": "alpha", "family": "llama"},
    {"type": "run", "name": "alpha-1", "system": "alpha"},
    {"type": "report", "run": "alpha-1", "topic_id": "t1", "text": "Engineers inspect them.  \r\n"},
    {"type": "ranking", "run": "alpha-1", "topic_id": "t1", "passage_id": "p#9", "rank": 1, "score": 7.5},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "bridges.jsonl", *BRIDGES)


def test_a_file_becomes_a_collection(file: Path, rosa: User) -> None:
    call_command("import_collection", str(file), "--collection", "old-bridges", "--owner", "rosa")

    collection = Collection.objects.get()
    assert (collection.name, collection.title, collection.licence) == ("old-bridges", "Bridges", "CC0")
    assert (collection.owner, collection.attributes) == (rosa, {"year": 2025})
    topic = Topic.objects.get()
    assert topic.attributes == {"domain": "civil"}
    elements = topic.rubric_elements.values_list("kind", "element_id", "position", "masked", "importance")
    assert list(elements) == [
        ("key_point", "k1", 0, False, ""),
        ("nugget", "n1", 0, False, "vital"),
        ("sub_question", "q1", 0, False, ""),
        ("sub_question", "q2", 1, True, ""),
    ]
    passage = Passage.objects.get(passage_id="p#1")
    assert passage.text == "Every 🌉 is seen.\r\nBy whom? By engineers."
    assert passage.text_sha256 == text_hash(passage.text)
    span = ElementSpan.objects.get()
    assert passage.text[span.start : span.end] == span.quote == "By engineers."
    assert Report.objects.get().text == "Engineers inspect them.  \r\n"
    assert Run.objects.get().system.family == "llama"
    assert RankedPassage.objects.values_list("passage_id", "rank", "score").get() == ("p#9", 1, 7.5)


def test_what_was_exported_is_imported_as_an_equal_collection(file: Path, rosa: User, tmp_path: Path) -> None:
    call_command("import_collection", str(file), "--collection", "one", "--owner", "rosa")
    exported = list(exported_collection(Collection.objects.get(name="one")))
    again = jsonl(tmp_path / "again.jsonl", *(line.rstrip("\n") for line in exported))

    call_command("import_collection", str(again), "--collection", "other", "--owner", "rosa")

    other = list(exported_collection(Collection.objects.get(name="other")))
    assert json.loads(exported[0]) | {"name": "other"} == json.loads(other[0])
    assert exported[1:] == other[1:]


def test_the_same_file_twice_changes_nothing_and_says_so(
    file: Path, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("import_collection", str(file), "--collection", "bridges", "--owner", "rosa")
    before = everything()

    told = run_command(capsys, "import_collection", file, "--collection", "bridges")

    assert everything() == before
    assert "nothing changed" in told


def test_a_line_that_stands_twice_counts_once(tmp_path: Path, rosa: User) -> None:
    file = jsonl(tmp_path / "twice.jsonl", *BRIDGES, *BRIDGES[1:])

    call_command("import_collection", str(file), "--collection", "bridges", "--owner", "rosa")

    assert Topic.objects.count() == 1
    assert Passage.objects.count() == 2


def test_a_text_that_was_missing_is_filled_in(file: Path, rosa: User, tmp_path: Path) -> None:
    call_command("import_collection", str(file), "--collection", "bridges", "--owner", "rosa")
    filling = jsonl(
        tmp_path / "fill.jsonl", {"type": "passage", "passage_id": "p#2", "text": "Now here.", "title": "T"}
    )

    call_command("import_collection", str(filling), "--collection", "bridges")

    passage = Passage.objects.get(passage_id="p#2")
    assert (passage.text, passage.title, passage.text_sha256) == ("Now here.", "T", text_hash("Now here."))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"type": "passage", "passage_id": "p#1", "text": "another"}, "with another text"),
        ({"type": "topic", "topic_id": "t1", "request": "Another."}, "with another title"),
        ({"type": "report", "run": "alpha-1", "topic_id": "t1", "text": "another"}, "with another text"),
        ({"type": "report", "run": "beta", "topic_id": "t1", "text": "x"}, "no run “beta”"),
        ({"type": "report", "run": "alpha-1", "topic_id": "t9", "text": "x"}, "no topic “t9”"),
        ({"type": "run", "name": "beta-1", "system": "beta"}, "no system “beta”"),
        ({"type": "topic", "topic_id": "t" * 201, "request": "r"}, "201 characters"),
        ({"type": "collection", "title": "x" * 201}, "200 characters"),
        (
            {
                "type": "element_span",
                "topic_id": "t1",
                "kind": "nugget",
                "element_id": "n9",
                "passage_id": "p#1",
                "quote": "By",
            },
            "no nugget “n9”",
        ),
        (
            {
                "type": "element_span",
                "topic_id": "t1",
                "kind": "nugget",
                "element_id": "n1",
                "passage_id": "p#1",
                "quote": "By",
            },
            "occurs several times",
        ),
        (
            {
                "type": "element_span",
                "topic_id": "t1",
                "kind": "nugget",
                "element_id": "n1",
                "passage_id": "p#1",
                "quote": "Nobody",
            },
            "is not in",
        ),
        (
            SPAN | {"quote": "By engineers.", "start": 0, "end": 13},
            "is not at 0 to 13",
        ),
        (
            {
                "type": "element_span",
                "topic_id": "t1",
                "kind": "nugget",
                "element_id": "n1",
                "passage_id": "p#2",
                "quote": "x",
            },
            "no passage “p#2” with a text",
        ),
    ],
)
def test_a_line_that_does_not_fit_is_refused_and_nothing_is_kept(
    file: Path, rosa: User, tmp_path: Path, line: dict[str, Any], reason: str
) -> None:
    call_command("import_collection", str(file), "--collection", "bridges", "--owner", "rosa")
    Collection.objects.update(title="")
    before = everything()
    broken = jsonl(tmp_path / "broken.jsonl", {"type": "topic", "topic_id": "new", "request": "r"}, line)

    message = refused("import_collection", broken, "--collection", "bridges")

    assert "broken.jsonl, line 2: " in message
    assert reason in message
    assert everything() == before


def test_a_broken_file_makes_no_collection(tmp_path: Path, rosa: User) -> None:
    broken = jsonl(tmp_path / "broken.jsonl", BRIDGES[0], "nonsense")

    message = refused("import_collection", broken, "--collection", "bridges", "--owner", "rosa")

    assert "line 2" in message
    assert not Collection.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--collection", "new"], "--owner"),
        (["--collection", "new", "--owner", "nobody"], "no user “nobody”"),
        (["--collection", "no name", "--owner", "rosa"], "valid"),
    ],
)
def test_a_collection_needs_a_name_and_an_owner(file: Path, rosa: User, arguments: list[str], reason: str) -> None:
    assert reason in refused("import_collection", file, *arguments)


def test_an_export_of_an_unknown_collection_names_the_known(collection: Collection) -> None:
    assert "There are: bridges." in refused("export_collection", "--collection", "bridgets")


def test_many_rows_need_few_queries(tmp_path: Path, collection: Collection, django_assert_max_num_queries: Any) -> None:
    lines = [{"type": "passage", "passage_id": f"p{n}", "text": "x"} for n in range(1_000)]
    file = jsonl(tmp_path / "many.jsonl", *lines)

    with django_assert_max_num_queries(40):
        call_command("import_collection", str(file), "--collection", "bridges")

    assert Passage.objects.filter(text="x").count() == 1_000


def test_the_example_of_the_documentation_is_imported(tmp_path: Path, rosa: User) -> None:
    page = (Path(settings.BASE_DIR) / "docs" / "formats.md").read_text()
    example = page.split("```json\n", 1)[1].split("```", 1)[0]
    file = jsonl(tmp_path / "example.jsonl", *example.splitlines())

    call_command("import_collection", str(file), "--collection", "bridges", "--owner", "rosa")

    assert {json.loads(line)["type"] for line in example.splitlines()} == set(LINES)
    assert ElementSpan.objects.get().quote == "Every six years an engineer looks"
