"""The life of a grading job: estimated, started, paused, resumed, cancelled, queued again after a crash.

A job is the set of its pairs that miss a completion. Messages in the broker only wake workers up;
whatever happens to them, what is missing can be read from the tables.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from celery import current_app
from django.db import IntegrityError, transaction
from django.db.models import Count, F, Max, Q, QuerySet
from kombu.exceptions import OperationalError

from collection.models import Criterion, Item, Judgment, Study, User
from collection.models.studies import TaskType
from collection.task_types import RUBRIC_0_5
from judging.models import Completion, GradingChunk, GradingJob, Judge

logger = logging.getLogger(__name__)

# Pairs of a chunk: what one worker takes into its hands at once.
CHUNK_SIZE = 500
# How many messages, and so how many workers, a job gets at once. Each sends the next when its turn is over.
MESSAGES = 8
# Without a sign of life for so long, messages are taken to be lost.
PATIENCE = timedelta(seconds=45)
LONG_PATIENCE = timedelta(minutes=15)

REPORT_RATING = "report_rating"


class JudgeDoesNotFit(ValueError):
    """The judge was made for another task type or grades on another scale."""


class NothingToGrade(ValueError):
    """No pair is missing."""


class AlreadyUnderWay(Exception):
    """This judge is at work on this criterion."""


class WrongState(Exception):
    """A job in this state cannot do that."""


@dataclass(frozen=True)
class Estimate:
    """What a job would have to do. `seconds` is None where this judge has never worked."""

    pairs: int
    skipped: int
    seconds: float | None

    @property
    def minutes(self) -> float | None:
        return None if self.seconds is None else self.seconds / 60


def items_asked(criterion: Criterion) -> QuerySet[Item]:
    """Return the items of the study that this criterion is asked about."""
    return Item.objects.filter(study=criterion.study_id, task_type=criterion.task_type).exclude(element__masked=True)


def without_text(items: QuerySet[Item]) -> QuerySet[Item]:
    """Keep the items whose text is not held here: no judge can see them."""
    return items.filter(passage__isnull=False, passage__text__isnull=True)


def missing(items: QuerySet[Item], *, criterion: Criterion, judge: Judge, attempt: int) -> QuerySet[Item]:
    """Keep the items that have no completion of this attempt by the judge."""
    done = Completion.objects.filter(criterion=criterion, judge=judge, attempt=attempt)
    return items.exclude(pk__in=done.values("item"))


def estimate(*, criterion: Criterion, judge: Judge) -> Estimate:
    """Count what a job would grade, and how long the judge took for as much before. Raises JudgeDoesNotFit."""
    _check_fit(judge, criterion)
    asked = missing(items_asked(criterion), criterion=criterion, judge=judge, attempt=1)
    skipped = without_text(asked).count()
    pairs = asked.count() - skipped
    last = GradingJob.objects.filter(judge=judge, state=GradingJob.State.DONE, started_at__isnull=False).first()
    seconds = None
    if last and last.finished_at and last.started_at and last.done > last.done_at_start:
        pace = (last.finished_at - last.started_at).total_seconds() / (last.done - last.done_at_start)
        seconds = pace * pairs
    return Estimate(pairs=pairs, skipped=skipped, seconds=seconds)


def start_job(
    *,
    criterion: Criterion,
    judge: Judge,
    items: Iterable[int] | None = None,
    by: User | None,
    at: datetime,
) -> GradingJob:
    """Let the judge grade what it has not graded under this criterion, or of that only the `items` named by key.

    Raises JudgeDoesNotFit, NothingToGrade and AlreadyUnderWay.
    """
    _check_fit(judge, criterion)
    asked = items_asked(criterion)
    if items is not None:
        asked = asked.filter(pk__in=list(items))
    if not asked.exists():
        raise NothingToGrade(f"The study has no items for “{criterion.get_task_type_display()}”.")
    return _start(criterion=criterion, judge=judge, asked=asked, attempt=1, by=by, at=at)


def grade_again(*, job: GradingJob, kinds: Sequence[str] = (), by: User | None, at: datetime) -> GradingJob:
    """Start another attempt at what the job's judge left ungraded, or only at these kinds of it.

    Raises NothingToGrade and AlreadyUnderWay.
    """
    left = Judgment.objects.filter(
        criterion=job.criterion, rater=job.judge.rater_id, grade__isnull=True, item__study=job.study_id
    )
    if kinds:
        left = left.filter(ungraded__in=kinds)
    asked = items_asked(job.criterion).filter(pk__in=left.values("item"))
    attempts = Completion.objects.filter(criterion=job.criterion, judge=job.judge)
    latest = attempts.aggregate(latest=Max("attempt"))["latest"] or 0
    return _start(criterion=job.criterion, judge=job.judge, asked=asked, attempt=latest + 1, by=by, at=at)


@transaction.atomic
def _start(
    *, criterion: Criterion, judge: Judge, asked: QuerySet[Item], attempt: int, by: User | None, at: datetime
) -> GradingJob:
    asked = missing(asked, criterion=criterion, judge=judge, attempt=attempt)
    unseen = without_text(asked)
    skipped = unseen.count()
    in_order = asked.exclude(pk__in=unseen.values("pk")).order_by("topic_id", "report_id", "passage_id", "element_id")
    ids = list(in_order.values_list("pk", flat=True))
    if not ids:
        raise NothingToGrade(
            f"{skipped} passages have no text here, and all others are graded."
            if skipped
            else f"“{judge}” has graded all of “{criterion}” already."
        )
    try:
        with transaction.atomic():
            job = GradingJob.objects.create(
                study_id=criterion.study_id,
                criterion=criterion,
                judge=judge,
                attempt=attempt,
                total=len(ids),
                skipped=skipped,
                created_by=by,
                created_at=at,
                queued_at=at,
            )
    except IntegrityError:
        raise AlreadyUnderWay(f"“{judge}” is at work on “{criterion}”, or paused in the middle of it.") from None
    GradingChunk.objects.bulk_create(
        GradingChunk(job=job, number=number, item_ids=ids[start : start + CHUNK_SIZE])
        for number, start in enumerate(range(0, len(ids), CHUNK_SIZE))
    )
    _send_messages(job)
    return job


def pause_job(*, job: GradingJob, reason: str = "") -> None:
    """Begin no more pairs; replies that are under way are kept. Raises WrongState."""
    _move(job, GradingJob.ACTIVE, "paused", state=GradingJob.State.PAUSED, reason=reason)


def resume_job(*, job: GradingJob, at: datetime) -> None:
    """Go on with what is missing. Raises WrongState."""
    with transaction.atomic():
        _move(
            job,
            [GradingJob.State.PAUSED],
            "resumed",
            state=GradingJob.State.QUEUED,
            queued_at=at,
            started_at=None,
            heartbeat_at=None,
            reason="",
        )
        job.chunks.filter(finished_at=None).update(holder="", leased_until=None)
        _send_messages(job)


def cancel_job(*, job: GradingJob, at: datetime) -> None:
    """Never begin another pair. What was graded stays; a new job grades the rest. Raises WrongState."""
    _move(
        job,
        [*GradingJob.ACTIVE, GradingJob.State.PAUSED],
        "cancelled",
        state=GradingJob.State.CANCELLED,
        finished_at=at,
    )


def finish_if_done(*, job: GradingJob, at: datetime) -> bool:
    """Close the job if no chunk is left, with counts that are read from its completions. Returns whether it did."""
    if job.chunks.filter(finished_at=None).exists():
        return False
    counts = job.completions.aggregate(
        graded=Count("pk", filter=Q(ungraded="")), ungraded=Count("pk", filter=~Q(ungraded=""))
    )
    return bool(
        GradingJob.objects.filter(pk=job.pk, state__in=GradingJob.ACTIVE).update(
            state=GradingJob.State.DONE, finished_at=at, heartbeat_at=at, **counts
        )
    )


def requeue_stalled_jobs(*, at: datetime, patience: timedelta = PATIENCE) -> list[GradingJob]:
    """Send messages again for jobs whose messages or workers are lost. Returns those jobs.

    The evidence: a lease that ran out, or a holder on this machine that is no more; or nothing was
    heard of any job for as long as `patience`; or not of this one for very long.
    """
    free_chunks_of_the_dead(at=at)
    quiet = at - patience
    all_quiet = not GradingJob.objects.active().filter(heartbeat_at__gt=quiet).exists()
    requeued = []
    for job in GradingJob.objects.active().select_related("judge", "criterion"):
        if finish_if_done(job=job, at=at):
            continue
        chunks = job.chunks.filter(finished_at=None)
        orphaned = chunks.filter(leased_until__lt=at).update(holder="", leased_until=None)
        lost = all_quiet and job.queued_at <= quiet
        forgotten = max(job.queued_at, job.heartbeat_at or job.queued_at) < at - LONG_PATIENCE
        if not (orphaned or lost or forgotten) or not chunks.filter(leased_until=None).exists():
            continue
        unchanged = GradingJob.objects.active().filter(pk=job.pk, generation=job.generation)
        if unchanged.update(generation=F("generation") + 1, queued_at=at):
            job.refresh_from_db()
            _send_messages(job)
            requeued.append(job)
    return requeued


def holder_name(process_token: str) -> str:
    """Return how this process signs the chunks it holds: machine, process, and a token for this life of it."""
    return f"{socket.gethostname()}:{os.getpid()}:{process_token}"


def free_chunks_of_the_dead(*, at: datetime) -> int:
    """Give back what processes of this machine held when they were killed, without waiting for the lease to end."""
    here = f"{socket.gethostname()}:"
    held = GradingChunk.objects.filter(finished_at=None, holder__startswith=here)
    dead = [
        holder
        for holder in held.order_by().values_list("holder", flat=True).distinct()
        if not _alive(int(holder.removeprefix(here).partition(":")[0]))
    ]
    # Left in the past, not empty: that tells `requeue_stalled_jobs` that somebody died.
    return held.filter(holder__in=dead).update(leased_until=at - timedelta(seconds=1))


def add_report_rating(study: Study) -> Criterion:
    """Return the criterion under which reports are rated 0–5 against their sub-questions, made if new.

    Only judges grade it; at η = 3 it is compared with what people found answerable.
    """
    criterion, _ = Criterion.objects.get_or_create(
        study=study,
        name=REPORT_RATING,
        defaults={
            "task_type": TaskType.ANSWERABILITY,
            "question": "How well does the report answer this question?",
            "scale": RUBRIC_0_5.stored(),
            "threshold": 3,
            "position": (study.criteria.aggregate(last=Max("position"))["last"] or 0) + 1,
        },
    )
    return criterion


def _check_fit(judge: Judge, criterion: Criterion) -> None:
    if judge.task_type != criterion.task_type:
        raise JudgeDoesNotFit(
            f"“{judge}” is for “{judge.get_task_type_display()}”; the criterion “{criterion}” is of "
            f"“{criterion.get_task_type_display()}”."
        )
    if judge.scale_id != criterion.scale_id:
        raise JudgeDoesNotFit(
            f"“{judge}” grades on the scale “{judge.scale}”; the criterion “{criterion}” has “{criterion.scale}”."
        )


def _move(job: GradingJob, states: Iterable[str], done: str, **fields: object) -> None:
    """Change the state in one statement, so that of two who try one wins, and void the messages that are on the way."""
    moved = GradingJob.objects.filter(pk=job.pk, state__in=list(states)).update(
        generation=F("generation") + 1, **fields
    )
    job.refresh_from_db()
    if not moved:
        raise WrongState(f"This job is {job.get_state_display()}: it cannot be {done}.")


def _send_messages(job: GradingJob) -> None:
    """Wake workers up when the transaction is through."""
    pk, generation = job.pk, job.generation
    messages = min(job.chunks.filter(finished_at=None).count(), MESSAGES)
    transaction.on_commit(lambda: _send(pk, generation, messages))


def _send(pk: int, generation: int, messages: int) -> None:
    try:
        for _ in range(messages):
            current_app.send_task("judging.grade", args=[pk, generation], retry=False)
    except OperationalError:
        # The job is in the database; the next look for stalled jobs sends them.
        logger.warning("The broker does not answer; job %s waits until it does.", pk, exc_info=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
