"""Figures that take long: computed once by a worker, and kept for the page, its charts, its downloads and the API.

They are kept under the fingerprint of all that they rest on and under what was asked, in a cache that web servers and
workers share. Nothing here writes to the database: a page must not wait for an import that holds its write lock. A file
beside the figures says that a worker was asked, and by its age whether the worker lives; a lock on another keeps two
from computing the same.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

from celery import current_app
from django.conf import settings
from django.core.cache import caches
from django.utils.module_loading import import_string
from kombu.exceptions import OperationalError

from collection.extras import missing_for
from collection.models import Study
from collection.signs_of_life import LONG_PATIENCE, PATIENCE, Beat, heard_of
from collection.web.fingerprints import fingerprint_of, fingerprint_of_code

logger = logging.getLogger(__name__)

# Who was lost so often at the same figures was lost because of them.
MOST_ATTEMPTS = 3
LOST = "The worker stopped {} times while computing these figures. They may need more memory than is available."
# For so long a request waits before it answers that the figures are being computed; so many at once in a process, for
# each of them holds one of the threads that assessors share.
WAIT_SECONDS = 1.5
LONG_WAIT_SECONDS = 10.0
MOST_WAITING = 2
# For so long a reader who waited is shown the figures as they were then, though somebody has judged since: where
# judgments come in faster than figures are computed, there would never be any.
SHOWN_FOR_SECONDS = 60.0
# A page may rest on so many figures, one waited for after the other.
MOST_SHOWN = 3
FAILED_FOR_SECONDS = 30.0
OLD_SECONDS = 24 * 3600
TOO_LONG = "These figures could not be computed: the database needed too long for one statement (STATEMENT_TIMEOUT)."
FAULT = "These figures could not be computed because of an internal error ({}). See the worker’s log."

# Of what `recent_result` asks the newest is kept too, whatever was judged since, for as long as somebody may look on.
LATELY_SECONDS = 3600.0

KEY = re.compile(r"[0-9a-f]{64}")
T = TypeVar("T")

_waiting = threading.BoundedSemaphore(MOST_WAITING)


class StillComputing(Exception):
    """A worker is at it; `key` is what to ask for again."""

    def __init__(self, key: str, *, begun: bool) -> None:
        super().__init__("These figures are being computed.")
        self.key = key
        self.begun = begun


class NotComputed(Exception):
    """The figures could not be computed; the message says why."""


@dataclass(frozen=True)
class StudyRead:
    """What one computation has read of a study as it was when it began; `new` is what none before it had."""

    fingerprint: str
    held: dict[str, Any] = field(default_factory=dict)
    new: set[str] = field(default_factory=set)

    def key(self, name: str) -> str:
        return hashlib.sha256(f"{self.fingerprint} {name}".encode()).hexdigest()


_study_read: ContextVar[StudyRead | None] = ContextVar("study_read", default=None)


@dataclass(frozen=True)
class CachedResult:
    """What came of a computation: its value, or the exception by which it was refused; or the fault that ended it."""

    subject: str
    at: float
    value: Any = None
    refusal: Exception | None = None
    fault: str = ""


def cached_result(
    kind: str,
    study: Study,
    *,
    shown: Sequence[str] = (),
    waits_long: bool = False,
    fingerprint: str | None = None,
    **asked: Any,
) -> Any:
    """Return these figures of the study, as they are by all that is judged now.

    `kind` names the function of the study that computes them, `module:name`; `asked` is what it is asked, as JSON has
    it. `shown` are the keys of results that this reader has waited for; who `waits_long` cannot ask again;
    `fingerprint` is the study's, where the caller has read it for several results. Raises StillComputing where a worker
    is at them, NotComputed, and what the computation raises itself. Whether the reader may see the study, the caller
    has asked.
    """
    subject, key = keys(kind, study, asked, fingerprint)
    waited_for = (_just_computed(one, subject) for one in shown[-MOST_SHOWN:] if KEY.fullmatch(one))
    found = next(filter(None, waited_for), None) or _cache().get(key)
    if found is None:
        _ask(kind, study.pk, asked, key)
        found = _wait(key, LONG_WAIT_SECONDS if waits_long else WAIT_SECONDS)
    if found is None:
        raise StillComputing(key, begun=bool(begun(key)))
    if found.fault:
        raise NotComputed(found.fault)
    if found.refusal is not None:
        raise found.refusal
    return found.value


def recent_result(kind: str, study: Study, *, shown: Sequence[str] = (), **asked: Any) -> tuple[Any, float, bool]:
    """Return these figures as they are, or as they were lately while a worker computes new ones.

    With them come when they were computed, in seconds since 1970, and whether they are as of now. For pages that look
    again while judgments come in, and must not go blank each time; Raises as `cached_result`
    does where there are none.
    """
    subject, key = keys(kind, study, asked)
    found: CachedResult | None = _cache().get(key)
    if found is None:
        _ask(kind, study.pk, asked, key, lately=True)
        found = _cache().get(key)
    is_current = found is not None
    found = found or _cache().get(_lately(subject))
    if found is None or found.fault or found.refusal:
        return cached_result(kind, study, shown=shown, **asked), time.time(), True
    return found.value, found.at, is_current


def computed_aside(kind: str, key: str, **asked: Any) -> None:
    """Have figures computed that are kept one by one, not under this key: it says alone that all of them are there.

    Raises StillComputing and NotComputed.
    """
    found = _cache().get(key)
    if found is None:
        _ask(kind, None, asked, key)
        found = _wait(key, WAIT_SECONDS)
    if found is None:
        raise StillComputing(key, begun=bool(begun(key)))
    if found.fault:
        raise NotComputed(found.fault)


def keys(kind: str, study: Study, asked: dict[str, Any], fingerprint: str | None = None) -> tuple[str, str]:
    """Return what stands for the figures that are asked for, and for them as they are now."""
    subject = hashlib.sha256(json.dumps([kind, study.pk, asked], sort_keys=True).encode()).hexdigest()
    return subject, hashlib.sha256(f"{subject}{fingerprint or state_of(study)}".encode()).hexdigest()


def state_of(study: Study) -> str:
    """Return the study's fingerprint, with the state of what the app of judges knows alone."""
    return f"{fingerprint_of(study)} {import_string(settings.STATE_OF_REVIEWS)(study.collection)}"


