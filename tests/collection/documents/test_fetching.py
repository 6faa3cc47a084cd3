"""Missing texts are found, fetched, kept once, and counted; what fails is listed with its reason."""

from __future__ import annotations

import sys
import threading
from datetime import timedelta
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils.timezone import now
from pytest_django.fixtures import Settings

from annotate.studies.lifecycle import open_study
from annotate.task_types.citation_support import left_out_of
from collection.documents import fetching
from collection.documents.fetching import (
    ACTIONS,
    NotNamed,
    NotNow,
    fetch_one,
    pause_fetching,
    resume_fetching,
    start_fetching,
    take_turn,
)
from collection.documents.found import FetchFailed, Found
from collection.documents.keeping import keep_document
from collection.documents.missing import missing_texts
from collection.documents.sources import NoSource, set_source
from collection.documents.status import status_of
from collection.models import Collection, DocumentFetch, DocumentSource, Passage, RankedPassage, Run
from collection.models.texts import TextChanged, text_hash
from collection.texts.cited_reports import cited_reports_of
from collection.web.fingerprints import fingerprint_of
from tests.annotate.cited_reports import with_cited_reports
from tests.annotate.studies.test_lifecycle import a_study_of
from tests.collection.importing.test_ir_dataset import STONES

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Path:
    settings.DOCUMENTS_FOLDER = str(tmp_path)
    return tmp_path


@pytest.fixture
def source(collection: Collection, folder: Path) -> DocumentSource:
    """The folder, for a collection that cites c-gone, whose qrels name j-1, and whose run ranks r-0 to r-3."""
    with_cited_reports(collection)
    Passage.objects.create(collection=collection, passage_id="j-1")
    run, topic = Run.objects.get(name="alpha-1"), collection.topics.all()[0]
    for rank in range(4):
        RankedPassage.objects.create(run=run, topic=topic, passage_id=f"r-{rank}", rank=rank, score=9 - rank)
    return set_source(collection=collection, kind="folder", address=".", depth=2)


def write(folder: Path, *docnos: str) -> None:
    for docno in docnos:
        (folder / f"{docno}.txt").write_text(f"The text of {docno}. 🌉")


def test_documents_without_text_are_those_that_are_cited_judged_or_ranked_high(source: DocumentSource) -> None:
    assert missing_texts(source.collection, depth=2) == {
        "c-gone": "cited",
        "j-1": "judged",
        "r-0": "ranked",
        "r-1": "ranked",
    }
    assert "r-0" not in missing_texts(source.collection, depth=0)


def test_missing_texts_are_fetched_and_failures_listed(source: DocumentSource, folder: Path) -> None:
    write(folder, "c-gone", "j-1", "r-0")

    done = start_fetching(collection=source.collection, at=now())

    assert done.state == "done"
    found = status_of(source.collection, done)
    assert (found.fetched, found.failed, found.left) == (3, 1, 0)
    assert found.missing == {"r-1": "ranked"}
    passage = Passage.objects.get(passage_id="c-gone")
    assert (passage.text, passage.text_sha256) == ("The text of c-gone. 🌉", text_hash("The text of c-gone. 🌉"))
    fetch = DocumentFetch.objects.get(passage_id="c-gone")
    assert (fetch.sha256, fetch.source, fetch.problem) == (passage.text_sha256, "folder on the server: .", "")
    assert fetch.fetched_at is not None
    assert DocumentFetch.objects.get(passage_id="r-1").problem == "There is no file “r-1.txt” that can be read."
    assert Passage.objects.filter(passage_id="j-1").count() == 1


def test_citations_are_linked_once_their_texts_are_here(source: DocumentSource, folder: Path) -> None:
    study = a_study_of(source.collection, "citation_support")
    assert left_out_of(study).startswith("2 citations of 5")
    before = fingerprint_of(study)
    write(folder, "c-gone")

    fetch_one(collection=source.collection, docno="c-gone")

    [report] = cited_reports_of(source.collection)
    assert all(cited.passage for sentence in report.sentences for cited in sentence.citations)
    assert left_out_of(study) == ""
    assert fingerprint_of(study) != before
    open_study(study=study, at=now())
    assert study.items.filter(task_type="citation_support").count() == 5


def test_a_text_that_fills_a_passage_changes_the_figures(source: DocumentSource, folder: Path) -> None:
    study = a_study_of(source.collection, "citation_support")
    before = fingerprint_of(study)
    write(folder, "j-1")

    fetch_one(collection=source.collection, docno="j-1")

    assert fingerprint_of(study) != before


def test_another_text_is_reported_and_not_kept(source: DocumentSource, folder: Path) -> None:
    write(folder, "c-gone")
    fetch_one(collection=source.collection, docno="c-gone")
    (folder / "c-gone.txt").write_text("Another text.")

    assert not fetch_one(collection=source.collection, docno="c-gone")

    passage = Passage.objects.get(passage_id="c-gone")
    assert passage.text == "The text of c-gone. 🌉"
    fetch = DocumentFetch.objects.get(passage_id="c-gone")
    assert text_hash("Another text.") in fetch.problem
    assert fetch.sha256 == passage.text_sha256
    passage.text = "Another text."
    with pytest.raises(TextChanged):
        passage.save()


def test_a_text_that_was_imported_stays(source: DocumentSource, folder: Path) -> None:
    write(folder, "c-1")

    assert not fetch_one(collection=source.collection, docno="c-1")

    assert Passage.objects.get(passage_id="c-1").text.startswith("The first bridge")  # type: ignore[union-attr]
    assert DocumentFetch.objects.get(passage_id="c-1").source == ""


