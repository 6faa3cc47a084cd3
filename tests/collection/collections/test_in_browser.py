"""Rosa imports a file and looks at it, in Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils.timezone import now
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings

from collection.importing.background import beat_of, work_on_upload
from collection.models import Collection, Topic, Upload, User
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.collection.files import jsonl
from tests.collection.importing.test_crux import a_folder_of_crux
from tests.collection.importing.test_zip import zipped
from tests.looks import check_pages

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _media(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return jsonl(
        tmp_path / "piers.jsonl",
        {"type": "topic", "topic_id": "t9", "title": "Piers", "request": "Report on piers."},
        {"type": "passage", "passage_id": "a-very-long-id-" + "x" * 80, "text": "A pier.\r\nAnother."},
    )


def test_a_file_is_looked_at_and_imported_and_the_pages_fit_a_phone(
    page: Page, phone: Page, sign_in: SignIn, rosa: User, collection: Collection, file: Path
) -> None:
    sign_in(phone, rosa)
    _looks_at_the_pages_on_a_phone(phone, collection, file)

    sign_in(page, rosa)
    page.goto("/collections/bridges/")
    page.get_by_role("link", name="Import").click()

    expect(page.get_by_label("Rater", exact=True)).to_be_hidden()
    page.get_by_role("radio", name="TREC qrels").check()
    expect(page.get_by_label("Rater", exact=True)).to_be_visible()
    page.get_by_role("radio", name="Assize JSONL").check()
    page.get_by_label("Files", exact=True).set_input_files(file)
    check_accessibility(page)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("row", name="topics 1 0")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Import").click()

    page.get_by_text("“piers.jsonl” is imported").wait_for()
    assert Topic.objects.filter(topic_id="t9").exists()
    page.get_by_role("link", name="Piers").click()
    expect(page.get_by_text("Report on piers.")).to_be_visible()


def _looks_at_the_pages_on_a_phone(phone: Page, collection: Collection, file: Path) -> None:
    topic = collection.topics.get(topic_id="t0")
    topic.reports.get().run.ranking.create(topic=topic, passage_id="t0-p1", rank=1, score=2.5)

    parts = ("collections/", "new-collection/", *(f"collections/bridges/{one}" for one in ("", f"topics/{topic.pk}/")))
    check_pages(phone, [f"/{one}" for one in (*parts, "collections/bridges/import/")])

    phone.get_by_role("radio", name="TREC run").check()
    phone.get_by_label("Files", exact=True).set_input_files(file)
    phone.get_by_role("button", name="Preview").click()
    phone.get_by_text("cannot be imported").wait_for()
    check_accessibility(phone)
    check_no_sideways_scroll(phone)


def work() -> None:
    """Do what the worker does when the newest message reaches it."""
    upload = Upload.objects.latest("pk")
    work_on_upload(pk=upload.pk, generation=upload.generation, at=now())


def test_a_zip_is_looked_at_and_imported_by_a_worker_on_a_phone(
    phone: Page, sign_in: SignIn, rosa: User, collection: Collection, tmp_path: Path
) -> None:
    file = tmp_path / "crux.zip"
    file.write_bytes(zipped(a_folder_of_crux(tmp_path / "crux"), "crux/"))
    sign_in(phone, rosa)
    phone.goto("/collections/bridges/import/")

    phone.get_by_role("radio", name="CRUX’s folder").check()
    expect(phone.get_by_label("Study")).to_be_hidden()
    phone.get_by_label("Files", exact=True).set_input_files(file)
    phone.get_by_role("button", name="Preview").click()
    expect(phone.get_by_text("waiting for a worker")).to_be_visible()
    check_accessibility(phone)
    check_no_sideways_scroll(phone)
    with beat_of(Upload.objects.get()) as beat:
        beat.path.write_text("1000")
        expect(phone.get_by_text("% read")).to_be_visible()
    work()
    expect(phone.get_by_role("heading", name="Data problems")).to_be_visible()
    expect(phone.get_by_text("crux/annotator1/qlabels.jsonl")).to_be_visible()
    check_accessibility(phone)
    check_no_sideways_scroll(phone)
    phone.get_by_role("button", name="Import").click()
    expect(phone.get_by_text("being imported")).to_be_visible()
    work()

    expect(phone.get_by_text("“crux.zip” is imported")).to_be_visible()
    expect(phone.get_by_role("link", name="bridges-crux", exact=True)).to_be_visible()