def is_there(key: str) -> bool:
    """Whether there are figures under this key."""
    return bool(_cache().has_key(key))


def begun(key: str) -> bool | None:
    """Whether a worker has begun; None if none was asked that is not known to be gone."""
    sign = _sign(key)
    try:
        has_begun, last = bool(sign.read_text()), datetime.fromtimestamp(sign.stat().st_mtime, UTC)
    except FileNotFoundError:
        return None
    at = datetime.fromtimestamp(time.time(), UTC)
    return has_begun if heard_of(last, at=at, patience=PATIENCE if has_begun else LONG_PATIENCE) else None


def _just_computed(key: str, subject: str) -> CachedResult | None:
    found: CachedResult | None = _cache().get(key)
    shown = found and found.subject == subject and time.time() - found.at < SHOWN_FOR_SECONDS
    return found if shown else None


def _ask(kind: str, study: int | None, asked: dict[str, Any], key: str, *, lately: bool = False) -> None:
    """Ask a worker, unless one was asked that is not known to be gone."""
    if settings.WORK_AT_ONCE:
        compute(kind=kind, study=study, asked=asked, key=key, lately=lately)
        return
    if begun(key) is not None:
        return
    sign = _sign(key)
    sign.write_text("")
    try:
        current_app.send_task("collection.compute", args=[kind, study, asked, key, lately], retry=False)
    except OperationalError:
        sign.unlink(missing_ok=True)  # the next look asks again
        logger.warning("The broker does not answer; nothing is computed until it does.", exc_info=True)


def _wait(key: str, seconds: float) -> CachedResult | None:
    """Return the figures if they come in a moment; at once where many wait already."""
    until = time.monotonic() + seconds
    found: CachedResult | None = _cache().get(key)
    if found is None and _waiting.acquire(blocking=False):
        try:
            while found is None and time.monotonic() < until:
                time.sleep(0.05)
                found = _cache().get(key)
        finally:
            _waiting.release()
    return found


# --- In the worker --------------------------------------------------------------------------------


