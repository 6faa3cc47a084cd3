"""Documents of an HTTP server: read within limits, and nowhere but where the address leads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import pytest
from django.core.exceptions import ValidationError
from pytest_django.fixtures import Settings

from collection.documents.found import FetchFailed, SourceFailed
from collection.documents.http_source import MOST_BYTES, HttpDocuments, address_of, check_template
from tests.collection.documents.document_server import DocumentServer, Said, document_server

JSON = {"Content-Type": "application/json"}
KEY = "k-9f8e7d6c5b4a"


@pytest.fixture
def server(settings: Settings) -> Iterator[DocumentServer]:
    with document_server() as started:
        settings.DOCUMENT_HOSTS = [f"127.0.0.1:{started.port}"]
        yield started


def test_plain_text_is_the_document(server: DocumentServer) -> None:
    body = "Größe: 12 m.\r\n🌉 Stein.".encode()
    server.answers["/docs/d1"] = Said(body)

    found = HttpDocuments(f"{server.url}/docs/{{id}}").fetch("d1")

    assert (found.text, found.title) == ("Größe: 12 m.\r\n🌉 Stein.", "")
    assert found.sha256 == hashlib.sha256(body).hexdigest()


def test_fields_of_json_are_title_and_text(server: DocumentServer) -> None:
    server.answers["/d?id=d1"] = Said(json.dumps({"_source": {"text": "Of stone.", "t": "Bridge"}}).encode(), 200, JSON)

    found = HttpDocuments(f"{server.url}/d?id={{id}}", text_field="_source.text", title_field="_source.t").fetch("d1")

    assert (found.text, found.title) == ("Of stone.", "Bridge")


def test_an_id_is_data_in_the_address(server: DocumentServer) -> None:
    documents = HttpDocuments(f"{server.url}/docs/{{id}}")

    for docno in ("a/b", "a?b=c#d", "../admin", "x y", "@evil.example", "%2e%2e", "ü"):
        with pytest.raises(FetchFailed, match="no such document"):
            documents.fetch(docno)

    assert server.paths == [
        "/docs/a%2Fb",
        "/docs/a%3Fb%3Dc%23d",
        "/docs/..%2Fadmin",
        "/docs/x%20y",
        "/docs/%40evil.example",
        "/docs/%252e%252e",
        "/docs/%C3%BC",
    ]


@pytest.mark.parametrize("docno", [".", ".."])
def test_an_id_of_dots_leads_to_no_other_folder(docno: str) -> None:
    with pytest.raises(FetchFailed, match="cannot stand in an address"):
        address_of("https://docs.example.org/docs/{id}", docno)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Said(b"<p>no</p>", 200, {"Content-Type": "text/html; charset=utf-8"}), "sent text/html"),
        (Said(b"{}", 200, JSON), "needs the name of its field"),
        (Said(b"", 404), "no such document \\(404\\)"),
        (Said(b"", 403), "answered 403"),
        (Said(b" \n"), "is empty"),
        (Said(b"\xff\xfe"), "not UTF-8"),
        (Said(b"a\x00b"), "characters that are not text"),
        (Said(b"x" * (MOST_BYTES + 1)), "more than 5 MB"),
        (Said(b"x", 200, {"Content-Encoding": "gzip"}), "compressed"),
        (Said(KEY.encode()), "contains the key"),
    ],
)
def test_what_is_no_text_is_refused(server: DocumentServer, said: Said, reason: str) -> None:
    server.answers["/d1"] = said

    with pytest.raises(FetchFailed, match=reason) as failed:
        HttpDocuments(f"{server.url}/{{id}}", key=KEY).fetch("d1")

    assert not isinstance(failed.value, SourceFailed)
    assert KEY not in str(failed.value)


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"text": 5}', b'{"text": ""}', b'{"text": "\\u0000"}', b"[" * 5000])
def test_json_without_the_text_is_refused(server: DocumentServer, body: bytes) -> None:
    server.answers["/d1"] = Said(body, 200, JSON)

    with pytest.raises(FetchFailed):
        HttpDocuments(f"{server.url}/{{id}}", text_field="text").fetch("d1")


@pytest.mark.parametrize("status", [401, 429, 500, 503])
def test_a_fault_of_the_server_is_told_from_a_missing_document(server: DocumentServer, status: int) -> None:
    server.answers["/d1"] = Said(b"", status)

    with pytest.raises(SourceFailed, match=f"answered {status}"):
        HttpDocuments(f"{server.url}/{{id}}").fetch("d1")


def test_a_redirect_to_a_private_address_is_not_followed(server: DocumentServer) -> None:
    with document_server() as inside:
        inside.answers["/secret"] = Said(b"inside")
        server.answers["/d1"] = Said(b"", 302, {"Location": f"{inside.url}/secret"})

        with pytest.raises(FetchFailed, match="private network"):
            HttpDocuments(f"{server.url}/{{id}}").fetch("d1")

        assert inside.asked == []


def test_redirects_are_followed_without_the_key_elsewhere(server: DocumentServer, settings: Settings) -> None:
    with document_server() as other:
        settings.DOCUMENT_HOSTS = [*settings.DOCUMENT_HOSTS, f"127.0.0.1:{other.port}"]
        server.answers["/d1"] = Said(b"", 301, {"Location": "/moved"})
        server.answers["/moved"] = Said(b"", 307, {"Location": f"{other.url}/d1"})
        other.answers["/d1"] = Said(b"There.")

        found = HttpDocuments(f"{server.url}/{{id}}", key=KEY).fetch("d1")

        assert found.text == "There."
        assert [headers.get("Authorization") for _, headers in server.asked] == [f"Bearer {KEY}"] * 2
        assert [headers.get("Authorization") for _, headers in other.asked] == [None]


def test_redirects_in_a_circle_end(server: DocumentServer) -> None:
    server.answers["/d1"] = Said(b"", 302, {"Location": "/d1"})

    with pytest.raises(FetchFailed, match="more than 3 times"):
        HttpDocuments(f"{server.url}/{{id}}").fetch("d1")

    assert len(server.asked) == 4


def test_a_private_server_that_nobody_names_is_not_asked(server: DocumentServer, settings: Settings) -> None:
    settings.DOCUMENT_HOSTS = []

    with pytest.raises(SourceFailed, match="Ask who runs this site to name it in DOCUMENT_HOSTS"):
        HttpDocuments(f"{server.url}/{{id}}").fetch("d1")

    assert server.asked == []


def test_a_server_that_is_gone_is_at_fault(server: DocumentServer, settings: Settings) -> None:
    settings.DOCUMENT_HOSTS = ["127.0.0.1"]

    with pytest.raises(SourceFailed, match=r"could not be read \(ConnectError"):
        HttpDocuments("http://127.0.0.1:1/{id}").fetch("d1")


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("https://docs.example.org/", "Write {id} once"),
        ("https://docs.example.org/{id}/{id}", "Write {id} once"),
        ("https://{id}.example.org/", "Write {id} once"),
        ("https://docs.example.org/#{id}", "Write {id} once"),
        ("ftp://docs.example.org/{id}", "begins with https"),
        ("/docs/{id}", "begins with https"),
        ("https://me:word@docs.example.org/{id}", "its own field"),
        ("https://docs.example.org:99999/{id}", "not an address"),
    ],
)
def test_templates_that_lead_elsewhere_are_refused(template: str, reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        check_template(template)
