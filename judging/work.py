"""What a worker does when it is woken up: takes a chunk of the job, grades what is missing, writes it down.

A chunk is leased to one worker at a time; the unique constraint on completions is the proof that no
pair is graded twice, whatever else goes wrong.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import DatabaseError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils.timezone import now

from collection.models import Item, Judgment
from collection.services import add_judgments, keep_earlier
from judging.engines import Engine, EngineUnavailable, GradeRequest, Reply
from judging.grading import WrongState, finish_if_done, holder_name, missing, pause_job
from judging.judges import request_for
from judging.models import Completion, GradingChunk, GradingJob, Judge
from judging.replies import expected_grade, read_reply

logger = logging.getLogger(__name__)

# A turn is short, so that several jobs share the workers.
TURN_SECONDS = 15.0
# Replies are written when there are so many, or when the oldest has waited so long.
WRITE_AFTER_REPLIES = 500
WRITE_AFTER_SECONDS = 1.0
LEASE = timedelta(seconds=45)
RENEW_SECONDS = 10.0
# So many engine errors in a row pause the job: something is wrong that more requests will not mend.
ENGINE_ERRORS_IN_A_ROW = 20

PROCESS_TOKEN = secrets.token_hex(4)


def take_turn(
    *,
    job_id: int,
    generation: int,
    engine_for: Callable[[Judge], Engine],
    stopping: Callable[[], bool] = lambda: False,
    seconds: float = TURN_SECONDS,
) -> bool:
    """Grade chunk after chunk of the job for so long. Returns whether to come back for more.

    A job that cannot go on is paused with the reason. Errors of the database are raised: the job is
    then found stalled, and queued again.
    """
    job = (
        GradingJob.objects.active()
        .filter(pk=job_id, generation=generation)
        .select_related("judge__template", "judge__scale", "judge__rater", "criterion__scale")
        .first()
    )
    if job is None:
        return False
    holder = f"{holder_name(PROCESS_TOKEN)}:{threading.get_ident()}"
    until = time.monotonic() + seconds

    def over() -> bool:
        return stopping() or time.monotonic() >= until

    try:
        engine = engine_for(job.judge)
        while not over():
            chunk = claim_chunk(job, holder=holder, at=now())
            if chunk is None:
                finish_if_done(job=job, at=now())
                return False
            with _lease(chunk, holder=holder):
                grade_chunk(job, chunk, engine, over=over)
            if not _still_active(job):
                return False
    except DatabaseError:
        raise
    except Exception as error:
        if not isinstance(error, EngineUnavailable):
            logger.exception("Job %s cannot go on.", job.pk)
        reason = str(error) if isinstance(error, EngineUnavailable) else f"{type(error).__name__}: {error}"
        _pause(job, reason)
        return False
    return not finish_if_done(job=job, at=now())


def claim_chunk(job: GradingJob, *, holder: str, at: datetime) -> GradingChunk | None:
    """Lease the job's first free chunk. Each is claimed in one statement, so two workers never get the same."""
    free = Q(finished_at=None) & (Q(leased_until=None) | Q(leased_until__lt=at))
    for chunk in job.chunks.filter(free).order_by("number")[:64]:
        leased = {"holder": holder, "leased_until": at + LEASE}
        if GradingChunk.objects.filter(free, pk=chunk.pk).update(**leased):
            GradingJob.objects.active().filter(pk=job.pk).update(state=GradingJob.State.RUNNING, heartbeat_at=at)
            GradingJob.objects.filter(pk=job.pk, started_at=None).update(
                started_at=at, done_at_start=F("graded") + F("ungraded")
            )
            return chunk
    return None


def grade_chunk(job: GradingJob, chunk: GradingChunk, engine: Engine, *, over: Callable[[], bool]) -> None:
    """Grade what is missing of the chunk until it is done, the turn is over or the job is paused."""
    enough = threading.Event()
    errors_in_a_row = 0
    waiting: list[tuple[GradeRequest, Reply]] = []
    written_at = time.monotonic()
    requests = [request_for(job.judge, item) for item in missing_of(job, chunk)]
    try:
        for request, reply in engine.grade(requests, stopping=lambda: enough.is_set() or over()):
            waiting.append((request, reply))
            errors_in_a_row = errors_in_a_row + 1 if reply.ungraded == Judgment.Ungraded.ENGINE_ERROR else 0
            if errors_in_a_row == ENGINE_ERRORS_IN_A_ROW:
                _pause(job, f"{errors_in_a_row} engine errors in a row, the last: {reply.error}")
                enough.set()
            if len(waiting) >= WRITE_AFTER_REPLIES or time.monotonic() - written_at >= WRITE_AFTER_SECONDS:
                write_replies(job, waiting, at=now())
                waiting, written_at = [], time.monotonic()
                if not _still_active(job):
                    enough.set()
    finally:
        write_replies(job, waiting, at=now())
    if not left_of(job, chunk).exists():
        GradingChunk.objects.filter(pk=chunk.pk).update(finished_at=now())


