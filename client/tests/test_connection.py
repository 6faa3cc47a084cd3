from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from assize_client import AssizeError, Collection, Job, NotReady, Study, connect
from assize_client.connection import Connection

Handler = Callable[[httpx.Request], httpx.Response]


def a_connection(handler: Handler, *, patience: float = 60) -> Connection:
    return Connection(
        "http://site", "secret", patience=patience, transport=httpx.MockTransport(handler), sleep=lambda _: None
    )


def in_turn(*answers: httpx.Response) -> tuple[Handler, list[httpx.Request]]:
    """Return what answers so, one after the other, and the list of what it was asked."""
    left, asked = list(answers), []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return left.pop(0)

    return answer, asked


def test_sends_the_token_and_leaves_out_what_is_not_said() -> None:
    answer, asked = in_turn(httpx.Response(200, json={"a": 1}))

    found = a_connection(answer).get("studies/x/", criterion="relevance", judge=None, source=["people", "llm"])

    assert found == {"a": 1}
    assert str(asked[0].url) == "http://site/api/v1/studies/x/?criterion=relevance&source=people&source=llm"
    assert asked[0].headers["Authorization"] == "Token secret"


def test_waits_for_figures_where_the_site_says() -> None:
    again = "/api/v1/studies/x/leaderboard/?measure=AP&shown=k"
    computing = httpx.Response(202, json={"state": "computing"}, headers={"Location": again})
    answer, asked = in_turn(computing, computing, httpx.Response(200, json={"sources": []}))

    assert a_connection(answer).get("studies/x/leaderboard/", measure="AP") == {"sources": []}
    assert [request.url.raw_path.decode() for request in asked[1:]] == [again, again]


def test_says_what_it_did_not_wait_for() -> None:
    def computing(request: httpx.Request) -> httpx.Response:
        return httpx.Response(202, json={}, headers={"Location": "/api/v1/again/"})

    with pytest.raises(NotReady, match="within 0 s: /api/v1/again/"):
        a_connection(computing, patience=0).get("studies/x/leaderboard/")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"detail": "Not found."}, "Not found."),
        ({"measure": ["There is no measure “x”."]}, "measure: There is no measure “x”."),
        ({"file": ["line 3: 2 columns."], "study": ["No."]}, "file: line 3: 2 columns.; study: No."),
        (["Give either."], "Give either."),
    ],
)
def test_a_refusal_says_its_reason(body: Any, said: str) -> None:
    answer, _ = in_turn(httpx.Response(400, json=body))

    with pytest.raises(AssizeError, match=r"\(HTTP 400\)$") as refused:
        a_connection(answer).post("collections/", json={})

    assert str(refused.value) == f"{said} (HTTP 400)"
    assert refused.value.status == 400


def test_a_refusal_without_json_says_its_status() -> None:
    answer, _ = in_turn(httpx.Response(502, text="<h1>Bad Gateway</h1>"))

    with pytest.raises(AssizeError, match="Bad Gateway"):
        a_connection(answer).get("studies/")


def test_reads_a_list_to_its_end() -> None:
    more = "http://site/api/v1/studies/?cursor=2"
    answer, asked = in_turn(
        httpx.Response(200, json={"results": [{"name": "a"}], "next": more}),
        httpx.Response(200, json={"results": [{"name": "b"}], "next": None}),
    )

    assert [row["name"] for row in a_connection(answer).pages("studies/")] == ["a", "b"]
    assert str(asked[1].url) == more


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "nist.qrels"
    path.write_text("q1 0 d1 1\n")
    return path


def test_waits_until_a_worker_has_imported_the_files(qrels: Path) -> None:
    outcome = {
        "counts": [["judgments", 1, 0]],
        "problems": [],
        "remarks": ["A remark."],
        "details": {"files": [{"name": "nist.qrels", "waits": ""}], "studies": ["dl-qrels"]},
    }
    answer, asked = in_turn(
        httpx.Response(202, json={"id": 7, "state": "importing"}),
        httpx.Response(200, json={"state": "importing", "outcome": None}),
        httpx.Response(200, json={"state": "imported", "outcome": outcome}),
    )

    imported = Collection(a_connection(answer), "dl").push(qrels, people={"nist.qrels": "nist"}, relevant_from=2)

    assert imported.studies == ["dl-qrels"]
    assert imported.counts.to_dict("records") == [{"what": "judgments", "new": 1, "known": 0}]
    assert imported.remarks == ["A remark."]
    sent = asked[0].content.decode()
    assert "nist.qrels=nist" in sent
    assert "q1 0 d1 1" in sent
    assert asked[2].url.path == "/api/v1/uploads/7/"


def test_says_what_is_wrong_in_a_file_that_a_worker_read(qrels: Path) -> None:
    problem = {"line": 1, "reason": "The grade “x” is not a number.", "remedy": "Correct it."}
    answer, _ = in_turn(
        httpx.Response(202, json={"id": 7, "state": "importing"}),
        httpx.Response(200, json={"state": "tried", "outcome": {"problems": [problem]}}),
    )

    with pytest.raises(AssizeError, match=r"line 1: The grade “x” is not a number\. Correct it\."):
        Collection(a_connection(answer), "dl").push(qrels)


def test_a_job_is_waited_for() -> None:
    answer, asked = in_turn(
        httpx.Response(201, json={"id": 3}),
        httpx.Response(200, json={"id": 3, "state": "running"}),
        httpx.Response(200, json={"id": 3, "state": "done"}),
    )

    job = Study(a_connection(answer), "s").start_job("relevance", "lexical", sample=10)

    assert isinstance(job, Job)
    assert job.wait()["state"] == "done"
    assert json.loads(asked[0].content) == {"study": "s", "criterion": "relevance", "judge": "lexical", "sample": 10}


def test_asks_for_address_and_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSIZE_URL", raising=False)
    monkeypatch.setenv("ASSIZE_TOKEN", "secret")

    with pytest.raises(ValueError, match="ASSIZE_URL"):
        connect()
    assert connect("http://site").connection.http.headers["Authorization"] == "Token secret"