def compute(*, kind: str, study: int | None, asked: dict[str, Any], key: str, lately: bool = False) -> None:
    """Compute the figures and keep them under the key, unless they are there, or somebody is at them."""
    _remove_old_signs()
    with _lock(key) as attempt:
        if not attempt or is_there(key):
            return
        found = None if study is None else Study.objects.select_related("collection").get(pk=study)
        if attempt > MOST_ATTEMPTS:
            subject = keys(kind, found, asked)[0] if found else ""
            lost = CachedResult(subject, time.time(), fault=LOST.format(MOST_ATTEMPTS))
            _cache().set(key, lost, FAILED_FOR_SECONDS)
            return
        with Beat(_sign(key)):
            _keep(kind, found, asked, key, lately=lately)


def compute_now(kind: str, study: Study, **asked: Any) -> Any:
    """Return figures that others rest on: those that are kept, else computed now, in this process."""
    fingerprint = state_of(study)
    _, key = keys(kind, study, asked, fingerprint)
    found: CachedResult | None = _cache().get(key)
    found = found if found and not found.fault else _keep(kind, study, asked, key, fingerprint=fingerprint)
    if found.fault:
        raise NotComputed(found.fault)
    if found.refusal is not None:
        raise found.refusal
    return found.value


def _keep(
    kind: str, study: Study | None, asked: dict[str, Any], key: str, *, lately: bool = False, fingerprint: str = ""
) -> CachedResult:
    """Compute the figures and keep what came of it. What changed meanwhile is under another key."""
    before = fingerprint or (state_of(study) if study else "")
    subject, key_before = keys(kind, study, asked, before) if study else ("", "")
    computation = imported(kind)
    read = StudyRead(before)
    token = _study_read.set(read if study else None)
    try:
        found = CachedResult(subject, time.time(), value=computation(study, **asked))
    except Exception as error:
        if error.__class__.__module__.split(".")[0] in ("evaluation", "collection", "stats"):
            found = CachedResult(subject, time.time(), refusal=error.with_traceback(None))
        else:
            logger.exception("%s of “%s” could not be computed.", kind, study)
            # 57014: PostgreSQL's query_canceled
            too_long = TOO_LONG if getattr(error.__cause__, "sqlstate", "") == "57014" else ""
            fault = too_long or missing_for(error) or FAULT.format(type(error).__name__)
            found = CachedResult(subject, time.time(), fault=fault)
    finally:
        _study_read.reset(token)
    unchanged = not study or state_of(study) == before
    for name in read.new if unchanged else ():
        _cache().set(read.key(name), read.held[name], LATELY_SECONDS)
    lasting = key == key_before and unchanged and not found.fault
    if lately and found.value is not None:
        _cache().set(_lately(subject), found, LATELY_SECONDS)
    if lasting:
        _cache().set(key, found)
    else:
        _cache().set(key, found, FAILED_FOR_SECONDS if found.fault else SHOWN_FOR_SECONDS)
    return found


def read_once(name: str, read: Callable[[], T]) -> T:
    """Return what `read` returned to the first computation of the study as it is that read this; outside of one, now.

    It must be of the study's collection, which the fingerprint covers, and the same for every reader: what a reader may
    see of it, who asks chooses afterwards. A process holds it no longer than a computation; files hold it for an hour,
    within the limit of all figures. What was read while the study changed is not kept.
    """
    study = _study_read.get()
    if study is None:
        return read()
    if name not in study.held:
        kept = _cache().get(study.key(name))
        if kept is None:
            kept = read()
            study.new.add(name)
        study.held[name] = kept
    return cast("T", study.held[name])


def imported(name: str) -> Any:
    """Return what stands in a module, `module:name`; web servers import what computes only where they compute."""
    module, _, what = name.partition(":")
    return getattr(import_module(module), what)


@contextmanager
def _lock(key: str) -> Iterator[int]:
    """Say the how-manieth attempt this is, 0 where somebody else is at it; and keep others from it.

    The system lets go of the lock when a process ends, however it ends; the file of one that was killed stays.
    """
    path = _folder() / f"{key}.lock"
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield 0
            return
        file.write(".")
        file.flush()
        yield file.tell()
        path.unlink(missing_ok=True)


def _remove_old_signs() -> None:
    for path in _folder().iterdir():
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > OLD_SECONDS:
                path.unlink()


def _lately(subject: str) -> str:
    return f"{subject}-{fingerprint_of_code()}"


def _sign(key: str) -> Path:
    return _folder() / f"{key}.asked"


def _folder() -> Path:
    path = Path(settings.DATA_DIR) / "computing"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def _cache() -> Any:
    return caches["figures"]
