"""Who has what in hand, a job's chunk or a build: leased to one worker, who renews the lease, and given back.

A row that is leased has `holder` and `leased_until`. Whether it is held now is decided by `held` and by nothing else.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import F, Q, QuerySet
from django.utils.timezone import now

from collection.signs_of_life import lately
from judging.models import GradingChunk, GradingJob

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=45)
RENEW_SECONDS = 10.0


def held(at: datetime) -> Q:
    """Return which rows somebody has in hand: those that were leased, or whose lease was renewed, lately."""
    first, last = lately(at, LEASE)
    return Q(leased_until__range=(first + LEASE, last + LEASE))


def lapsed(at: datetime) -> Q:
    """Return the rows whose worker did not give them back: it was killed, or cannot reach the database."""
    return Q(leased_until__isnull=False) & ~held(at)


def take(rows: QuerySet[Any], *, holder: str, at: datetime) -> int:
    """Lease those of the rows that nobody holds, in one statement, so that two never get the same. Returns how many."""
    return rows.filter(~held(at)).update(holder=holder, leased_until=at + LEASE)


def claim_chunk(job: GradingJob, *, holder: str, at: datetime) -> GradingChunk | None:
    """Lease the job's first free chunk."""
    free = job.chunks.filter(~held(at), finished_at=None)
    for key in free.order_by("number").values_list("pk", flat=True)[:64]:
        if take(free.filter(pk=key), holder=holder, at=at):
            _note_start(job, at=at)
            return GradingChunk.objects.get(pk=key)
    return None


def finish_chunk(key: int) -> None:
    """Say that every item of the chunk has its completion."""
    GradingChunk.objects.filter(pk=key).update(finished_at=now(), holder="", leased_until=None)


def _note_start(job: GradingJob, *, at: datetime) -> None:
    """Say that the job is at work, once: whoever changes the job's row waits for the batch that is being written."""
    if job.state == GradingJob.State.RUNNING and job.started_at is not None:
        return
    GradingJob.objects.active().filter(pk=job.pk).update(state=GradingJob.State.RUNNING, heartbeat_at=at)
    GradingJob.objects.filter(pk=job.pk, started_at=None).update(
        started_at=at, done_at_start=F("graded") + F("ungraded")
    )
    job.refresh_from_db(fields=("state", "started_at"))


class Lease:
    """Renews the leases on the rows in hand as long as this process lives; gives back what is not done at the end.

    `rows` are the job's chunks, or the build. `held` are those in hand, by key: the caller adds and takes away.
    `beat` says that this worker lives.
    """

    def __init__(
        self, rows: QuerySet[Any], *, holder: str, held: Mapping[int, object], beat: Callable[[datetime], object]
    ) -> None:
        self.rows = rows
        self.holder = holder
        self.held = held
        self.beat = beat
        self._finished = threading.Event()
        self._renewer = threading.Thread(target=self._renew, name="lease", daemon=True)

    def __enter__(self) -> None:
        self._renewer.start()

    def __exit__(self, *_: object) -> None:
        self._finished.set()
        self._renewer.join()
        mine = self.rows.model._default_manager.filter(pk__in=list(self.held), holder=self.holder)
        mine.update(holder="", leased_until=None)

    def _renew(self) -> None:
        while not self._finished.wait(RENEW_SECONDS):
            try:
                at = now()
                mine = self.rows.filter(holder=self.holder, leased_until__isnull=False)
                mine.update(leased_until=at + LEASE)
                self.beat(at)
            except DatabaseError:
                logger.warning("The leases of %s were not renewed.", self.holder, exc_info=True)
        connection.close()