def left_of(job: GradingJob, chunk: GradingChunk) -> QuerySet[Item]:
    """Return the chunk's items that miss this attempt's completion."""
    items = Item.objects.filter(pk__in=chunk.item_ids)
    return missing(items, criterion=job.criterion, judge=job.judge, attempt=job.attempt)


def missing_of(job: GradingJob, chunk: GradingChunk) -> list[Item]:
    """Return the same in the chunk's order, with all that a prompt needs."""
    left = left_of(job, chunk).select_related("topic", "element", "passage", "report")
    by_key = {item.pk: item for item in left}
    return [by_key[pk] for pk in chunk.item_ids if pk in by_key]


@transaction.atomic
def write_replies(job: GradingJob, replies: Sequence[tuple[GradeRequest, Reply]], *, at: datetime) -> int:
    """Write completions and judgments, all or none; a pair that is done stays as it is. Returns how many were new.

    The job's row is locked meanwhile, so that its counts are those of its completions.
    """
    if not replies:
        return 0
    GradingJob.objects.select_for_update().get(pk=job.pk)
    done = set(
        Completion.objects.filter(
            criterion=job.criterion,
            judge=job.judge,
            attempt=job.attempt,
            item__in=[request.item_id for request, _ in replies],
        ).values_list("item_id", flat=True)
    )
    fresh = [completion_of(job, request, reply, at=at) for request, reply in replies if request.item_id not in done]
    Completion.objects.bulk_create(fresh, ignore_conflicts=True)
    judgments = [judgment_of(job, completion) for completion in fresh]
    if job.attempt > 1:
        _replace_ungraded(job, judgments, at=at)
    add_judgments(judgments)
    graded = sum(not completion.ungraded for completion in fresh)
    GradingJob.objects.filter(pk=job.pk).update(
        graded=F("graded") + graded, ungraded=F("ungraded") + len(fresh) - graded, heartbeat_at=at
    )
    return len(fresh)


def completion_of(job: GradingJob, request: GradeRequest, reply: Reply, *, at: datetime) -> Completion:
    """Read the reply and return its row."""
    values = job.judge.scale.values
    index, ungraded, error = read_reply(reply, request.choices)
    probabilities = dict(reply.log_probabilities) if reply.log_probabilities else None
    return Completion(
        job=job,
        judge=job.judge,
        item_id=request.item_id,
        criterion=job.criterion,
        attempt=job.attempt,
        grade=None if index is None else values[index],
        ungraded=ungraded,
        reply=reply.text,
        error=error,
        finish_reason=reply.finish_reason,
        score=reply.score,
        log_probabilities=probabilities,
        expected_grade=expected_grade(probabilities, request.choices, values) if probabilities else None,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        seconds=reply.seconds,
        engine_identity=reply.identity,
        completed_at=at,
    )


def judgment_of(job: GradingJob, completion: Completion) -> Judgment:
    """Return the narrow row of what was read."""
    return Judgment(
        item_id=completion.item_id,
        criterion=job.criterion,
        rater=job.judge.rater,
        grade=completion.grade,
        ungraded=completion.ungraded,
        judged_at=completion.completed_at,
    )


def _replace_ungraded(job: GradingJob, judgments: Sequence[Judgment], *, at: datetime) -> None:
    """Move the ungraded judgments of earlier attempts into the history, where new ones take their place."""
    stored = Judgment.objects.filter(
        criterion=job.criterion,
        rater=job.judge.rater,
        grade__isnull=True,
        item__in=[judgment.item_id for judgment in judgments],
    )
    for judgment in stored:
        keep_earlier(judgment, at=at, reason=f"attempt {job.attempt}")
    stored.delete()


@contextmanager
def _lease(chunk: GradingChunk, *, holder: str) -> Iterator[None]:
    """Renew the lease as long as this process lives and is at work; give the chunk back at the end."""
    finished = threading.Event()

    def renew() -> None:
        while not finished.wait(RENEW_SECONDS):
            try:
                at = now()
                GradingChunk.objects.filter(pk=chunk.pk, holder=holder).update(leased_until=at + LEASE)
                GradingJob.objects.filter(pk=chunk.job_id).update(heartbeat_at=at)
            except DatabaseError:
                logger.warning("The lease on chunk %s was not renewed.", chunk.pk, exc_info=True)
        connection.close()

    renewer = threading.Thread(target=renew, name=f"lease-{chunk.pk}", daemon=True)
    renewer.start()
    try:
        yield
    finally:
        finished.set()
        renewer.join()
        GradingChunk.objects.filter(pk=chunk.pk, holder=holder).update(holder="", leased_until=None)


def _still_active(job: GradingJob) -> bool:
    return GradingJob.objects.active().filter(pk=job.pk, generation=job.generation).exists()


def _pause(job: GradingJob, reason: str) -> None:
    try:
        pause_job(job=job, reason=reason)
    except WrongState:
        logger.info("Job %s is no longer active.", job.pk)
