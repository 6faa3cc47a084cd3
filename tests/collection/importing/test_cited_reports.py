"""Cited reports: into rows, and out again."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from collection.exporting.cited_reports import exported_cited_reports
from collection.exporting.collections import exported_collection
from collection.formats.problems import BrokenFile, InputFile, ReferencesMissing
from collection.importing.collections import import_collection
from collection.importing.datasets.cited_reports import import_cited_reports
from collection.importing.rows import Imported
from collection.models import Citation, Collection, Passage, Report, ReportSentence, Run, Topic, User
from collection.models.texts import text_hash
from collection.texts.report_sentences import SPLITTER, split_reports
from tests.collection.files import run_command
from tests.collection.formats.test_cited_reports import MIXED, RAG, SHARDS, SHARED, TWICE, VALID, changed

pytestmark = pytest.mark.django_db
FILE = [RAG, changed(SHARED, "metadata", "run_id", to="r2"), changed(MIXED, "metadata", "run_id", to="r3")]


@pytest.fixture
def imported(collection: Collection, tmp_path: Path) -> Callable[..., Imported]:
    def of(*reports: dict[str, Any], **options: Any) -> Imported:
        path = tmp_path / "reports.jsonl"
        path.write_text("".join(json.dumps(report) + "\n" for report in reports))
        return import_cited_reports(file=InputFile(path, name="reports.jsonl"), collection=collection, **options)

    return of


def out(collection: Collection) -> list[dict[str, Any]]:
    return [json.loads(line) for line in exported_cited_reports(collection)]


def test_what_comes_in_goes_out_equal(imported: Callable[..., Imported], collection: Collection) -> None:
    told = imported(*FILE, with_topics=True)

    assert out(collection) == FILE
    assert told.new["report sentences"] == 7
    assert told.new["citations"] == 8
    assert set(Run.objects.values_list("name", "system__name")) >= {("r1", "r1"), ("r2", "r2"), ("r3", "r3")}


def test_a_run_of_several_reports_is_counted_once(imported: Callable[..., Imported]) -> None:
    reports = [RAG, changed(RAG, "metadata", "narrative_id", to=13)]

    first, again = imported(*reports, with_topics=True), imported(*reports)

    assert (first.new["systems"], first.new["runs"], first.new["reports"]) == (1, 1, 2)
    assert (first.known["systems"], first.known["runs"]) == (0, 0)
    assert (again.known["systems"], again.known["runs"], again.known["reports"]) == (1, 1, 2)


def test_the_same_again_changes_nothing(imported: Callable[..., Imported]) -> None:
    imported(*FILE, with_topics=True)

    assert not imported(*FILE).changed


def test_another_text_or_citation_is_refused_with_its_line(imported: Callable[..., Imported]) -> None:
    imported(*FILE, with_topics=True)

    with pytest.raises(BrokenFile, match="line 1: The report “r1 on 12” is already there with another text"):
        imported(changed(RAG, "answer", 1, "text", to="They hum."))
    with pytest.raises(BrokenFile, match="line 1: "):
        imported(changed(RAG, "answer", 1, "citations", to=[0, 2]))


def test_topics_that_are_nowhere_are_named_once(imported: Callable[..., Imported]) -> None:
    with pytest.raises(ReferencesMissing, match="1 topic is not"):
        imported(*FILE)

    assert not Report.objects.filter(topic__topic_id="12").exists()


def test_a_report_that_is_here_gets_its_sentences(imported: Callable[..., Imported], collection: Collection) -> None:
    imported(RAG, with_topics=True)
    ReportSentence.objects.all().delete()
    Report.objects.filter(run__name="r1").update(attributes={})

    imported(RAG)

    assert out(collection) == [RAG]


def test_what_is_cited_but_no_reference_is_a_flaw(imported: Callable[..., Imported]) -> None:
    found = changed(SHARED, "responses", 0, "citations", to={"d9": 120})

    told = imported(found, with_topics=True)

    assert told.flaws == {
        "cited documents that are no references": ["run “r1”, topic “t1”, sentence 1: d9"],
        "weights outside 0 to 100": ["run “r1”, topic “t1”, sentence 1: 120"],
    }


def test_a_collection_keeps_them_through_its_own_format(
    imported: Callable[..., Imported], collection: Collection, tmp_path: Path, rosa: User
) -> None:
    imported(*FILE, with_topics=True)
    path = tmp_path / "collection.jsonl"
    path.write_text("".join(exported_collection(collection)))
    other = Collection.objects.create(name="other", owner=rosa)

    import_collection(file=InputFile(path, name=path.name), collection=other)

    assert out(other) == FILE
    assert "".join(exported_collection(other)).splitlines()[1:] == path.read_text().splitlines()[1:]


def test_a_sentence_must_stand_in_its_report(collection: Collection, tmp_path: Path) -> None:
    path = tmp_path / "collection.jsonl"
    lines: list[dict[str, Any]] = [
        {"type": "topic", "topic_id": "t", "request": "Why?"},
        {"type": "system", "name": "s"},
        {"type": "run", "name": "r", "system": "s"},
        {"type": "report", "run": "r", "topic_id": "t", "text": "12345"},
        {"type": "sentence", "run": "r", "topic_id": "t", "position": 0, "start": 0, "end": 6},
        {"type": "citation", "run": "r", "topic_id": "t", "sentence": 1, "position": 0, "passage_id": "d"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    with pytest.raises(BrokenFile, match="line 5: The sentence is said to stand at 0 to 6 of a report of 5") as broken:
        import_collection(file=InputFile(path, name=path.name), collection=collection)

    assert "line 6: There is no sentence at position 1" in str(broken.value)


def test_a_report_of_one_text_is_split_on_request(collection: Collection) -> None:
    report = Report.objects.filter(run__collection=collection).first()
    assert report is not None

    call_command("split_reports", collection=collection.name, stdout=StringIO())

    sentences = list(ReportSentence.objects.filter(report=report))
    assert {sentence.splitter for sentence in sentences} == {SPLITTER}
    assert all(sentence.text in report.text and sentence.text.strip() == sentence.text for sentence in sentences)
    assert split_reports(collection) == 0
    written = {(one["metadata"]["run_id"], one["metadata"]["topic_id"]): one["responses"] for one in out(collection)}
    assert [one["text"] for one in written[report.run.name, report.topic.topic_id]] == [one.text for one in sentences]


def test_the_page_and_the_api_split_reports_too(
    client: Client, collection: Collection, rosa: User, mallory: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = Report.objects.filter(run__collection=collection).count()
    monkeypatch.setattr("collection.texts.sentence_views.MOST_AT_ONCE", 1)
    page, api = f"/collections/{collection.name}/report-sentences/", f"/api/v1/collections/{collection.name}/"
    client.force_login(mallory)
    strange = client.post(page).status_code, client.post(f"{api}report-sentences/").status_code
    client.force_login(rosa)

    shown = client.get(f"/collections/{collection.name}/").content.decode()
    posted = client.post(page)
    asked = client.post(f"{api}report-sentences/").json()

    assert strange == (404, 404)
    assert f"{n} <button" in shown
    assert posted.status_code == 302
    assert asked == {"split": 1, "left": n - 2}
    assert ReportSentence.objects.values("report").distinct().count() == 2


def test_they_are_recognised_and_downloaded(collection: Collection, rosa: User, mallory: User, tmp_path: Path) -> None:
    path = tmp_path / "anything.txt"
    path.write_text(json.dumps(RAG) + "\n")
    call_command("import", path, collection=collection.name, with_topics=True, quiet=True, stdout=StringIO())
    address = f"/collections/{collection.name}/reports.jsonl"
    mine, strange = Client(), Client()
    mine.force_login(rosa)
    strange.force_login(mallory)
    printed = StringIO()
    call_command("export_reports", collection=collection.name, stdout=printed)

    assert b"".join(mine.get(address)).decode() == printed.getvalue()
    assert json.loads(printed.getvalue()) == RAG
    assert strange.get(address).status_code == 404


def test_a_file_is_checked_by_a_tracks_rules(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text((json.dumps(VALID["rag26"]) + "\n") * 2)
    one = tmp_path / "one.jsonl"
    one.write_text(json.dumps(VALID["rag26"] | {"references": SHARDS[:3]}) + "\n")
    printed = StringIO()

    call_command("check_reports", one, track="rag26", stdout=printed)
    with pytest.raises(CommandError, match=r"1 rule of TREC RAG 2026 broken\."):
        call_command("check_reports", path, track="rag26", stdout=printed)

    assert "line 1, advice: The reference “shard_2_9” is not cited." in printed.getvalue()
    assert "1 report in the form of TREC RAG 2026." in printed.getvalue()
    assert "run.jsonl: The run “r” has 2 reports on the topic “1”." in printed.getvalue()
    assert not Topic.objects.filter(topic_id="1").exists()
    assert not Citation.objects.exists()


def test_reports_as_other_tracks_write_them_come_in_and_go_out_equal(
    imported: Callable[..., Imported], collection: Collection
) -> None:
    reports = [VALID["rag24"] | {"run_id": "flat"}, changed(TWICE, "metadata", "run_id", to="twice")]

    told = imported(*reports, with_topics=True)

    assert out(collection) == reports
    assert told.flaws == {"documents cited twice by a sentence, kept once": ["run “twice”, topic “12”, sentence 2"]}
    assert Citation.objects.filter(sentence__report__run__name="twice", sentence__position=1).count() == 2


@pytest.mark.django_db
def test_documents_in_a_report_become_passages_and_go_out_again(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = {
        "d1": {"id": "d1", "text": "Ice melts.", "title": "Ice", "url": "https://example.org/1"},
        "d2": {"id": "d2", "text": "Tea cools.", "lang": "en"},
    }
    stays = "Tea stays."
    Passage.objects.create(collection=collection, passage_id="d2", text=stays, text_sha256=text_hash(stays))
    report = {
        "metadata": {"team_id": "t", "run_id": "opal", "topic_id": "t0"},
        "responses": [{"text": "Ice melts.", "citations": ["d1"]}],
        "references": ["d1"],
        "documents": documents,
    }
    path = tmp_path / "reports.jsonl"
    path.write_text(json.dumps(report) + "\n")

    printed = run_command(capsys, "import", path, "--collection", collection.name)

    stored = Passage.objects.get(collection=collection, passage_id="d1")
    assert (stored.text, stored.title, stored.attributes) == ("Ice melts.", "Ice", {"url": "https://example.org/1"})
    assert Passage.objects.get(collection=collection, passage_id="d2").text == "Tea stays."
    assert "“d2”" in printed
    [line] = exported_cited_reports(collection)
    assert json.loads(line) == report
