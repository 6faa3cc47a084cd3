"""Jobs whose messages or workers are lost, found by the signs of it, and jobs that can go on: queued again."""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import datetime, timedelta

from django.db.models import F

from collection.signs_of_life import heard_of, lately
from judging.grading.holders import free_those_of_the_dead
from judging.grading.jobs import LimitReached, WrongState, finish_if_done, resume_job
from judging.grading.leases import lapsed
from judging.grading.notify import send_messages
from judging.models import GradingJob

logger = logging.getLogger(__name__)

# Without a sign of life for so long, messages are taken to be lost.
PATIENCE = timedelta(seconds=45)
LONG_PATIENCE = timedelta(minutes=15)


def requeue_stalled_jobs(*, at: datetime, patience: timedelta = PATIENCE) -> list[GradingJob]:
    """Send messages again for jobs whose messages or workers are lost. Returns those jobs.

    The evidence: a lease that ran out, or a holder on this machine that is no more; or nothing was
    heard of any job for as long as `patience`; or not of this one for very long.
    """
    free_those_of_the_dead(at=at)
    all_quiet = not GradingJob.objects.active().filter(heartbeat_at__range=lately(at, patience)).exists()
    requeued = []
    for job in GradingJob.objects.active().select_related("judge", "criterion"):
        if finish_if_done(job=job, at=at):
            continue
        chunks = job.chunks.filter(finished_at=None)
        orphaned = chunks.filter(lapsed(at)).update(holder="", leased_until=None)
        lost = all_quiet and not heard_of(job.queued_at, at=at, patience=patience)
        forgotten = not heard_of(job.queued_at, job.heartbeat_at, at=at, patience=LONG_PATIENCE)
        if not (orphaned or lost or forgotten) or not chunks.filter(leased_until=None).exists():
            continue
        said = _said(job, died=bool(orphaned))
        unchanged = GradingJob.objects.active().filter(pk=job.pk, generation=job.generation)
        if unchanged.update(generation=F("generation") + 1, queued_at=at):
            job.refresh_from_db()
            send_messages(job)
            logger.log(*said)
            requeued.append(job)
    return requeued


def _said(job: GradingJob, *, died: bool) -> tuple[int, str]:
    """Return what is logged of a job that is sent again, with its level. One that nobody began has lost nothing."""
    done = f"{job.done} of {job.total} pairs done"
    if died:
        return logging.WARNING, f"Job {job.pk} lost a worker, with {done}; it goes on."
    if job.heartbeat_at is None:
        return logging.INFO, f"Job {job.pk} waits for a worker, with {done}; its messages are sent again."
    since = f"{job.heartbeat_at:%Y-%m-%d %H:%M:%S}"
    return logging.WARNING, f"Nothing was heard of job {job.pk} since {since}, with {done}; it goes on."


def go_on_with_new_tokens(*, at: datetime) -> None:
    """Resume the jobs that wait for their researcher's quota, where there is room in it again."""
    for job in GradingJob.objects.filter(state=GradingJob.State.PAUSED, pause_cause=GradingJob.Cause.QUOTA):
        with suppress(LimitReached, WrongState):
            resume_job(job=job, at=at)
