"""Runs by embeddings, of a server that this test plays: what is asked of it, kept, compared and told."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django.asserts import assertContains
from pytest_django.fixtures import Settings

from collection.models import Collection, RankedPassage, Retrieval, Run, User
from collection.retrieval.bm25 import Windows
from collection.retrieval.dense import NoServer, nearest, pieces
from collection.retrieval.jobs import start_retrieval
from collection.retrieval.serializers import DenseOptions
from collection.retrieval.vector_file import BeingWritten, OtherLength, VectorFile, key_of
from tests.collection.retrieval.embedding_server import EmbeddingServer, embedding_server, vector_of

pytestmark = pytest.mark.django_db
KEY = "k-9f8e7d6c5b4a"


@pytest.fixture
def server(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setattr("collection.retrieval.embeddings.FIRST_DELAY", 0.0)
    with embedding_server() as started:
        settings.EMBED_BASE_URL, settings.EMBED_MODEL, settings.EMBED_API_KEY = started.url, "letters", KEY
        settings.DATA_DIR = tmp_path
        yield started


def made(stones: Collection, **said: Any) -> Retrieval:
    options = DenseOptions(data={"run": "dense", **said})
    assert options.is_valid(), options.errors
    told = dict(options.validated_data)
    return start_retrieval(collection=stones, user=None, method="dense", options=told, at=now(), here=True)


def cosine(one: str, other: str) -> float:
    a, b = np.array(vector_of(one)), np.array(vector_of(other))
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_passages_stand_by_the_cosine_with_the_request(stones: Collection, server: EmbeddingServer) -> None:
    retrieval = made(stones, query_prefix="query: ", passage_prefix="passage: ")

    assert (retrieval.state, retrieval.problem) == ("done", "")
    lines = RankedPassage.objects.filter(run__name="dense", topic__topic_id="t1").order_by("rank")
    texts = dict(stones.passages.exclude(text=None).values_list("passage_id", "text"))
    expected = {docno: cosine("query: Who cuts stones?", f"passage: {text}") for docno, text in texts.items()}
    ranked = [line.passage_id for line in lines]
    assert ranked == sorted(expected, key=lambda docno: (expected[docno], docno), reverse=True)
    assert [line.score for line in lines] == pytest.approx([expected[docno] for docno in ranked], abs=1e-6)
    assert server.keys == {f"Bearer {KEY}"}
    assert retrieval.outcome["embedded_now"] == 3  # two passages have the same text
    making = Run.objects.get(name="dense").attributes["retrieval"]
    assert (making["model"], making["server"] + "/v1") == ("letters", server.url)
    assert KEY not in json.dumps(making)


def test_what_was_embedded_is_not_sent_again(stones: Collection, server: EmbeddingServer) -> None:
    server.fails = [200, *[503] * 5]  # the passages come, the queries do not
    first = made(stones)
    assert first.state == "failed"
    assert "503" in first.problem
    server.asked.clear()

    again = made(stones)

    assert again.state == "done"
    assert again.outcome["embedded_now"] == 0
    assert server.asked == ["Who cuts stones?", "snow"]


def test_a_server_that_is_busy_is_asked_again(stones: Collection, server: EmbeddingServer) -> None:
    server.fails = [429, 503]

    assert made(stones).state == "done"


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        ({"data": []}, "one embedding for each text"),
        ({"data": [{"index": 0, "embedding": "x"}]}, "one embedding for each text"),
        ({"data": [{"index": n, "embedding": [0.0, 0.0]} for n in range(3)]}, "zeros"),
        ({"data": [{"index": n, "embedding": [1e999]} for n in range(3)]}, "not of numbers"),
    ],
)
def test_bad_answers_are_told(stones: Collection, server: EmbeddingServer, broken: Any, problem: str) -> None:
    server.broken = broken

    retrieval = made(stones)

    assert retrieval.state == "failed"
    assert problem in retrieval.problem
    assert not Run.objects.filter(name="dense").exists()


def test_what_no_attempt_mends_is_not_repeated(stones: Collection, server: EmbeddingServer) -> None:
    server.fails = [400]

    assert "answered 400" in made(stones).problem
    assert server.fails == []


def test_without_a_server_nobody_waits(stones: Collection, settings: Settings) -> None:
    settings.EMBED_BASE_URL = ""

    with pytest.raises(NoServer, match="EMBED_BASE_URL"):
        made(stones)


def test_rosa_makes_a_dense_run(client: Client, rosa: User, stones: Collection, server: EmbeddingServer) -> None:
    client.force_login(rosa)
    page = reverse("collection:retrieval", args=[stones.name])
    assertContains(client.get(page), "Make the dense run")

    sent = {"method": "dense", "run": "d", "query": "request", "query_prefix": "query: "}
    assert client.post(page, sent).status_code == 302

    options = Retrieval.objects.get().options
    assert (options["query_prefix"], options["model"]) == ("query: ", "letters")
    assert client.post(page, {"method": "x"}).status_code == 404
    start = reverse("api:retrieval_dense", args=[stones.name])
    answer = client.post(start, json.dumps({"run": "e", "model": "m"}), content_type="application/json")
    assert (answer.status_code, answer.json()["options"]["model"]) == (202, "m")


# --- Without a server -----------------------------------------------------------------------------


def test_half_written_vectors_are_cut_off(tmp_path: Path) -> None:
    def opened() -> VectorFile:
        return VectorFile(tmp_path, server="s", model="m")

    rows = np.eye(3, dtype=np.float32)
    with opened() as kept:
        kept.add([key_of("a"), key_of("b")], rows[:2])
    with (kept.folder / "vectors").open("ab") as file:
        file.write(b"\0" * 17)
    with opened() as kept:
        kept.add([key_of("c")], rows[2:])
        with pytest.raises(BeingWritten, match="under way"), opened():
            pass
        with pytest.raises(OtherLength, match="gives 2 numbers"):
            kept.add([key_of("d")], np.ones((1, 2), dtype=np.float32))

    with opened() as kept:
        assert kept.rows == {key_of("a"): 0, key_of("b"): 1, key_of("c"): 2}
        assert kept.all().tolist() == rows.tolist()


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    vectors = rng.integers(-2, 3, size=(40, 3)).astype(np.float32)
    rows, firsts = array("q", rng.permutation(40)), array("q", [0, 1, 4, 5, 9, 20, 21, 30, 38])
    queries = rng.integers(-2, 3, size=(5, 3)).astype(np.float32)

    whole = nearest(queries, vectors, rows, firsts, 4, lambda _: None)
    monkeypatch.setattr("collection.retrieval.dense.PASSAGES_AT_ONCE", 2)
    in_blocks = nearest(queries, vectors, rows, firsts, 4, lambda _: None)

    cosines = np.maximum.reduceat(vectors[np.array(rows)] @ queries.T, np.array(firsts), axis=0)
    for number, ((places, scores), (others, _)) in enumerate(zip(whole, in_blocks, strict=True)):
        scored = dict(enumerate(cosines[:, number].tolist()))
        by_hand = sorted(range(9), key=lambda place: (scored[place], place), reverse=True)[:4]
        assert places.tolist() == others.tolist() == by_hand
        assert scores.tolist() == cosines[by_hand, number].tolist()


def test_windows_are_parts_of_the_text_as_it_stands() -> None:
    assert list(pieces("one  two\nthree four.", Windows(2, 1))) == ["one  two", "two\nthree", "three four."]
    assert list(pieces(" a  b ", Windows())) == [" a  b "]
    assert list(pieces("   ", Windows(2, 1))) == ["   "]
