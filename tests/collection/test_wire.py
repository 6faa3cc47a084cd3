"""An exchange with a server ends in time, in whichever phase of HTTP the server drips and whichever client asks."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import certifi
import httpx
import pytest
from django.conf import settings as site_settings
from pytest_django.fixtures import Settings

from annotate.crowd import prolific_signatures
from annotate.participants.participants import NotLetIn
from annotate.prolific import remote
from annotate.prolific.remote import NoAnswer, ProlificApi
from collection import http
from collection.documents import http_source
from collection.documents.found import SourceFailed
from collection.documents.http_source import HttpDocuments
from collection.http import ReplyTooBig, ask, client_beyond, client_for, new_client
from collection.retrieval import embeddings
from collection.retrieval.embeddings import EmbeddingServer, ServerFailed
from judging.engines import EngineUnavailable, GradeRequest, token_counts
from judging.engines.embedded import EmbeddedServer
from judging.engines.embedded_text import EmbeddedWriter
from judging.engines.http import Access, post
from judging.engines.likelihood import Token, likelihood
from judging.engines.openai import OpenAIEngine
from judging.engines.server_probe import identify
from judging.engines.token_counts import count_tokens
from tests.collection import dripping_server
from tests.collection.documents.document_server import Said, document_server
from tests.collection.dripping_server import PHASES, dripping

DEADLINE = 0.25
# What a busy machine may add. Without a deadline none of them ends.
SLACK = 5.0
# Three million of these are more than the buffers of two sockets take.
WORDS = "word "
ASKED = GradeRequest(item_id=1, choices=("0", "1"), query="Why?", text="Text.", prompt="Why?")


def of_documents(url: str, patch: pytest.MonkeyPatch, words: str) -> None:
    patch.setattr(http_source, "TIMEOUT", DEADLINE)
    with pytest.raises(SourceFailed):
        HttpDocuments(f"{url}/{{id}}").fetch("d")


def of_embeddings(url: str, patch: pytest.MonkeyPatch, words: str) -> None:
    patch.setattr(embeddings, "TIMEOUT", DEADLINE)
    patch.setattr(embeddings, "ATTEMPTS", 1)
    with pytest.raises(ServerFailed):
        EmbeddingServer(url, model="m").vectors_of([words])


def of_a_judge(url: str, patch: pytest.MonkeyPatch, words: str) -> None:
    with client_for(url, timeout=60) as client, pytest.raises(httpx.RequestError):
        post(client, "/v1/chat/completions", {"prompt": words}, timeout=DEADLINE)


def of_a_probe(url: str, patch: pytest.MonkeyPatch, words: str) -> None:
    with client_for(url, timeout=DEADLINE) as client, pytest.raises(EngineUnavailable):
        identify(client, timeout=DEADLINE)


def of_an_engine(url: str, patch: pytest.MonkeyPatch, words: str) -> None:
    engine = OpenAIEngine(servers=[Access(url)], model="m", decoding={}, timeout=DEADLINE, attempts=1, patience=0)
    with pytest.raises(EngineUnavailable):
        list(engine.grade([ASKED], stopping=lambda: False))


def of_token_counts(url: str, patch: pytest.MonkeyPatch, words: str) -> None:
    patch.setattr(token_counts, "PATIENCE", DEADLINE)
    assert count_tokens("", "word", servers=[Access(url)]).counted_by == ""


def of_prolific(url: str, patch: pytest.MonkeyPatch, words: str) -> None:
    patch.setattr(remote, "TIMEOUT_SECONDS", DEADLINE)
    patch.setattr(site_settings, "PROLIFIC_API_URL", url)
    with pytest.raises(NoAnswer):
        ProlificApi("token").request_return("5f0c1", words)


def of_prolific_s_keys(url: str, patch: pytest.MonkeyPatch, words: str) -> None:
    patch.setattr(prolific_signatures, "TIMEOUT_SECONDS", DEADLINE)
    patch.setattr(site_settings, "PROLIFIC_JWKS_URL", url)
    with pytest.raises(NotLetIn):
        prolific_signatures._Keys().get("a")


def of_the_embedded_judge(url: str, patch: pytest.MonkeyPatch, words: str) -> None:
    with new_client(base_url=url, timeout=DEADLINE, keep=0) as client, pytest.raises(httpx.RequestError):
        likelihood(client, [Token(1, whole=True)] * 9, [Token(2, whole=True)], slot=0)


def of_the_embedded_writer(url: str, patch: pytest.MonkeyPatch, words: str) -> None:
    server = EmbeddedServer()
    with new_client(base_url=url, timeout=DEADLINE, keep=0) as client:
        patch.setattr(server, "client", lambda: client)
        [(_, reply)] = EmbeddedWriter(server=server).grade([replace(ASKED, prompt=words)], stopping=lambda: False)
    assert reply.ungraded == "engine_error"


CLIENTS: dict[str, Callable[[str, pytest.MonkeyPatch, str], None]] = {
    "documents": of_documents,
    "embeddings": of_embeddings,
    "judge": of_a_judge,
    "probe": of_a_probe,
    "engine": of_an_engine,
    "token counts": of_token_counts,
    "prolific": of_prolific,
    "prolific's keys": of_prolific_s_keys,
    "embedded judge": of_the_embedded_judge,
    "embedded writer": of_the_embedded_writer,
}
# Those that send more than a line; and those that follow a redirect.
LONG = {"embeddings", "judge", "prolific", "embedded writer"}
FOLLOWING = {"documents"}
CASES = [
    (client, phase)
    for client in CLIENTS
    for phase in PHASES
    if client in {"request body": LONG, "redirects": FOLLOWING}.get(phase, CLIENTS)
]


@pytest.mark.parametrize(("client", "phase"), CASES)
def test_an_exchange_ends_in_time_wherever_it_stands(
    client: str, phase: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DOCUMENT_HOSTS = ["127.0.0.1"]
    with dripping(phase) as server:
        began = time.monotonic()

        CLIENTS[client](server.url, monkeypatch, WORDS * (3_000_000 if phase == "request body" else 1))

        assert time.monotonic() - began < DEADLINE + SLACK
        assert server.asked


@pytest.mark.parametrize("client", CLIENTS)
def test_a_name_that_is_never_found_ends_in_time(client: str, monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [over.wait(30)][:0])
    began = time.monotonic()

    CLIENTS[client]("http://slow.example", monkeypatch, WORDS)

    assert time.monotonic() - began < DEADLINE + SLACK
    over.set()


def test_many_addresses_that_take_no_connection_end_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def connect(address: tuple[str, int], timeout: float, **_: Any) -> None:
        tried.append(address[0])
        time.sleep(min(timeout, 0.1))
        raise TimeoutError

    rows = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"192.0.2.{n}", 80)) for n in range(200)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)
    monkeypatch.setattr(socket, "create_connection", connect)
    began = time.monotonic()

    with new_client(timeout=DEADLINE) as client, pytest.raises(httpx.ConnectTimeout):
        client.get("http://many.example/")

    assert time.monotonic() - began < DEADLINE + SLACK
    assert tried[:2] == ["192.0.2.0", "192.0.2.1"]
    assert len(tried) < 10


@pytest.mark.parametrize("phase", ["informational", "chunk extension", "chunks", "trailers", "body until the end"])
def test_what_comes_beside_the_body_counts_too(phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, again = PHASES[phase]
    monkeypatch.setitem(PHASES, phase, (first, again * 50_000))
    monkeypatch.setattr(dripping_server, "PAUSE", 0.001)
    monkeypatch.setattr(http, "HEADERS", 1000)
    too_big = pytest.raises((ReplyTooBig, httpx.RemoteProtocolError))
    with dripping(phase) as server, new_client(timeout=30) as client, too_big:
        ask(client, "GET", server.url, timeout=30, most=100_000)


def test_another_exchange_on_the_same_connection_has_its_own_time() -> None:
    with document_server() as server, new_client(timeout=0.5) as client:
        for number in range(3):
            server.answers[f"/{number}"] = Said(b"here")
            assert ask(client, "GET", f"{server.url}/{number}", timeout=0.5, most=100).content == b"here"
            time.sleep(0.2)


@pytest.mark.parametrize("written", ["http://127.0.0.1:{}", "127.0.0.1:{}"])
def test_a_server_beyond_is_asked_through_the_proxy_for_all(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with document_server() as proxy:
        monkeypatch.setenv("ALL_PROXY", written.format(proxy.port))
        proxy.answers["http://beyond.invalid/a"] = Said(b"through it")

        with client_beyond("http://beyond.invalid", timeout=SLACK) as client:
            answer = ask(client, "GET", "http://beyond.invalid/a", timeout=SLACK, most=1_000)

    assert answer.text == "through it"


def test_the_environment_says_which_certificates_are_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end = "-----END CERTIFICATE-----"
    trusted = tmp_path / "trusted.pem"
    trusted.write_text(Path(certifi.where()).read_text().partition(end)[0] + end + "\n")
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))

    with new_client(timeout=SLACK) as client:
        context = client._transport._pool._ssl_context  # type: ignore[attr-defined]

    assert context.cert_store_stats()["x509"] == 1
