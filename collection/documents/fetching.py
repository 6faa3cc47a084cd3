"""Fetching: one document when somebody asks for it, or all that are missing, in turns of a worker.

What is fetched is kept batch by batch, so a worker that dies, or a pause, loses nothing: the next turn goes on with
what is missing and was not tried since the start. No message is trusted to arrive.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.timezone import now
from kombu.exceptions import OperationalError

from collection.addresses import NotAnAddress, parts_of
from collection.documents.found import FetchFailed, Found, SourceFailed
from collection.documents.keeping import keep_document, note_failure
from collection.documents.missing import is_named, missing_texts, tried_since
from collection.documents.sources import Documents, NoSource, opened
from collection.importing.background import try_waiting_again
from collection.models import Collection, DocumentFetch, DocumentSource
from collection.signs_of_life import heard_of
from collection.source_turns import AGAIN_SECONDS, turn_at

logger = logging.getLogger(__name__)

State, Kind = DocumentSource.State, DocumentSource.Kind
TURN_SECONDS = 20.0
# So often it is asked whether somebody has paused while nothing comes.
LOOK_SECONDS = 0.5
BATCH = 16
# Requests to one server at a time: it is somebody's, and may be small.
AT_ONCE = 4
# A worker that says nothing for so long is gone: a batch of requests that all time out takes less.
PATIENCE = timedelta(minutes=2)
NO_SOURCE = "The collection names no source of documents."
FAULT = "An error of the site stopped it ({}). See the worker’s log."
NO_WORKER = "This site has no worker: resume to go on."


class NotNow(Exception):
    """Fetching cannot be started, paused or resumed as it stands."""


class SourceBusy(FetchFailed):
    """It is somebody else's turn to ask the source."""


class NotNamed(Exception):
    """Nothing in the collection names a document of this id."""


@dataclass(frozen=True)
class Batch:
    """What came of the documents of one batch. `fault` is the source's, where it gave none of them."""

    tried: int
    kept: int
    failed: int
    fault: str = ""


# --- Asking -------------------------------------------------------------------------------------


def start_fetching(*, collection: Collection, at: datetime) -> DocumentSource:
    """Have all missing texts fetched, those too that failed before. Raises NoSource and NotNow."""
    return _ask(collection, (State.IDLE, State.PAUSED, State.DONE), at, started_at=at)


def resume_fetching(*, collection: Collection, at: datetime) -> DocumentSource:
    """Go on where it paused, or where its worker is gone. Raises NoSource and NotNow."""
    return _ask(collection, (State.PAUSED,), at)


def pause_fetching(*, collection: Collection, at: datetime) -> DocumentSource:
    """Stop behind the batch that is under way. Raises NoSource and NotNow."""
    with transaction.atomic():
        source = _locked(collection)
        if source.state != State.FETCHING:
            raise NotNow("Nothing is being fetched.")
        source.state, source.heard_of_at = State.PAUSED, at
        source.generation += 1
        source.save(update_fields=["state", "heard_of_at", "generation"])
    return source


ACTIONS: dict[str, Callable[..., DocumentSource]] = {
    "start": start_fetching,
    "pause": pause_fetching,
    "resume": resume_fetching,
}


def has_stalled(source: DocumentSource, *, at: datetime) -> bool:
    """Whether a worker was asked and none says anything."""
    return source.state == State.FETCHING and not heard_of(source.heard_of_at, at=at, patience=PATIENCE)


def ask_stalled_again(*, at: datetime) -> None:
    """Ask another worker where one is gone."""
    for source in DocumentSource.objects.filter(state=State.FETCHING):
        mine = DocumentSource.objects.filter(pk=source.pk, generation=source.generation)
        if has_stalled(source, at=at) and mine.update(generation=source.generation + 1, heard_of_at=at):
            _send(source.pk, source.generation + 1)


