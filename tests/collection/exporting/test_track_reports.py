"""Reports in the form that a track takes, or refused before anything is written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from collection.formats.problems import InputFile
from collection.importing.datasets.cited_reports import import_cited_reports
from collection.models import Collection, Report, Run, System, Topic, User
from tests.collection.files import jsonl, refused, run_command
from tests.collection.formats.test_cited_reports import MARCO, NEWS, SHARED, VALID, changed, set_in

pytestmark = pytest.mark.django_db

Bring = Callable[..., Collection]
CITED_TWICE = {"text": "They sway.", "citations": {MARCO[0]: 10, MARCO[1]: 90}}


@pytest.fixture
def bring(rosa: User, tmp_path: Path) -> Bring:
    """A collection with these reports and nothing else."""

    def of(*reports: dict[str, Any]) -> Collection:
        collection = Collection.objects.create(name="handed", owner=rosa)
        path = jsonl(tmp_path / "in.jsonl", *reports)
        import_cited_reports(file=InputFile(path, name=path.name), collection=collection, with_topics=True)
        return collection

    return of


@pytest.fixture
def out(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[dict[str, Any]]]:
    def of(*options: str) -> list[dict[str, Any]]:
        written = run_command(capsys, "export reports", "--collection", "handed", *options)
        return [json.loads(line) for line in written.splitlines()]

    return of


Out = Callable[..., list[dict[str, Any]]]


@pytest.mark.parametrize("track", ["rag24", "rag25", "rag26", "ragtime26"])
def test_a_file_that_is_in_the_form_goes_out_equal(track: str, bring: Bring, out: Out) -> None:
    bring(VALID[track])

    assert out("--track", track) == [VALID[track]]


def test_what_is_only_ours_stays_here(bring: Bring, out: Out) -> None:
    bring(SHARED)

    [line] = out("--track", "shared", "--team", "arch")

    assert line.keys() == {"metadata", "references", "responses"}
    assert line["metadata"] == {"team_id": "arch", "run_id": "r1", "topic_id": "t1", "colour": "green"}
    assert line["responses"][1] == {"text": "They sing.", "citations": ["d2"]}


def test_weights_become_places_the_strongest_first(bring: Bring, out: Out) -> None:
    collection = bring(set_in(SHARED, "responses", to=[CITED_TWICE]) | {"references": MARCO[:1]})
    Topic.objects.filter(collection=collection).update(request="Why?")

    [rag] = out("--track", "rag24")
    [shared] = out("--track", "shared")

    assert rag == {
        "run_id": "r1", "topic_id": "t1", "topic": "Why?", "response_length": 2, "references": MARCO[:2],
        "answer": [{"text": "They sway.", "citations": [1, 0]}],
    }  # fmt: skip
    assert shared["responses"] == [CITED_TWICE]


def test_what_a_request_says_of_its_documents_is_said(bring: Bring, out: Out) -> None:
    collection = bring(VALID["ragtime26"])
    Topic.objects.filter(collection=collection).update(attributes={"collection_ids": ["news-en"]})

    assert out("--track", "ragtime26")[0]["metadata"]["collection_ids"] == ["news-en"]


LONG = {"text": "word " * 401, "citations": []}


@pytest.mark.parametrize(
    ("found", "track", "said"),
    [
        (set_in(VALID["rag26"], "metadata", "team_id", to=""), "rag26", "no team_id. State the team (--team)."),
        (changed(VALID["rag26"], "metadata", "run_desc"), "rag26", "no run_desc. State a description of the run"),
        (set_in(VALID["rag26"], "metadata", "run_id", to="r" * 21), "rag26", "more than 20. Add or import the run"),
        (VALID["rag25"], "rag26", f"“{MARCO[0]}” is not an id of the track's documents. Such a file cites"),
        (VALID["rag25"], "dragun25", "no use_starter_kit. Import the run with it"),
        (changed(VALID["rag25"], "metadata", "type"), "dragun25", "no type. Import the run with its type"),
        (set_in(VALID["rag25"], "metadata", "type", to="magic"), "rag25", "manual or automatic. Import the run with"),
        (set_in(VALID["rag25"], "answer", to=[LONG]), "rag25", "401 words, more than 400. Build the run again"),
        (
            set_in(VALID["rag24"], "answer", 0, "citations", to=[0, 1, 2, 3]) | {"references": MARCO},
            "rag24", "Sentence 1 has 4 citations, more than 3. Build the run again",
        ),
        (
            set_in(VALID["rag25"], "references", to=[f"{MARCO[0]}{n}" for n in range(21)]),
            "rag24", "21 references, more than 20. Build the run again",
        ),
        (set_in(VALID["rag25"], "answer", 1, "text", to=" "), "rag26", "Sentence 2 has no text. Import the report"),
    ],
)  # fmt: skip
def test_what_a_track_would_refuse_is_refused_with_what_to_do(
    found: dict[str, Any], track: str, said: str, bring: Bring
) -> None:
    bring(found)

    lines = refused("export reports", "--collection", "handed", "--track", track).splitlines()

    assert [line for line in lines if said in line and line.startswith("Run “r")]
    assert all(line.endswith((".", "(--run-desc)", ")")) for line in lines)


@pytest.mark.parametrize(
    ("limits", "said"), [({"limit": 9}, "10 characters, more than 9"), ({"word_limit": 1}, "2 words, more than 1")]
)
def test_a_requests_own_limit_is_kept(limits: dict[str, int], said: str, bring: Bring, out: Out) -> None:
    collection = bring(VALID["ragtime26"])
    topics = Topic.objects.filter(collection=collection)
    topics.update(attributes=limits)

    assert said in refused("export reports", "--collection", "handed", "--track", "ragtime26")
    topics.update(attributes={name: most + 1 for name, most in limits.items()})
    assert len(out("--track", "ragtime26")) == 1


def test_several_runs_go_where_the_track_takes_them(bring: Bring, out: Out) -> None:
    other = set_in(VALID["ragtime26"], "metadata", "run_id", to="s")
    bring(VALID["ragtime26"], other, set_in(other, "metadata", "topic_id", to="2"))
    both = ("--run", "s", "--run", "r")

    assert [line["metadata"]["run_id"] for line in out("--track", "ragtime26", *both)] == ["r", "s", "s"]
    assert [line["metadata"]["run_id"] for line in out("--run", "r")] == ["r"]
    of = ("export reports", "--collection", "handed")
    assert "(--run): r, s." in refused(*of, "--track", "ragtime26")
    assert "of r, s." in refused(*of, "--run", "x")
    assert "has 2 runs: r, s." in refused(*of, "--track", "rag24", *both)
    assert "“rag99”" in refused(*of, "--track", "rag99")
    assert "(--track)" in refused(*of, "--team", "arch")


def test_a_report_of_one_text_is_refused(bring: Bring) -> None:
    collection = bring(VALID["shared"])
    topic, system = collection.topics.get(), System.objects.create(collection=collection, name="s")
    run = Run.objects.create(collection=collection, system=system, name="s")
    Report(run=run, topic=topic, text="They sway. They sing.").save()

    said = refused("export reports", "--collection", "handed", "--track", "shared", "--team", "arch", "--run", "s")

    assert "manage.py import sentences" in said


def test_page_api_and_command_give_the_same_and_strangers_nothing(
    client: Client, bring: Bring, rosa: User, mallory: User, capsys: pytest.CaptureFixture[str]
) -> None:
    bring(VALID["ragtime26"])
    page, api = "/collections/handed/reports.jsonl", "/api/v1/collections/handed/reports.jsonl"
    asked = {"track": "ragtime26", "team": "arch", "run_desc": "plain", "run": "r"}
    client.force_login(mallory)
    assert [client.get(address, asked).status_code for address in (page, api)] == [404, 404]
    client.force_login(rosa)

    by_page, by_api = client.get(page, asked), client.get(api, asked)

    of = ("--collection", "handed", "--track", "ragtime26", "--team", "arch", "--run-desc", "plain", "--run", "r")
    assert by_page.getvalue() == by_api.getvalue() == run_command(capsys, "export reports", *of).encode()
    assert "run “x”" in str(client.get(api, asked | {"run": "x"}).json())
    assert "no narrative. Import" in str(client.get(api, {"track": "rag26"}).json())
    shown = client.get(page, {"track": "rag26"}, follow=True).content.decode()
    assert "no narrative. Import" in shown
    assert '<option value="ragtime26">RAGTIME 2026</option>' in shown


def test_texts_as_reports_are_of_the_run_that_is_named(
    client: Client, bring: Bring, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    bring(VALID["ragtime26"], set_in(VALID["ragtime26"], "responses", 0, "citations", to=NEWS[1:2]) | {
        "metadata": VALID["ragtime26"]["metadata"] | {"run_id": "s"}
    })  # fmt: skip
    client.force_login(rosa)
    of = ("export texts", "--collection", "handed", "--as", "reports")

    alone = run_command(capsys, *of, "--run", "s")

    assert [json.loads(line)["metadata"]["run_id"] for line in alone.splitlines()] == ["s"]
    assert len(run_command(capsys, *of).splitlines()) == 2
    assert client.get("/collections/handed/texts/", {"as": "reports", "run": "s"}).getvalue() == alone.encode()
    assert "run “x”" in refused(*of, "--run", "x")


def test_the_page_offers_each_run_and_all_of_them(client: Client, bring: Bring, rosa: User) -> None:
    collection = bring(VALID["ragtime26"], set_in(VALID["ragtime26"], "metadata", "run_id", to="s"))
    Run.objects.create(collection=collection, system=collection.systems.get(name="r"), name="empty")
    client.force_login(rosa)

    page = client.get("/collections/handed/").content.decode()

    assert re.findall("<option[^>]*>(All|r|s|empty)</option>", page) == ["All", "r", "s", "r", "s"]
