"""Requests, segments and candidate pools: recognised, into rows, and out again equal."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.timezone import now

from collection.exporting.exchanged import EXPORTS
from collection.exporting.runs import NoSuchRun
from collection.formats.problems import BrokenFile
from collection.formats.recognition import recognised
from collection.formats.requests import EXCHANGED
from collection.importing.files import FilesOptions, import_files
from collection.importing.outcomes import ImportOutcome
from collection.models import Collection, Passage, RankedPassage, Topic, User

pytestmark = pytest.mark.django_db

REQUESTS: list[dict[str, Any]] = [
    {
        "request_id": "300",
        "title": "Bridges",
        "problem_statement": "How are old bridges kept standing?",
        "background": "I inspect bridges.",
        "original_background": "Inspector.",
        "limit": 2000,
        "word_limit": 400,
        "collection_ids": ["neuclir/1/zho"],
        "asked_by": {"name": "R"},
    },
    {"request_id": "301", "title": "Only a title", "problem_statement": None, "background": ""},
    {"request_id": "302", "title": "Only a title too", "problem_statement": ""},
]
SEGMENT: dict[str, Any] = {
    "docid": "msmarco_v2.1_doc_29_1#2_14",
    "url": "http://e.org/",
    "title": "Care",
    "headings": "Care\nOf stone\n",
    "segment": "Every six years  an engineer\nlooks at it.",
    "start_char": 10,
    "end_char": 51,
}
DOC = {name: value for name, value in SEGMENT.items() if name != "docid"}
POOL: list[dict[str, Any]] = [
    {
        "query": {"qid": "q1", "text": "How are bridges kept?", "lang": "en"},
        "candidates": [
            {"docid": "d1", "score": 9.5, "doc": {"_id": "d1", "contents": "One.", "url": "u"}, "shard": 3},
            {"docid": "d2", "score": 9.5, "doc": {"_id": "d2", "contents": "Two.", "title": "2"}},
            {"docid": "d3", "score": -1.25},
        ],
        "invocations": [1],
    },
    {
        "query": {"qid": "q2", "text": "Another?"},
        "candidates": [{"docid": "d1", "score": 1.0, "doc": {"_id": "d1", "contents": "One.", "url": "u"}}],
    },
]


def jsonl(*objects: dict[str, Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in objects)


@pytest.fixture
def empty(rosa: User) -> Collection:
    return Collection.objects.create(name="empty", owner=rosa)


@pytest.fixture
def brought(empty: Collection, tmp_path: Path) -> Callable[..., ImportOutcome]:
    def of(content: str, name: str = "file.jsonl") -> ImportOutcome:
        (tmp_path / name).write_text(content)
        return import_files(files=[(name, tmp_path / name)], collection=empty, options=FilesOptions(), at=now())

    return of


def out(collection: Collection, form: str, run: str = "") -> list[dict[str, Any]]:
    return [json.loads(line) for line in EXPORTS[form](collection, run)]


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        ("requests", REQUESTS),
        ("rag25", [{"id": "14", "title": "I want to know how bridges are kept."}]),
        ("segments", [SEGMENT, {"docid": "d#1", "segment": "Without a title.", "document_id": "another"}]),
        ("pools", POOL),
        ("pools", [{"query": {"qid": "q", "text": "T"}, "candidates": [{"docid": "d", "score": 1.0, "doc": "Text"}]}]),
        ("pools", [{"query": {"qid": "q", "text": "T"}, "candidates": [{"docid": "d#1", "score": 1.0, "doc": DOC}]}]),
    ],
)
def test_what_comes_in_goes_out_equal_and_again_changes_nothing(
    form: str, lines: list[dict[str, Any]], brought: Callable[..., ImportOutcome], empty: Collection
) -> None:
    first = brought(jsonl(*lines))
    again = brought(jsonl(*lines))

    assert first.changed
    assert not again.changed
    assert out(empty, form) == lines


def test_the_page_offers_what_there_is() -> None:
    assert list(EXCHANGED) == list(EXPORTS)


def test_narratives_go_out_as_they_came(brought: Callable[..., ImportOutcome], empty: Collection) -> None:
    text = "401\tHow are bridges kept, and by whom?\n402\tWarum?\n"

    brought(text, "rag26.tsv")

    assert "".join(map(str, EXPORTS["narratives"](empty, ""))) == text


def test_a_request_becomes_a_topic_with_what_it_says_besides(brought: Callable[..., ImportOutcome]) -> None:
    brought(jsonl(*REQUESTS))

    asked, titled, _ = Topic.objects.filter(collection__name="empty").order_by("pk")
    assert (asked.title, asked.request) == ("Bridges", "How are old bridges kept standing?")
    assert asked.background == "I inspect bridges."
    assert asked.attributes["word_limit"] == 400
    assert (titled.title, titled.request, titled.background) == ("", "Only a title", "")


def test_a_segment_names_its_document(brought: Callable[..., ImportOutcome]) -> None:
    brought(jsonl(SEGMENT))

    assert Passage.objects.get(passage_id=SEGMENT["docid"]).document_id == "msmarco_v2.1_doc_29_1"


def test_a_pool_is_recognised_and_becomes_one_run_in_its_order(
    brought: Callable[..., ImportOutcome], tmp_path: Path
) -> None:
    brought(jsonl(*POOL), "bm25.jsonl")

    assert recognised(tmp_path / "bm25.jsonl", name="bm25.jsonl") == "pools"
    ranked = RankedPassage.objects.filter(run__name="bm25", topic__topic_id="q1").order_by("rank")
    assert list(ranked.values_list("passage_id", "rank", "score")) == [("d1", 1, 9.5), ("d2", 2, 9.5), ("d3", 3, -1.25)]
    assert not Passage.objects.filter(passage_id="d3").exists()


def test_a_pool_leaves_known_topics_and_passages_as_they_are(
    brought: Callable[..., ImportOutcome], empty: Collection
) -> None:
    brought(jsonl({"id": "q1", "title": "Kept", "request": "How are bridges kept?", "words": 9}), "topics.jsonl")
    brought(jsonl({"id": "d1", "contents": "One.", "title": "First"}), "passages.jsonl")

    brought(jsonl(*POOL), "bm25.jsonl")

    assert Topic.objects.get(collection=empty, topic_id="q1").attributes == {"words": 9}
    assert Passage.objects.get(collection=empty, passage_id="d1").title == "First"


CANDIDATE: dict[str, Any] = {"docid": "d", "score": 1.0, "doc": "Text"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"candidates": [CANDIDATE, CANDIDATE]}, "“d” is there twice"),
        ({"candidates": [{**CANDIDATE, "score": "high"}]}, "Candidate 1: The field “score”"),
        ({"candidates": [{**CANDIDATE, "doc": 3}]}, "neither a text nor an object"),
        ({"candidates": [{**CANDIDATE, "doc": {"docid": "e", "text": "T"}}]}, "calls itself"),
        ({"candidates": [{**CANDIDATE, "doc": {"title": "T"}}]}, "no field “contents”"),
        ({"candidates": ["d"]}, 'Candidate 1 is "d", not an object'),
        ({"query": {"qid": "q0", "text": "Something else"}}, "“q0” is already there with another request"),
        ({"candidates": [{**CANDIDATE, "docid": "d0"}]}, "“d0” is already there with another text"),
        ({"query": {"qid": "q3"}}, "“text” is missing"),
    ],
)
def test_a_broken_pool_is_refused_with_its_line_and_leaves_nothing(
    changed: dict[str, Any], said: str, brought: Callable[..., ImportOutcome], empty: Collection
) -> None:
    good = {"query": {"qid": "q0", "text": "T"}, "candidates": [{**CANDIDATE, "docid": "d0", "doc": "Zero"}]}
    bad = {"query": {"qid": "q", "text": "T"}, "candidates": [CANDIDATE]} | changed

    with pytest.raises(BrokenFile) as refused:
        brought(jsonl(good, bad))

    assert said in str(refused.value)
    assert "line 2" in str(refused.value)
    assert not empty.topics.exists()
    assert not empty.runs.exists()


def test_a_pool_of_several_runs_needs_one_named(brought: Callable[..., ImportOutcome], empty: Collection) -> None:
    brought(jsonl(*POOL), "a.jsonl")
    brought(jsonl(*POOL), "b.jsonl")

    with pytest.raises(NoSuchRun, match="Choose one of a, b"):
        EXPORTS["pools"](empty, "")
    assert out(empty, "pools", run="b") == POOL


def test_page_api_and_command_give_the_same(
    brought: Callable[..., ImportOutcome], empty: Collection, client: Client, rosa: User, mallory: User
) -> None:
    brought(jsonl(*REQUESTS))
    printed = StringIO()
    call_command("export_texts", "--collection", "empty", "--as", "requests", stdout=printed)

    client.force_login(rosa)
    page = client.get("/collections/empty/texts/", {"as": "requests"})
    api = client.get("/api/v1/collections/empty/texts/", {"as": "requests"})

    assert page.getvalue() == api.getvalue() == printed.getvalue().encode()
    assert page["Content-Disposition"] == 'attachment; filename="empty-requests.jsonl"'
    assert client.get("/collections/empty/texts/", {"as": "nonsense"}).status_code == 404
    assert "no rankings" in client.get("/api/v1/collections/empty/texts/", {"as": "pools"}).json()["run"]
    assert "no rankings" in client.get("/collections/empty/texts/?as=pools", follow=True).content.decode()
    with pytest.raises(CommandError, match="no rankings"):
        call_command("export_texts", "--collection", "empty", "--as", "pools")
    client.force_login(mallory)
    assert client.get("/collections/empty/texts/", {"as": "requests"}).status_code == 404


RUN = "q1 Q0 d#2 0 7.25 bm25\nq1 Q0 d#1 1 -0.1 bm25\nq2 Q0 d#1 4 1e-07 bm25\n"


@pytest.fixture
def ranked(brought: Callable[..., ImportOutcome], empty: Collection) -> Collection:
    brought(jsonl({"id": "q1", "request": "One?"}, {"id": "q2", "request": "Two?"}), "topics.jsonl")
    brought(RUN, "bm25.run")
    return empty


def test_a_run_goes_out_as_it_came(ranked: Collection) -> None:
    assert "".join(map(str, EXPORTS["run"](ranked, ""))) == RUN


def test_all_runs_go_out_in_a_zip_that_comes_in_again(
    ranked: Collection, brought: Callable[..., ImportOutcome], client: Client, rosa: User, tmp_path: Path
) -> None:
    brought(RUN.replace("bm25", "team/dense"), "dense.run")

    client.force_login(rosa)
    page = client.get("/collections/empty/texts/", {"as": "runs"})

    with zipfile.ZipFile(BytesIO(page.getvalue())) as archive:
        names = archive.namelist()
        assert names == ["bm25.run", "team-dense.run"]
        assert archive.read("bm25.run").decode() == RUN
        archive.extractall(tmp_path / "out")
    files = [(name, tmp_path / "out" / name) for name in names]
    outcome = import_files(files=files, collection=ranked, options=FilesOptions(), at=now())
    assert not outcome.changed
    assert client.get("/collections/empty/texts/", {"as": "run"}).status_code == 302
    assert "team/dense" in client.get("/api/v1/collections/empty/texts/", {"as": "run"}).json()["run"]


def test_a_name_with_a_space_is_no_word_of_a_run_file(ranked: Collection) -> None:
    RankedPassage.objects.filter(passage_id="d#2").update(passage_id="d 2")

    with pytest.raises(NoSuchRun, match="“d 2” has a space"):
        EXPORTS["run"](ranked, "bm25")
