"""What is downloaded is whole: a fault in the middle is an error and no file, and all of it is of one state."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils.timezone import now
from pytest_django import DjangoAssertNumQueries

from collection import finished_files
from collection.exporting.judgments import exported_judgments, exported_parquet
from collection.finished_files import NoRoom, finished, write_file
from collection.judgments.services import Span, record_judgment
from collection.models import Highlight, Judgment, Rater, Report, Study, Topic, User
from tests.factories import an_item

JUDGMENTS = (
    "/collections/{collection}/studies/{study}/judgments.jsonl",
    "/collections/{collection}/studies/{study}/judgments.parquet",
    "/api/v1/studies/{study}/judgments/?format=ndjson",
    "/api/v1/studies/{study}/judgments/?format=parquet",
)
OTHERS = ("/collections/{collection}/export/", "/collections/{collection}/studies/{study}/judgments.csv")


@pytest.fixture
def marked(study: Study, ada_as_rater: Rater) -> Study:
    """A study with one judgment, whose highlight stands in its text."""
    report = Report.objects.filter(run__collection=study.collection).select_related("topic")[0]
    element = report.topic.rubric_elements.all()[0]
    item = an_item(study, "answerability", topic=report.topic, element=element, text=report)
    criterion = study.criteria.get(task_type="answerability")
    spans = [Span(0, 4, report.text[:4])]
    record_judgment(item=item, criterion=criterion, rater=ada_as_rater, grade=1, at=now(), spans=spans)
    return study


def addresses(study: Study, among: tuple[str, ...]) -> list[str]:
    return [one.format(collection=study.collection.name, study=study.name) for one in among]


def test_files_are_sent_from_one_place() -> None:
    sends = re.compile(r"StreamingHttpResponse|FileResponse\(")
    apps = ("annotate", "collection", "config", "evaluation", "judging")
    files = [path for app in apps for path in (settings.BASE_DIR / app).rglob("*.py")]
    found = {path.name for path in files if sends.search(path.read_text())}

    assert found == {"finished_files.py"}


@pytest.mark.django_db
def test_nothing_is_asked_before_the_file_is_begun(
    marked: Study, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        exported_judgments(marked, table="jsonl")
        exported_parquet(marked)


@pytest.mark.django_db
def test_a_download_says_how_long_it_is(marked: Study, client: Client, rosa: User) -> None:
    client.force_login(rosa)
    for address in addresses(marked, JUDGMENTS + OTHERS):
        response = client.get(address)
        assert response.status_code == 200, address
        assert int(response["Content-Length"]) == len(b"".join(response)) > 0


@pytest.mark.django_db
def test_a_row_that_cannot_be_written_is_named_and_nothing_is_sent(marked: Study, client: Client, rosa: User) -> None:
    Highlight.objects.update(quote="nowhere")
    item = Judgment.objects.get().item.item_id
    client.force_login(rosa)

    for address in addresses(marked, JUDGMENTS):
        response = client.get(address)
        assert response.status_code == 500, address
        assert item in response.content.decode()
        assert "Content-Disposition" not in response
        assert not response.streaming
    out = StringIO()
    with pytest.raises(CommandError, match="nowhere"):
        call_command("export_judgments", study=marked.name, form="jsonl", stdout=out)
    assert out.getvalue() == ""


@pytest.mark.django_db
def test_what_has_no_room_is_refused(
    marked: Study, client: Client, rosa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finished_files, "LOOK_EVERY", 0)
    monkeypatch.setattr(finished_files, "MOST_BYTES", 10)
    client.force_login(rosa)

    statuses = {client.get(address).status_code for address in addresses(marked, JUDGMENTS + OTHERS)}

    assert statuses == {507}
    with pytest.raises(NoRoom):
        finished(["more than ten"])


@pytest.mark.django_db(transaction=True)
def test_a_file_is_of_one_state_and_nobody_waits_for_it(study: Study) -> None:
    def counts() -> Iterator[str]:
        yield f"{Topic.objects.count()}\n"
        elsewhere = threading.Thread(target=add_a_topic)
        elsewhere.start()
        elsewhere.join()
        yield f"{Topic.objects.count()}\n"

    def add_a_topic() -> None:
        Topic.objects.create(collection=study.collection, topic_id="late", request="Is it there?")
        connection.close()

    before = Topic.objects.count()
    with finished(counts()) as file:
        assert file.read().decode().split() == [str(before)] * 2
    assert Topic.objects.count() == before + 1
    Topic.objects.create(collection=study.collection, topic_id="later", request="Is it stored?")


def test_a_file_on_the_disk_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.qrels"
    write_file(path, "before")

    with pytest.raises(UnicodeEncodeError):
        write_file(path, "half a pair: \ud800")
    write_file(tmp_path / "b.qrels", b"bytes")

    assert path.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 2
    assert (tmp_path / "b.qrels").read_bytes() == b"bytes"
    with pytest.raises(CommandError):
        write_file(tmp_path / "no" / "folder.qrels", "x")
