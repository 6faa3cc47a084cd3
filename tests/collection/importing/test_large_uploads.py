"""Large files are tried out and imported by a worker, while the page tells how far it is."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.timezone import now
from pytest_django.asserts import assertContains, assertRedirects
from pytest_django.fixtures import Settings

from collection import signs_of_life
from collection.importing import background
from collection.importing.background import ask_a_worker, beat_of, requeue_stalled_uploads, work_on_upload
from collection.importing.formats import import_upload
from collection.models import Collection, Passage, Upload, User
from collection.models.uploads import LARGE
from tests.collection.files import everything

State = Upload.State
PREVIEW = "/collections/bridges/import/{}/"


@pytest.fixture(autouse=True)
def _media(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def as_rosa(client: Client, rosa: User) -> Client:
    client.force_login(rosa)
    return client


def passages(last: str = "") -> bytes:
    """More passages than a request takes upon itself, and one line more."""
    line = json.dumps({"id": "p{n}", "contents": "x" * 1000})
    return ("\n".join(line.replace("{n}", str(n)) for n in range(LARGE // 1000 + 10)) + f"\n{last}").encode()


def uploaded(client: Client, content: bytes) -> Upload:
    data = {"file_format": "passages", "file": SimpleUploadedFile("many.jsonl", content)}
    response = client.post("/collections/bridges/import/", data)
    upload = Upload.objects.latest("pk")
    assert response["Location"] == PREVIEW.format(upload.pk)
    return upload


def work(upload: Upload) -> Upload:
    """Do what the worker does when the upload's last message reaches it."""
    upload.refresh_from_db()
    work_on_upload(pk=upload.pk, generation=upload.generation, at=now())
    upload.refresh_from_db()
    return upload


@pytest.fixture
def upload(as_rosa: Client, collection: Collection) -> Upload:
    """Rosa sent a large file of passages."""
    return uploaded(as_rosa, passages())


# --- The page -----------------------------------------------------------------------------------


def test_a_large_file_waits_for_a_worker(as_rosa: Client, upload: Upload) -> None:
    response = as_rosa.get(PREVIEW.format(upload.pk))

    assertContains(response, "waiting for a worker")
    assertContains(response, "hx-get")
    assert upload.state == State.TRYING


def test_the_worker_tells_what_the_file_would_bring_and_changes_nothing(as_rosa: Client, upload: Upload) -> None:
    before = everything()

    work(upload)

    assertContains(as_rosa.get(PREVIEW.format(upload.pk)), "Contents of the file")
    assertContains(as_rosa.get(PREVIEW.format(upload.pk)), "1,058")
    assert everything() == before


def test_the_worker_imports_what_was_confirmed_and_the_page_goes_to_the_collection(
    as_rosa: Client, upload: Upload, django_capture_on_commit_callbacks: Any
) -> None:
    work(upload)
    confirmed = as_rosa.post(PREVIEW.format(upload.pk))
    with django_capture_on_commit_callbacks(execute=True):
        work(upload)

    response = as_rosa.get(PREVIEW.format(upload.pk), follow=True)

    assertRedirects(confirmed, PREVIEW.format(upload.pk), fetch_redirect_response=False)
    assertContains(response, "“many.jsonl” is imported: 1,058 passages.")
    assert Passage.objects.filter(passage_id="p1057").exists()
    assert not upload.path.exists()


def test_a_broken_file_shows_its_lines_and_cannot_be_confirmed(as_rosa: Client, collection: Collection) -> None:
    upload = work(uploaded(as_rosa, passages("nonsense")))

    shown = as_rosa.get(PREVIEW.format(upload.pk))
    confirmed = as_rosa.post(PREVIEW.format(upload.pk))

    assertContains(shown, "This is not JSON")
    assert confirmed.status_code == 422
    assert not Passage.objects.filter(passage_id="p0").exists()


