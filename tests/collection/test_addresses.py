"""An address that nobody can read is refused, by whichever door it comes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django.fixtures import Settings

from annotate.crowd import prolific_signatures
from collection.addresses import NotAnAddress, parts_of, web_address
from collection.documents.found import FetchFailed
from collection.documents.http_source import HttpDocuments
from collection.formats.problems import BrokenFile
from collection.importing.files import FilesOptions, import_files
from collection.models import Collection, DocumentSource, Study, Topic, User
from tests.annotate.crowd_factories import an_entry
from tests.annotate.factories import an_open_study
from tests.collection.documents.document_server import Said, document_server
from tests.collection.importing.test_natural_questions import a_row, prose

pytestmark = pytest.mark.django_db
# `urlsplit` raises ValueError on them, or when their host or port is read.
UNREADABLE = [
    "http://[::1",
    "http://::1]/",
    "http://[v1.x]/",
    "http://[::1]x/",
    "http://[fe80::1%25]]/",
    "http://ex\u2100mple.org/",
    "http://\uff0fexample.org\uff1a80/",
    "http://example.org:port/",
    "http://example.org:99999/",
    "http://example.org:-1/",
    "//[",
]
# These are read, and lead nowhere that is asked.
ELSEWHERE = [
    "", "/", "//", "///x", "ftp://example.org/", "file:///etc/passwd", "javascript:alert(1)", "http://", "http:///x",
    "http://:80/", "http://example.org:0/", "http://a:b@/", "http://\x00/", "http://e\u0000.org/",
    "http://exa mple.org/", "http://[fe80::1%25eth0]/",
    "http://" + "a" * 70_000 + "/", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("address", UNREADABLE)
def test_what_cannot_be_read_is_refused_in_one_way(address: str) -> None:
    with pytest.raises(NotAnAddress):
        parts_of(address)
    with pytest.raises(NotAnAddress):
        web_address(address)


@pytest.mark.parametrize("address", [*UNREADABLE, *ELSEWHERE])
def test_no_source_has_such_an_address(address: str, client: Client, collection: Collection, rosa: User) -> None:
    client.force_login(rosa)
    sent = {"kind": "http", "address": address.encode("utf-8", "replace").decode() + "{id}", "depth": 10}

    form = client.post(reverse("collection:documents", args=[collection.name]), sent)
    api = client.put(f"/api/v1/collections/{collection.name}/document-source/", sent, "application/json")

    assert (form.status_code, api.status_code) == (422, 400)
    assert not DocumentSource.objects.exists()


@pytest.mark.parametrize("address", [*UNREADABLE, *ELSEWHERE])
def test_no_redirect_leads_to_one(address: str, settings: Settings) -> None:
    settings.DOCUMENT_HOSTS = ["127.0.0.1"]
    sent = address.replace("\x00", "").encode("utf-8", "replace").decode("latin-1")[:30_000]
    with document_server() as server:
        server.answers["/d"] = Said(b"", 302, {"Location": sent})

        with pytest.raises(FetchFailed):
            HttpDocuments(f"{server.url}/{{id}}").fetch("d")


@pytest.mark.parametrize("address", UNREADABLE)
def test_no_link_of_mechanical_turk_submits_to_one(address: str, client: Client, study: Study) -> None:
    entry = an_entry(an_open_study(study), "mturk")
    link = {"assignmentId": "3A1", "hitId": "3H1", "workerId": "A1W", "turkSubmitTo": address}

    assert client.get(f"/m/{entry.token}/", link).status_code == 400


@pytest.mark.parametrize("address", UNREADABLE)
def test_no_token_of_prolific_is_for_one(address: str) -> None:
    assert not prolific_signatures._is_for("assize.example.org", [address])


@pytest.mark.parametrize("address", UNREADABLE)
def test_no_line_of_natural_questions_has_one(address: str, rosa: User, tmp_path: Path) -> None:
    collection = Collection.objects.create(name="empty", owner=rosa)
    row = a_row("1", "why", [prose("hull", 6)], title="") | {"document_title": None, "document_url": address}
    file = tmp_path / "natural.jsonl"
    file.write_text(json.dumps(row) + "\n")

    with pytest.raises(BrokenFile) as broken:
        import_files(files=[(file.name, file)], collection=collection, options=FilesOptions(), at=now())
    with pytest.raises(CommandError):
        call_command("import", str(file), "--collection", "empty")

    assert {(problem.line, "document_url" in problem.reason) for problem in broken.value.problems} == {(1, True)}
    assert not Topic.objects.exists()
