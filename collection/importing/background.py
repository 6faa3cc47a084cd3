"""Large files are tried out and imported by a worker. What it was asked stands in the Upload's row.

An import and the note that it is done are one transaction, so a worker that dies has imported nothing, and the
next one begins anew. No message is trusted to arrive: whoever looks finds the uploads whose worker is gone.
"""

from __future__ import annotations

import logging
import resource
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from celery import current_app
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from kombu.exceptions import OperationalError

from collection.formats.problems import BrokenFile, Problem
from collection.importing.datasets import ir_dataset
from collection.importing.formats import import_upload, try_upload
from collection.importing.known_files import UnclearFormats
from collection.importing.outcomes import ImportOutcome
from collection.importing.stray_grades import OffTheScale
from collection.importing.waiting import keep_waiting
from collection.models import Collection, Upload
from collection.signs_of_life import LONG_PATIENCE, PATIENCE, Beat, heard_of

logger = logging.getLogger(__name__)

State = Upload.State
PROC = Path("/proc/self/statm").exists()
FAULT = "The worker could not finish it because of an error that is not in the file ({}). Nothing was imported."
TOO_BIG = "The file needs more than {:,} MB of memory to read. Nothing was imported."
FAULT_REMEDY = "Choose it again. If it fails again, see the worker’s log."


class GivenUp(Exception):
    """Another worker was asked, or the file was removed: this one has nothing to say any more."""


def outcome_of(upload: Upload, *, really: bool, at: datetime) -> ImportOutcome:
    """Import the file, really or as a trial, and return what it brought or what is wrong with it."""
    bring = import_upload if really else try_upload
    try:
        return bring(upload=upload, collection=upload.collection, at=at)
    except (BrokenFile, ValidationError) as wrong:
        return broken(upload, wrong)


def broken(upload: Upload, wrong: BrokenFile | ValidationError) -> ImportOutcome:
    if isinstance(wrong, BrokenFile):
        details: dict[str, Any] = {"formats": wrong.formats} if isinstance(wrong, UnclearFormats) else {}
        details["has_strays"] = isinstance(wrong, OffTheScale)
        file = "" if wrong.name == upload.name else wrong.name
        return ImportOutcome(problems=wrong.problems, file=file, details=details)
    return ImportOutcome(problems=[Problem(None, " ".join(wrong.messages))])


# --- Asking -------------------------------------------------------------------------------------


def ask_a_worker(upload: Upload, state: Upload.State, *, at: datetime) -> None:
    """Have the file tried out (TRYING) or imported (IMPORTING); an earlier worker is given up."""
    upload.state, upload.asked_at = state, at
    upload.generation += 1
    upload.save(update_fields=["state", "asked_at", "generation"])
    transaction.on_commit(lambda: _send(upload.pk, upload.generation))


def try_waiting_again(collection: Collection, *, at: datetime) -> None:
    """Have every file tried out again that waited for what may just have come into the collection."""
    waiting = Upload.objects.filter(collection=collection, file_format="files", state=State.TRIED)
    for upload in waiting:
        if ImportOutcome.read(upload.outcome).waits:
            ask_a_worker(upload, State.TRYING, at=at)


def _send(pk: int, generation: int) -> None:
    try:
        current_app.send_task("collection.work_on_upload", args=[pk, generation], retry=False)
    except OperationalError:
        # What was asked is in the database; the next look sends it.
        logger.warning("The broker does not answer; upload %s waits until it does.", pk, exc_info=True)


def beat_of(upload: Upload) -> Beat:
    """Return the file by which the worker of an upload says that it lives."""
    return Beat(upload.path.with_name(f"{upload.stored_as}.{upload.generation}.beat"))


def requeue_stalled_uploads(*, at: datetime, among: Iterable[Upload] | None = None) -> list[Upload]:
    """Ask again where the message or the worker is lost. Returns those uploads.

    Who looks on asks this every second: nothing is written where nothing is lost, and one row where something is.
    """
    looked_at = Upload.objects.at_work() if among is None else among
    return [upload for upload in looked_at if _has_stalled(upload, at=at) and _ask_again(upload, at=at)]


