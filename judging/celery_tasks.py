"""The Celery jobs: a turn of grading or of a build, and the look for those that are stalled."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.utils.timezone import now
from kombu.exceptions import OperationalError

from judging.building import worker as building
from judging.building.builds import requeue_stalled_builds
from judging.building.chain.following import follow, follow_those_that_wait, waits
from judging.engines import Engine
from judging.engines.probe_store import store_learnt
from judging.engines.registry import engine_of, writer_for
from judging.engines.token_quotas import quota_for, quota_of_job
from judging.grading.budget import budget_of, pause_if_spent, within
from judging.grading.recovery import PATIENCE, go_on_with_new_tokens, requeue_stalled_jobs
from judging.grading.worker import take_turn
from judging.gullibility import audit as gullibility
from judging.models import Build, GradingJob, GullibilityAudit, Judge
from judging.trial_runs import errands
from judging.wordings import wordings

logger = logging.getLogger(__name__)

LOOK_SECONDS = 15.0

_stopping = threading.Event()


@shared_task(name="judging.grade", ignore_result=True)
def grade(job_id: int, generation: int) -> None:
    """Grade for a turn, then queue up behind the others for the next one."""
    if take_one_turn(job_id, generation) and not _stopping.is_set():
        queue = Judge.objects.get(grading_jobs=job_id).queue
        to: dict[str, Any] = {"queue": queue} if queue else {}
        grade.apply_async((job_id, generation), **to)


def take_one_turn(job_id: int, generation: int) -> bool:
    """Grade for a turn, within what the job may spend. Returns whether to come back for more."""
    job = GradingJob.objects.active().filter(pk=job_id).first()
    if job is None or pause_if_spent(job):
        return False
    with budget_of(job) as of_job, budget_of(quota_of_job(job, at=now())) as of_researcher:

        def engine_for(judge: Judge) -> Engine:
            return within(engine_of(judge, by=job.created_by, own=job.own_servers), of_researcher, of_job)

        more = take_turn(job_id=job_id, generation=generation, engine_for=engine_for, stopping=_stopping.is_set)
    store_learnt(by=job.created_by, at=now())
    job.refresh_from_db()
    return more and not pause_if_spent(job)


@shared_task(name="judging.requeue_stalled", ignore_result=True)
def requeue_stalled(patience_seconds: float = PATIENCE.total_seconds()) -> None:
    """Find jobs and audits whose messages or workers are lost, or for which there are tokens again, and send them."""
    requeue_stalled_jobs(at=now(), patience=timedelta(seconds=patience_seconds))
    go_on_with_new_tokens(at=now())
    requeue_stalled_builds(at=now(), patience=timedelta(seconds=patience_seconds))
    follow_those_that_wait(at=now())
    for audit in GullibilityAudit.objects.filter(state=GullibilityAudit.State.RUNNING).select_related("judge"):
        gullibility.requeue_if_stalled(audit, at=now())


@shared_task(name="judging.audit_gullibility", ignore_result=True)
def audit_gullibility(pk: int) -> None:
    """Ask about planted texts for a turn, then queue up behind the others for the next one."""
    running = GullibilityAudit.objects.filter(pk=pk, state=GullibilityAudit.State.RUNNING)
    audit = running.select_related("judge__template", "judge__scale", "criterion__study", "started_by").first()
    if audit is None:
        return
    with budget_of(quota_for(audit.judge, audit.started_by, at=now())) as budget:

        def engine_for(judge: Judge) -> Engine:
            return within(engine_of(judge, by=audit.started_by), budget)

        more = gullibility.take_turn(audit, engine_for=engine_for, stopping=_stopping.is_set)
    if more and not _stopping.is_set():
        queue = audit.judge.queue
        to: dict[str, Any] = {"queue": queue} if queue else {}
        audit_gullibility.apply_async((pk,), **to)


@shared_task(name="judging.build", ignore_result=True)
def build(pk: int, generation: int) -> None:
    """Write for a turn, then queue up behind the others for the next one."""
    if take_one_build_turn(pk, generation) and not _stopping.is_set():
        queue = Build.objects.get(pk=pk).queue
        to: dict[str, Any] = {"queue": queue} if queue else {}
        build.apply_async((pk, generation), **to)


def take_one_build_turn(pk: int, generation: int) -> bool:
    """Write for a turn, within what the build may spend; then do what follows it. Returns whether to come back."""
    found = Build.objects.filter(pk=pk).select_related("created_by").first()
    if found is None:
        return False
    quota = quota_for(found, found.created_by, at=now())
    with budget_of(found) as of_build, budget_of(quota) as of_researcher:

        def engine_for(of: Build) -> Engine:
            return within(writer_for(of), of_researcher, of_build)

        more = building.take_turn(build_id=pk, generation=generation, engine_for=engine_for, stopping=_stopping.is_set)
    found.refresh_from_db()
    if waits(found):
        follow(found, at=now())
    return more


@shared_task(name="judging.work_on_errand", ignore_result=True)
def work_on_errand(pk: int) -> None:
    """Do a trial run or a probe."""
    errands.work_on(pk, at=now())


@shared_task(name="judging.word_a_nugget", ignore_result=True)
def word_a_nugget(pk: int) -> None:
    """Ask a judge for the words of a nugget."""
    wordings.work_on(pk, at=now())


@worker_ready.connect
def look_for_stalled_jobs(**_: Any) -> None:
    """Ask for a look at the worker's start, and every few seconds while it lives: there is no beat to lose."""
    requeue_stalled.delay(patience_seconds=0)
    threading.Thread(target=_keep_looking, name="look-for-stalled-jobs", daemon=True).start()


def _keep_looking() -> None:
    stopping = False
    while not stopping:
        stopping = _stopping.wait(LOOK_SECONDS)
        try:
            # The last one wakes the worker's loop, so that it stops at once and not at its next look at the broker.
            requeue_stalled.delay()
        except OperationalError:
            logger.warning("The broker does not answer.", exc_info=True)


@worker_shutting_down.connect
def stop_soon(**_: Any) -> None:
    """End turns after the replies that are under way. The embedded model's process ends with this one."""
    _stopping.set()