def _ask(collection: Collection, states: Sequence[str], at: datetime, **fields: Any) -> DocumentSource:
    with transaction.atomic():
        source = _locked(collection)
        if source.state not in states and not has_stalled(source, at=at):
            raise NotNow("Texts are being fetched." if source.state == State.FETCHING else "Nothing is paused.")
        changed = {"state": State.FETCHING, "generation": source.generation + 1, "heard_of_at": at, "problem": ""}
        for name, value in {**changed, **fields}.items():
            setattr(source, name, value)
        source.save(update_fields=[*changed, *fields])
        if not settings.WORK_AT_ONCE:
            transaction.on_commit(lambda: _send(source.pk, source.generation))
    if settings.WORK_AT_ONCE:
        take_turn(pk=source.pk, generation=source.generation)
        DocumentSource.objects.filter(pk=source.pk, state=State.FETCHING).update(state=State.PAUSED, problem=NO_WORKER)
        source.refresh_from_db()
    return source


def _locked(collection: Collection) -> DocumentSource:
    source = DocumentSource.objects.select_for_update().filter(collection=collection).first()
    if source is None:
        raise NoSource(NO_SOURCE)
    return source


def _send(pk: int, generation: int, *, wait: float = 0) -> None:
    try:
        current_app.send_task("collection.fetch_texts", args=[pk, generation], countdown=wait, retry=False)
    except OperationalError:
        logger.warning("The broker does not answer; source %s waits until somebody resumes it.", pk, exc_info=True)


# --- All that are missing -----------------------------------------------------------------------


def take_turn(*, pk: int, generation: int, seconds: float = TURN_SECONDS) -> None:
    """Fetch missing texts for so long, then ask for another turn, unless it was paused or asked of somebody else.

    While somebody else asks the same source, nothing is waited for: the turn comes again a little later.
    """
    mine = DocumentSource.objects.filter(pk=pk, generation=generation, state=State.FETCHING)
    source = mine.select_related("collection").first()
    if source is None:
        return
    with turn_at(asked_of(source), beat=lambda at: mine.update(heard_of_at=at)) as ours:
        goes_on = _take_turn(source, mine, seconds) if ours else bool(mine.update(heard_of_at=now()))
    if goes_on:
        _send(pk, generation, wait=0 if ours else AGAIN_SECONDS)


def _take_turn(source: DocumentSource, mine: QuerySet[DocumentSource], seconds: float) -> bool:
    """Return whether there is more to do."""
    until = time.monotonic() + seconds

    def wanted() -> bool:
        return time.monotonic() <= until and mine.exists()

    try:
        for batch in fetch_all(source, left_to_try(source), wanted=wanted):
            if batch.fault:
                mine.update(state=State.PAUSED, problem=batch.fault, heard_of_at=now())
                return False
            if not mine.update(heard_of_at=now()):
                return False
            if time.monotonic() > until:
                return True
    except SourceFailed as failed:
        mine.update(state=State.PAUSED, problem=str(failed), heard_of_at=now())
        return False
    except Exception as fault:
        logger.exception("Texts of source %s could not be fetched.", source.pk)
        mine.update(state=State.PAUSED, problem=FAULT.format(type(fault).__name__), heard_of_at=now())
        return False
    if mine.update(state=State.DONE, heard_of_at=now()):
        try_waiting_again(source.collection, at=now())
    return False


def left_to_try(source: DocumentSource) -> list[str]:
    """Return the ids of documents without a text that were not tried since the start."""
    missing = missing_texts(source.collection, depth=source.depth)
    tried = tried_since(source.collection, source.started_at) if source.started_at else set()
    return [docno for docno in missing if docno not in tried]