def _has_stalled(upload: Upload, *, at: datetime) -> bool:
    last_sign = beat_of(upload).last_sign()
    return not heard_of(upload.asked_at or at, last_sign, at=at, patience=PATIENCE if last_sign else LONG_PATIENCE)


def _ask_again(upload: Upload, *, at: datetime) -> bool:
    """Ask another worker, unless somebody who looked on too has done so. Returns whether it was asked."""
    as_seen = Upload.objects.at_work().filter(pk=upload.pk, generation=upload.generation)
    if not as_seen.update(generation=upload.generation + 1, asked_at=at):
        return False
    upload.generation, upload.asked_at = upload.generation + 1, at
    transaction.on_commit(lambda: _send(upload.pk, upload.generation))
    return True


# --- Working ------------------------------------------------------------------------------------


def work_on_upload(*, pk: int, generation: int, at: datetime) -> None:
    """Do what was asked about the upload, unless it was asked of somebody else since."""
    uploads = Upload.objects.at_work().select_related("collection__owner", "user")
    upload = uploads.filter(pk=pk, generation=generation).first()
    if upload is None:
        return
    with beat_of(upload) as beat, memory_limit(settings.UPLOAD_MEMORY_MB):
        try:
            if upload.file_format == ir_dataset.FORMAT:
                ir_dataset.fetch(upload)
            if upload.state == State.IMPORTING:
                _import(upload, beat, at=at)
            else:
                tried = try_upload(upload=upload, collection=upload.collection, at=at, advance=beat.advance)
                _conclude(upload, State.TRIED, tried)
        except GivenUp:
            logger.info("Upload %s was given to another worker, or removed.", pk)
        except (BrokenFile, ValidationError) as wrong:
            _conclude_quietly(upload, broken(upload, wrong))
        except MemoryError:
            said = Problem(None, TOO_BIG.format(settings.UPLOAD_MEMORY_MB), "Split it, or use manage.py.")
            _conclude_quietly(upload, ImportOutcome(problems=[said]))
        except Exception as fault:
            logger.exception("Upload %s could not be worked on.", pk)
            said = Problem(None, FAULT.format(type(fault).__name__), FAULT_REMEDY)
            _conclude_quietly(upload, ImportOutcome(problems=[said]))


@transaction.atomic
def _import(upload: Upload, beat: Beat, *, at: datetime) -> None:
    imported = import_upload(upload=upload, collection=upload.collection, at=at, advance=beat.advance)
    try_waiting_again(upload.collection, at=at)
    keep_waiting(upload, imported, at=at)
    _conclude(upload, State.IMPORTED, imported)
    transaction.on_commit(lambda: upload.path.unlink(missing_ok=True))


def _conclude(upload: Upload, state: Upload.State, outcome: ImportOutcome) -> None:
    """Note what became of it. Raises GivenUp."""
    mine = Upload.objects.at_work().filter(pk=upload.pk, generation=upload.generation)
    if not mine.update(state=state, outcome=outcome.as_json()):
        raise GivenUp


def _conclude_quietly(upload: Upload, outcome: ImportOutcome) -> None:
    try:
        _conclude(upload, State.TRIED, outcome)
    except GivenUp:
        logger.info("Upload %s was given to another worker, or removed.", upload.pk)


@contextmanager
def memory_limit(megabytes: int) -> Iterator[None]:
    """Let this process have so much more memory, no more: it raises MemoryError, and goes on with its next task.

    Only a process that does nothing else is limited, as the workers of a prefork pool are.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_DATA)
    in_use = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize() if PROC else 0
    resource.setrlimit(resource.RLIMIT_DATA, (in_use + megabytes * 1024**2, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


# --- Signs of life ------------------------------------------------------------------------------
