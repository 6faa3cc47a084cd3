"""What the commands that wait for jobs and builds share: progress, a word when no worker comes, and the work done here.

What is worked on here is in the hands of one at a time, this process or a worker: another's work is waited for, and
taken over when its lease is over.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.core.management.base import CommandError, OutputWrapper
from django.db.models import Count
from django.utils.timezone import now
from tqdm import tqdm

from collection.signs_of_life import lately
from judging.building.calls import step_of
from judging.building.chain.following import waits
from judging.celery_tasks import take_one_build_turn, take_one_turn
from judging.models import Build, GradingJob

LOOK_SECONDS = 0.5
SAY_SO_SECONDS = 5.0
GIVE_UP_SECONDS = 60.0
# A worker that has anything to do says so at least this often.
SIGN_OF_LIFE = timedelta(seconds=30)


def wait_for(job: GradingJob, *, errors: OutputWrapper, here: bool = False) -> None:
    """Show progress until the job is done, graded by workers or, without any, `here`.

    Raises CommandError with the reason if it is paused or cancelled, and with exit status 75 (“try again later”) if no
    worker comes.
    """
    began, said = time.monotonic(), False
    later = f"Job {job.pk} stays queued: a worker, or manage.py job control {job.pk} run, grades the rest."
    with _ended_by_hand(later), tqdm(total=job.total, initial=job.done, unit=" pairs") as bar:
        while job.active:
            worked = here and take_one_turn(job.pk, job.generation)
            job.refresh_from_db()
            if job.active and not worked:
                time.sleep(LOOK_SECONDS)
                job.refresh_from_db()
            bar.update(job.done - bar.n)
            if here or not nobody_works(job):
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
    if job.state != GradingJob.State.DONE:
        raise CommandError(f"Job {job.pk} is {job.get_state_display()}. {job.reason}".strip())


def nobody_works(job: GradingJob) -> bool:
    """Whether the job waits and no worker of its queue was heard of: one that is busy takes it after its turn."""
    if job.state != GradingJob.State.QUEUED:
        return False
    alive = GradingJob.objects.active().filter(heartbeat_at__range=lately(now(), SIGN_OF_LIFE)).select_related("judge")
    return all(other.judge.queue != job.judge.queue for other in alive)


def remedy(job: GradingJob) -> str:
    queues = job.judge.queue or "celery"
    return (
        f"No worker answers. Start one: make run, or\n"
        f"  celery -A config worker --pool threads --concurrency 2 --queues {queues}\n"
        f"Or stop this (Ctrl-C) and grade in this process: manage.py job control {job.pk} run"
    )


def write_here(build: Build) -> None:
    """Show progress until the build is done, with what follows it begun, or stands still; write here what is free."""
    with _ended_by_hand(f"Build {build.pk} stays queued: a worker writes the rest."), tqdm(unit=" calls") as bar:
        build.refresh_from_db()
        while build.active or waits(build):
            worked = take_one_build_turn(build.pk, build.generation)
            build.refresh_from_db()
            if not worked and (build.active or waits(build)):
                time.sleep(LOOK_SECONDS)
                build.refresh_from_db()
            calls = build.calls.filter(set_aside=False).aggregate(all=Count("pk"), done=Count("finished_at"))
            bar.total = calls["all"]
            bar.set_description(step_of(build).label, refresh=False)
            bar.update(calls["done"] - bar.n)


@contextmanager
def _ended_by_hand(later: str) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise CommandError(f"Stopped. {later}", returncode=130) from None
