"""What the commands that wait for jobs share: progress, a word when no worker comes, and the work done here instead."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from datetime import timedelta

from django.core.management.base import CommandError, OutputWrapper
from django.utils.timezone import now
from tqdm import tqdm

from judging.celery_tasks import take_one_turn
from judging.grading.progress import counts_of_job
from judging.models import GradingJob

LOOK_SECONDS = 0.5
SAY_SO_SECONDS = 5.0
GIVE_UP_SECONDS = 60.0
# A worker that has anything to do says so at least this often.
SIGN_OF_LIFE = timedelta(seconds=30)


def wait_for(job: GradingJob, *, out: OutputWrapper, errors: OutputWrapper) -> None:
    """Show progress until the job is over.

    Raises CommandError with the reason if it is paused, and with exit status 75 (“try again later”) if no worker comes.
    """
    began, said = time.monotonic(), False
    with tqdm(total=job.total, initial=job.done, unit=" pairs") as bar:
        while job.active:
            time.sleep(LOOK_SECONDS)
            job.refresh_from_db()
            bar.update(job.done - bar.n)
            if not nobody_works(job):
                began, said = time.monotonic(), False
            elif time.monotonic() - began >= GIVE_UP_SECONDS:
                raise CommandError(
                    f"No worker started within {GIVE_UP_SECONDS:.0f} seconds. Job {job.pk} stays queued.",
                    returncode=os.EX_TEMPFAIL,
                )
            elif time.monotonic() - began >= SAY_SO_SECONDS and not said:
                said = True
                bar.clear()
                errors.write(remedy(job))
    if job.state == GradingJob.State.PAUSED:
        raise CommandError(f"Job {job.pk} is paused. {job.reason}".strip())
    for line in counts_of_job(job).lines():
        out.write(line)


def nobody_works(job: GradingJob) -> bool:
    """Whether the job waits and no worker of its queue was heard of: one that is busy takes it after its turn."""
    if job.state != GradingJob.State.QUEUED:
        return False
    alive = GradingJob.objects.active().filter(heartbeat_at__gt=now() - SIGN_OF_LIFE).select_related("judge")
    return all(other.judge.queue != job.judge.queue for other in alive)


def remedy(job: GradingJob) -> str:
    queues = job.judge.queue or "celery"
    return (
        f"No worker answers. Start one: make run, or\n"
        f"  celery -A config worker --pool threads --concurrency 2 --queues {queues}\n"
        f"Or stop this (Ctrl-C) and grade in this process: manage.py grading_job {job.pk} run"
    )


def run_here(jobs: Iterable[GradingJob]) -> None:
    """Grade in this process, without a worker. What a worker has in its hands already is left to it."""
    for job in jobs:
        try:
            while take_one_turn(job.pk, job.generation):
                pass
        except KeyboardInterrupt:
            later = f"a worker, or manage.py grading_job {job.pk} run, grades the rest."
            raise CommandError(f"Stopped. Job {job.pk} stays queued: {later}", returncode=130) from None
        job.refresh_from_db()