def fetch_all(
    source: DocumentSource, docnos: Sequence[str], *, wanted: Callable[[], bool] = lambda: True
) -> Iterator[Batch]:
    """Fetch these documents and keep them, batch by batch. Raises SourceFailed.

    A batch of which the source gives nothing through its own fault is not noted as tried: it can be tried again. Where
    a batch takes long and is not `wanted` any more, no other request is begun, and what was asked is kept.
    """
    waiting = iter(docnos)
    over = threading.Event()
    with opened(source) as documents, ThreadPoolExecutor(AT_ONCE if source.kind == Kind.HTTP else 1) as threads:
        while batch := list(islice(waiting, BATCH)):
            asked = {threads.submit(_tried, documents, docno, over): docno for docno in batch}
            while wait(asked, timeout=LOOK_SECONDS).not_done:
                if not wanted():
                    over.set()
            came = {docno: found for one, docno in asked.items() if (found := one.result()) is not None}
            faults = [str(found) for found in came.values() if isinstance(found, SourceFailed)]
            if faults and len(faults) == len(came):
                yield Batch(len(came), 0, 0, fault=faults[0])
                continue
            kept = sum(_noted(source, docno, found) for docno, found in came.items())
            yield Batch(len(came), kept, sum(isinstance(one, FetchFailed) for one in came.values()))


def asked_of(source: DocumentSource) -> str:
    """Return what is asked for the texts, the same for all collections that ask it: one turn at a time is taken."""
    if source.kind == Kind.HTTP:
        try:
            return f"server {parts_of(source.address).hostname}"[:300]
        except NotAnAddress:
            return "server"
    return "ir_datasets" if source.kind == Kind.IR_DATASETS else f"folder of {source.collection_id}"


def _tried(documents: Documents, docno: str, over: threading.Event | None = None) -> Found | FetchFailed | None:
    if over is not None and over.is_set():
        return None
    try:
        return documents.fetch(docno)
    except FetchFailed as failed:
        return failed


def _noted(source: DocumentSource, docno: str, came: Found | FetchFailed) -> bool:
    """Keep what came of a document. Returns whether its text is new here."""
    if isinstance(came, FetchFailed):
        note_failure(collection=source.collection, docno=docno, reason=str(came), at=now())
        return False
    return keep_document(collection=source.collection, source=source, docno=docno, found=came, at=now())


def fetched_before(collection: Collection) -> list[str]:
    """Return the ids of documents whose texts were fetched, for a look at whether the source still has the same."""
    fetched = DocumentFetch.objects.filter(collection=collection, fetched_at__isnull=False)
    return list(fetched.values_list("passage_id", flat=True))


# --- One document -------------------------------------------------------------------------------


def ask_for_one(*, collection: Collection, docno: str) -> bool | None:
    """Fetch a document now, or have a worker do so and return None: where the source may first download a corpus, and
    where another is fetched of it.

    Raises what `fetch_one` raises.
    """
    source = _named_source(collection, docno)
    if source.kind != Kind.IR_DATASETS or settings.WORK_AT_ONCE:
        try:
            return fetch_one(collection=collection, docno=docno)
        except SourceBusy:
            if settings.WORK_AT_ONCE:
                raise
    try:
        current_app.send_task("collection.fetch_text", args=[collection.pk, docno], retry=False)
    except OperationalError as error:
        raise SourceFailed("No worker can be asked at this moment.") from error
    return None


def fetch_one(*, collection: Collection, docno: str) -> bool:
    """Fetch a document that the collection names, now. Returns whether its text is new here.

    Raises NoSource, NotNamed, SourceBusy and FetchFailed.
    """
    source = _named_source(collection, docno)
    came: Found | FetchFailed | None
    with turn_at(asked_of(source)) as ours:
        if not ours:
            raise SourceBusy("The source is asked for other documents. Try again in a moment.")
        try:
            with opened(source) as documents:
                came = _tried(documents, docno)
        except SourceFailed as failed:
            came = failed
    assert came is not None  # nobody said that it is over
    kept = _noted(source, docno, came)
    if isinstance(came, FetchFailed):
        raise came
    return kept


def _named_source(collection: Collection, docno: str) -> DocumentSource:
    source = DocumentSource.objects.select_related("collection").filter(collection=collection).first()
    if source is None:
        raise NoSource(NO_SOURCE)
    if not is_named(collection, docno):
        raise NotNamed(f"Nothing in the collection names a document “{docno}”.")
    return source