def test_htmx_gets_the_part_that_changes_and_then_the_whole_page(as_rosa: Client, upload: Upload) -> None:
    address, htmx = PREVIEW.format(upload.pk), {"HX-Request": "true"}

    under_way = as_rosa.get(address, headers=htmx)
    work(upload)
    tried = as_rosa.get(address, headers=htmx)
    as_rosa.post(address)
    work(upload)
    imported = as_rosa.get(address, headers=htmx)

    assert "<html" not in under_way.content.decode()
    assert tried["HX-Refresh"] == "true"
    assert imported["HX-Redirect"] == "/collections/bridges/"


def test_the_page_tells_how_much_is_read(as_rosa: Client, upload: Upload) -> None:
    with beat_of(upload) as beat:
        beat.path.write_text(str(upload.size // 4))

        assertContains(as_rosa.get(PREVIEW.format(upload.pk)), "24 % read")


# --- What can go wrong --------------------------------------------------------------------------


def test_a_message_that_comes_twice_imports_once(as_rosa: Client, upload: Upload) -> None:
    work(upload)
    as_rosa.post(PREVIEW.format(upload.pk))
    work(upload)
    before = everything()

    work_on_upload(pk=upload.pk, generation=upload.generation, at=now())

    assert everything() == before
    assert Upload.objects.get().state == State.IMPORTED


def test_a_worker_that_was_given_up_takes_back_what_it_imported(
    as_rosa: Client, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(upload)
    as_rosa.post(PREVIEW.format(upload.pk))
    upload.refresh_from_db()

    def slowly(**arguments: Any) -> Any:
        """Another worker is asked before this one comes to its end."""
        imported = import_upload(**arguments)
        ask_a_worker(Upload.objects.get(), State.IMPORTING, at=now())
        return imported

    monkeypatch.setattr(background, "import_upload", slowly)
    work_on_upload(pk=upload.pk, generation=upload.generation, at=now())
    given_up = Passage.objects.filter(passage_id="p0").count()
    monkeypatch.undo()
    work(upload)

    assert given_up == 0
    assert Upload.objects.get().state == State.IMPORTED
    assert Passage.objects.filter(passage_id="p0").count() == 1


def test_a_removed_file_is_not_imported_by_the_worker_that_is_at_it(
    as_rosa: Client, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(upload)
    as_rosa.post(PREVIEW.format(upload.pk))

    def slowly(**arguments: Any) -> Any:
        imported = import_upload(**arguments)
        Upload.objects.all().delete()
        return imported

    monkeypatch.setattr(background, "import_upload", slowly)
    work_on_upload(pk=upload.pk, generation=2, at=now())

    assert not Passage.objects.filter(passage_id="p0").exists()


def test_a_fault_of_the_worker_is_told_and_nothing_stays(
    as_rosa: Client, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(**_: Any) -> Any:
        raise OSError("the disk is full")

    monkeypatch.setattr(background, "try_upload", failing)
    work(upload)

    assertContains(as_rosa.get(PREVIEW.format(upload.pk)), "because of an error that is not in the file (OSError)")


def test_a_worker_that_died_is_replaced_soon(upload: Upload) -> None:
    beat = beat_of(upload)
    beat.path.write_text("1")

    soon = requeue_stalled_uploads(at=now() + timedelta(seconds=5))
    later = requeue_stalled_uploads(at=now() + timedelta(seconds=15))

    assert (soon, later) == ([], [upload])
    assert Upload.objects.get().generation == upload.generation + 1


def test_a_message_that_no_worker_got_is_sent_again_after_a_minute(upload: Upload) -> None:
    soon = requeue_stalled_uploads(at=now() + timedelta(seconds=30))
    later = requeue_stalled_uploads(at=now() + timedelta(seconds=70))

    assert (soon, later) == ([], [upload])


def test_what_is_done_is_not_asked_again(upload: Upload) -> None:
    work(upload)

    assert requeue_stalled_uploads(at=now() + timedelta(days=1)) == []


def test_a_worker_says_that_it_is_alive_while_it_works(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signs_of_life, "BEAT_SECONDS", 0.01)
    with beat_of(upload) as beat:
        beat.advance(7)
        seen = set()
        while 7 not in seen:
            seen.add(beat.bytes_read())

    assert beat.bytes_read() is None
