"""Who has which chunk of a job in hand: claimed, held by a lease that its worker renews, given back."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import F, Q, QuerySet
from django.utils.timezone import now

from judging.models import GradingChunk, GradingJob

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=45)
RENEW_SECONDS = 10.0


def claim_chunk(job: GradingJob, *, holder: str, at: datetime) -> GradingChunk | None:
    """Lease the job's first free chunk. Each is claimed in one statement, so two workers never get the same."""
    free = Q(finished_at=None) & (Q(leased_until=None) | Q(leased_until__lt=at))
    keys = job.chunks.filter(free).order_by("number").values_list("pk", flat=True)
    for key in keys[:64]:
        if GradingChunk.objects.filter(free, pk=key).update(holder=holder, leased_until=at + LEASE):
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

    `rows` are the job's chunks, or a build's calls. `held` are those in hand, by key: the caller adds and takes away.
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
        held = self.rows.model._default_manager.filter(pk__in=list(self.held), holder=self.holder)
        held.update(holder="", leased_until=None)

    def _renew(self) -> None:
        while not self._finished.wait(RENEW_SECONDS):
            try:
                at = now()
                held = self.rows.filter(holder=self.holder, finished_at=None, leased_until__isnull=False)
                held.update(leased_until=at + LEASE)
                self.beat(at)
            except DatabaseError:
                logger.warning("The leases of %s were not renewed.", self.holder, exc_info=True)
        connection.close()