def test_only_what_the_collection_names_is_fetched(source: DocumentSource, folder: Path) -> None:
    write(folder, "unnamed")

    with pytest.raises(NotNamed, match="Nothing in the collection names"):
        fetch_one(collection=source.collection, docno="unnamed")

    assert not Passage.objects.filter(passage_id="unnamed").exists()


def test_a_failure_is_kept_and_told(source: DocumentSource) -> None:
    with pytest.raises(FetchFailed, match="no file"):
        fetch_one(collection=source.collection, docno="c-gone")

    assert "no file" in DocumentFetch.objects.get(passage_id="c-gone").problem


def test_nothing_is_tried_twice_behind_a_pause(
    source: DocumentSource, folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(fetching, "_send", lambda pk, generation, **_: sent.append((pk, generation)))
    monkeypatch.setattr(fetching, "BATCH", 1)
    settings.WORK_AT_ONCE = False
    write(folder, "c-gone", "j-1", "r-0", "r-1")
    started = start_fetching(collection=source.collection, at=now())

    take_turn(pk=started.pk, generation=started.generation, seconds=-1)
    assert status_of(source.collection, started).fetched == 1
    with pytest.raises(NotNow, match="being fetched"):
        start_fetching(collection=source.collection, at=now())
    pause_fetching(collection=source.collection, at=now())
    take_turn(pk=started.pk, generation=started.generation)  # a message from before the pause
    assert status_of(source.collection, started).fetched == 1
    (folder / "c-gone.txt").unlink()
    resumed = resume_fetching(collection=source.collection, at=now())
    take_turn(pk=resumed.pk, generation=resumed.generation)

    resumed.refresh_from_db()
    assert resumed.state == "done"
    assert (status_of(source.collection, resumed).fetched, status_of(source.collection, resumed).failed) == (4, 0)
    assert sent[0] == (started.pk, started.generation)


def test_a_worker_that_is_gone_is_replaced(
    source: DocumentSource, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(fetching, "_send", lambda pk, generation, **_: sent.append((pk, generation)))
    settings.WORK_AT_ONCE = False
    long_ago = now() - timedelta(minutes=3)
    started = start_fetching(collection=source.collection, at=long_ago)

    fetching.ask_stalled_again(at=now())
    fetching.ask_stalled_again(at=now())

    assert sent == [(started.pk, started.generation + 1)]


def test_a_source_at_fault_pauses_and_can_be_tried_again(
    source: DocumentSource, folder: Path, settings: Settings
) -> None:
    settings.DOCUMENTS_FOLDER = ""
    paused = start_fetching(collection=source.collection, at=now())
    assert (paused.state, "switched off" in paused.problem) == ("paused", True)
    assert not DocumentFetch.objects.exists()
    settings.DOCUMENTS_FOLDER = str(folder)
    write(folder, "c-gone")

    resumed = resume_fetching(collection=source.collection, at=now())

    assert (resumed.state, resumed.problem) == ("done", "")
    assert Passage.objects.filter(passage_id="c-gone").exists()


@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_nothing_is_fetched_without_a_source(collection: Collection, action: str) -> None:
    with pytest.raises(NoSource):
        ACTIONS[action](collection=collection, at=now())


def test_documents_of_a_dataset_are_fetched(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    package = SimpleNamespace(load={"stones": STONES}.__getitem__)
    monkeypatch.setitem(sys.modules, "ir_datasets", package)
    for docno in ("d0", "d9"):
        Passage.objects.create(collection=collection, passage_id=docno)
    set_source(collection=collection, kind="ir_datasets", address="stones")

    start_fetching(collection=collection, at=now())

    passage = Passage.objects.get(passage_id="d0")
    assert (passage.title, passage.text) == ("Stone 0", "Passage 0.")
    assert DocumentFetch.objects.get(passage_id="d9").problem == "The dataset has no document of this id."


def test_without_the_package_fetching_pauses_and_says_so(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    Passage.objects.create(collection=collection, passage_id="d0")
    set_source(collection=collection, kind="ir_datasets", address="stones")

    paused = start_fetching(collection=collection, at=now())

    assert (paused.state, "not installed" in paused.problem) == ("paused", True)


def test_the_command_fetches_and_looks_again(source: DocumentSource, folder: Path) -> None:
    write(folder, "c-gone", "j-1")
    out = StringIO()

    call_command("fetch_texts", "--collection", source.collection.name, "--limit", "3", stdout=out)

    assert out.getvalue().splitlines() == [
        "r-0: There is no file “r-0.txt” that can be read.",
        "3 documents tried: 2 new, 1 failed.",
    ]
    (folder / "j-1.txt").write_text("Another text.")
    out = StringIO()
    call_command("fetch_texts", "--collection", source.collection.name, "--again", stdout=out)
    assert "j-1: The source now has another text" in out.getvalue()


def test_the_command_needs_a_source(collection: Collection) -> None:
    with pytest.raises(CommandError, match="names no source"):
        call_command("fetch_texts", "--collection", collection.name)


@pytest.mark.django_db(transaction=True)
def test_two_that_fetch_one_document_keep_one_passage(source: DocumentSource) -> None:
    found = Found("The text.", "", text_hash("The text."))
    gate = threading.Barrier(6)
    kept: list[bool] = []
    faults: list[BaseException] = []

    def fetch() -> None:
        try:
            gate.wait()
            args = {"collection": source.collection, "source": source, "docno": "c-gone", "found": found}
            kept.append(keep_document(**args, at=now()))  # type: ignore[arg-type]
        except BaseException as fault:
            faults.append(fault)
        finally:
            connection.close()

    threads = [threading.Thread(target=fetch) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert faults == []
    assert sorted(kept) == [False] * 5 + [True]
    assert Passage.objects.filter(passage_id="c-gone").count() == 1
    assert DocumentFetch.objects.get(passage_id="c-gone").problem == ""
