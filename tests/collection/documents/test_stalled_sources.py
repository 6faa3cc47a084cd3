"""A source that stalls holds one worker at most, and lets it go in time; jobs on other sources go on."""

from __future__ import annotations

import queue
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from celery.exceptions import Retry
from django.conf import settings as project
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django.fixtures import Settings

from collection import source_turns
from collection.celery_tasks import fetch_text
from collection.documents import fetching, http_source
from collection.documents.fetching import pause_fetching, start_fetching, take_turn
from collection.documents.sources import set_source
from collection.models import Collection, DocumentSource, Passage, Retrieval, SourceTurn, User
from collection.retrieval import embeddings
from collection.retrieval import jobs as retrievals
from collection.source_turns import LEASE, turn_at
from tests.collection.documents.document_server import Said, document_server
from tests.collection.dripping_server import DrippingServer, dripping

pytestmark = pytest.mark.django_db(transaction=True)
WORKERS = 4


class Workers:
    """So many threads that take messages as workers do."""

    def __init__(self) -> None:
        self.messages: queue.Queue[tuple[Callable[..., Any], Any, float]] = queue.Queue()
        self.faults: list[BaseException] = []
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(WORKERS)]
        for thread in self._threads:
            thread.start()

    def send(self, task: Callable[..., Any], **message: Any) -> None:
        self.messages.put((task, message, time.monotonic() + message.pop("wait", 0)))

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while not self._over.is_set():
            try:
                task, message, due = self.messages.get(timeout=0.02)
            except queue.Empty:
                continue
            if due > time.monotonic():
                self.messages.put((task, message, due))
                time.sleep(0.01)
                continue
            try:
                task(**message)
            except BaseException as fault:
                self.faults.append(fault)
        connection.close()


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[Workers]:
    settings.WORK_AT_ONCE = False
    settings.DOCUMENT_HOSTS = ["127.0.0.1", "localhost"]
    monkeypatch.setattr(http_source, "TIMEOUT", 0.3)
    monkeypatch.setattr(fetching, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(fetching, "AGAIN_SECONDS", 0.05)
    started = Workers()

    def send(pk: int, generation: int, *, wait: float = 0) -> None:
        started.send(take_turn, pk=pk, generation=generation, seconds=0.3, wait=wait)

    monkeypatch.setattr(fetching, "_send", send)
    yield started
    started.stop()
    assert started.faults == []


@pytest.fixture
def stalled() -> Iterator[DrippingServer]:
    with dripping("header") as server:
        yield server


def a_job(rosa: User, name: str, address: str, texts: int = 40) -> DocumentSource:
    collection = Collection.objects.create(name=name, owner=rosa)
    Passage.objects.bulk_create([Passage(collection=collection, passage_id=f"d{n}") for n in range(texts)])
    return set_source(collection=collection, kind="http", address=f"{address}/{{id}}")


def wait_until(holds: Callable[[], bool], seconds: float = 10) -> None:
    late = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < late
        time.sleep(0.02)


def state_of(source: DocumentSource) -> str:
    return DocumentSource.objects.values_list("state", flat=True).get(pk=source.pk)


def test_two_jobs_on_one_stalled_source_have_one_worker_and_another_source_s_job_goes_on(
    rosa: User, workers: Workers, stalled: DrippingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_at: Counter[str] = Counter()
    most: Counter[str] = Counter()
    take = fetching._take_turn

    def counted(source: DocumentSource, *told: Any) -> bool:
        asked = fetching.asked_of(source)
        now_at[asked] += 1
        most[asked] = max(most[asked], now_at[asked])
        try:
            return take(source, *told)
        finally:
            now_at[asked] -= 1

    monkeypatch.setattr(fetching, "_take_turn", counted)
    jobs = [a_job(rosa, f"stalled-{n}", stalled.url) for n in range(3)]
    with document_server() as good:
        good.answers |= {f"/d{n}": Said(b"A text.") for n in range(40)}
        other = a_job(rosa, "other", good.url.replace("127.0.0.1", "localhost"))

        for source in (*jobs, other):
            start_fetching(collection=source.collection, at=now())
        wait_until(lambda: state_of(other) == "done")

    fetching.ask_stalled_again(at=now() + timedelta(minutes=3))  # as if none had said anything for long
    wait_until(lambda: {state_of(source) for source in jobs} == {"paused"})

    assert most == {"server 127.0.0.1": 1, "server localhost": 1}
    assert Passage.objects.filter(collection=other.collection, text="A text.").count() == 40
    assert {bool(source.problem) for source in DocumentSource.objects.filter(state="paused")} == {True}
    wait_until(lambda: not SourceTurn.objects.exclude(held_until=None).exists())


def test_a_pause_frees_the_worker_in_time(rosa: User, workers: Workers, stalled: DrippingServer) -> None:
    source = a_job(rosa, "stalled", stalled.url)
    start_fetching(collection=source.collection, at=now())
    wait_until(lambda: stalled.open > 0)
    began = time.monotonic()

    pause_fetching(collection=source.collection, at=now())
    wait_until(lambda: not SourceTurn.objects.exclude(held_until=None).exists())

    assert time.monotonic() - began < http_source.TIMEOUT + 0.5
    assert stalled.asked == fetching.AT_ONCE
    assert state_of(source) == "paused"


def test_a_document_of_a_source_that_is_asked_is_left_to_a_worker(
    rosa: User, client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, Any]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **_: sent.append((name, args)))
    settings.WORK_AT_ONCE = False
    settings.DOCUMENT_HOSTS = ["127.0.0.1"]
    client.force_login(rosa)
    with document_server() as server:
        server.answers["/d0"] = Said(b"A text.")
        source = a_job(rosa, "asked", server.url)
        page = reverse("collection:document", args=["asked"])
        with turn_at(fetching.asked_of(source)) as ours:
            assert ours
            assert client.post(page, {"docno": "d0"}).status_code == 302
            with pytest.raises(Retry):
                fetch_text.apply(args=(source.collection_id, "d0"), throw=True)
            assert server.asked == []

        fetch_text(source.collection_id, "d0")

    assert sent == [("collection.fetch_text", [source.collection_id, "d0"])]
    assert Passage.objects.filter(text="A text.").count() == 1


def test_one_retrieval_at_a_time_asks_the_server_of_embeddings(
    rosa: User, settings: Settings, monkeypatch: pytest.MonkeyPatch, stalled: DrippingServer
) -> None:
    settings.WORK_AT_ONCE = False
    settings.EMBED_BASE_URL, settings.EMBED_MODEL = stalled.url, "m"
    monkeypatch.setattr(embeddings, "TIMEOUT", 0.5)
    monkeypatch.setattr(embeddings, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(retrievals, "SAYS_EVERY", 0.05)
    sent: list[tuple[int, float]] = []
    monkeypatch.setattr(retrievals, "_send", lambda pk, generation, *, wait=0: sent.append((pk, wait)))
    collection = Collection.objects.create(name="stones", owner=rosa)
    collection.topics.create(topic_id="1", request="Why?")
    Passage.objects.create(collection=collection, passage_id="p1", text="A text.")
    first, second = [
        retrievals.start_retrieval(
            collection=collection, user=rosa, method="dense", at=now(),
            options={"run": f"run-{n}", "query": "request", "model": "", "depth": 10, "window": 0, "stride": 0,
                     "query_prefix": "", "passage_prefix": ""},
        )
        for n in range(2)
    ]  # fmt: skip
    sent.clear()

    def work(retrieval: Retrieval) -> None:
        retrievals.work_within_limits(pk=retrieval.pk, generation=retrieval.generation)
        connection.close()

    worker = threading.Thread(target=work, args=(first,))
    worker.start()
    wait_until(lambda: stalled.open > 0)
    work(second)
    began = time.monotonic()
    retrievals.stop_retrieval(first, at=now())
    worker.join()

    assert time.monotonic() - began < embeddings.TIMEOUT + 0.5
    assert sent == [(second.pk, source_turns.AGAIN_SECONDS)]
    assert stalled.asked == 1
    second.refresh_from_db()
    assert (second.state, second.n_begun) == (Retrieval.State.AT_WORK, 0)


def test_a_turn_whose_holder_is_gone_is_given_to_another() -> None:
    SourceTurn.objects.create(source="server gone", holder="a", held_until=now() + LEASE)
    with turn_at("server gone") as ours:
        assert not ours

    SourceTurn.objects.update(held_until=now() - timedelta(seconds=1))

    with turn_at("server gone") as ours, turn_at("server gone") as another, turn_at("other") as at_other:
        assert (ours, another, at_other) == (True, False, True)


def test_a_turn_is_renewed_as_long_as_its_holder_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_turns, "RENEW_SECONDS", 0.05)
    beats: list[Any] = []
    with turn_at("slow", beat=beats.append):
        SourceTurn.objects.update(held_until=now())
        wait_until(lambda: len(beats) > 1)

        assert SourceTurn.objects.get().held_until > now() + LEASE / 2  # type: ignore[operator]


def test_what_asks_servers_of_others_has_workers_of_its_own() -> None:
    routes = project.CELERY_TASK_ROUTES

    assert {routes[f"collection.{name}"]["queue"] for name in ("fetch_texts", "fetch_text", "retrieve")} == {"fetching"}
    workers = re.findall(r"^(\w+): .*--queues (\S+)", (project.BASE_DIR / "Procfile").read_text(), re.MULTILINE)
    assert [name for name, queues in workers if "fetching" in queues.split(",")] == ["fetching"]
    assert dict(workers)["fetching"] == "fetching"
