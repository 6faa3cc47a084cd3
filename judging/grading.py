"""The life of a grading job: estimated, started, paused, resumed, cancelled, queued again after a crash.

A job is the set of its pairs that miss a completion. Messages in the broker only wake workers up;
whatever happens to them, what is missing can be read from the tables.
"""

from __future__ import annotations

import logging
import math
import os
import socket
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from celery import current_app
from django.db import IntegrityError, transaction
from django.db.models import F, Max, QuerySet
from kombu.exceptions import OperationalError

from collection.models import Criterion, Item, Judgment, Study, User
from collection.models.studies import TaskType
from collection.task_types import RUBRIC_0_5
from judging.models import Completion, GradingChunk, GradingJob, Judge
from judging.selections import Selection, as_stored, check_selection, drawn, items_asked, narrowed, without_text
from judging.sentinels import choose_sentinels, confirm_shift
from judging.writing import counts_of

logger = logging.getLogger(__name__)

# Pairs of a chunk: what one worker takes into its hands at once.
CHUNK_SIZE = 500
LEAST_CHUNK = 50
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


class LimitReached(Exception):
    """The job has spent what it may."""


class WrongState(Exception):
    """A job in this state cannot do that."""


@dataclass(frozen=True)
class Terms:
    """What a job may spend. Prices are for a million tokens, of prompts and of replies; limits pause it."""

    price_in: float | None = None
    price_out: float | None = None
    token_limit: int | None = None
    cost_limit: float | None = None


def missing(items: QuerySet[Item], *, criterion: Criterion, judge: Judge, attempt: int) -> QuerySet[Item]:
    """Keep the items that have no completion of this attempt by the judge."""
    done = Completion.objects.filter(criterion=criterion, judge=judge, attempt=attempt)
    return items.exclude(pk__in=done.values("item"))


def check_fit(judge: Judge, criterion: Criterion) -> None:
    """Raise JudgeDoesNotFit if the judge is of another task type or scale, shows others' texts, or asks no model."""
    if judge.engine == Judge.Engine.ENSEMBLE:
        raise JudgeDoesNotFit(f"“{judge}” is an ensemble: it is combined of its members’ grades, and asks no model.")
    if judge.examples_from and judge.examples_from.collection_id != criterion.study.collection_id:
        raise JudgeDoesNotFit(f"“{judge}” shows examples of another collection: it is for that one alone.")
    if judge.task_type != criterion.task_type:
        raise JudgeDoesNotFit(
            f"“{judge}” is for “{judge.get_task_type_display()}”; the criterion “{criterion}” is of "
            f"“{criterion.get_task_type_display()}”."
        )
    if judge.scale_id != criterion.scale_id:
        raise JudgeDoesNotFit(
            f"“{judge}” grades on the scale “{judge.scale}”; the criterion “{criterion}” has “{criterion.scale}”."
        )


def start_job(
    *,
    criterion: Criterion,
    judge: Judge,
    items: Iterable[int] | None = None,
    selection: Selection = Selection(),  # noqa: B008  # immutable
    terms: Terms = Terms(),
    away: str = "",
    by: User | None,
    at: datetime,
) -> GradingJob:
    """Let the judge grade what it has not graded under this criterion, or a selection of it, or the `items` by key.

    A job that is `away` at this batch service is for no worker: its requests are written to a file, and the
    replies are read from one.
    Raises JudgeDoesNotFit, NoSuchPart, NothingToGrade and AlreadyUnderWay.
    """
    check_fit(judge, criterion)
    check_selection(criterion.study, selection)
    asked = narrowed(items_asked(criterion), selection)
    if items is not None:
        asked = asked.filter(pk__in=list(items))
    if not asked.exists():
        raise NothingToGrade(f"The study has no such items for “{criterion.get_task_type_display()}”.")
    return _start(
        criterion=criterion, judge=judge, asked=asked, attempt=1, by=by, at=at, selection=selection, terms=terms,
        away=away,
    )  # fmt: skip


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
    terms = Terms(price_in=job.price_in, price_out=job.price_out)
    return _start(
        criterion=job.criterion, judge=job.judge, asked=asked, attempt=latest + 1, by=by, at=at, terms=terms,
        away=job.selection.get("service", ""),
    )  # fmt: skip


@transaction.atomic
def _start(
    *,
    criterion: Criterion,
    judge: Judge,
    asked: QuerySet[Item],
    attempt: int,
    by: User | None,
    at: datetime,
    selection: Selection = Selection(),  # noqa: B008  # immutable
    terms: Terms = Terms(),
    away: str = "",
) -> GradingJob:
    asked = missing(asked, criterion=criterion, judge=judge, attempt=attempt)
    unseen = without_text(asked)
    skipped = unseen.count()
    in_order = asked.exclude(pk__in=unseen.values("pk")).order_by(*order_of_work(judge))
    found = list(in_order.values_list("pk", flat=True))
    if not found:
        raise NothingToGrade(
            f"{skipped} passages have no text here, and all others are graded."
            if skipped
            else f"“{judge}” has graded all of “{criterion}” already."
        )
    ids = drawn(found, selection)
    choose_sentinels(criterion, ids, at=at)
    try:
        with transaction.atomic():
            job = GradingJob.objects.create(
                study_id=criterion.study_id,
                criterion=criterion,
                judge=judge,
                attempt=attempt,
                state=GradingJob.State.AWAY if away else GradingJob.State.QUEUED,
                selection=as_stored(selection, of=len(found)) | ({"service": away} if away else {}),
                total=len(ids),
                skipped=skipped,
                created_by=by,
                created_at=at,
                queued_at=at,
                **asdict(terms),
            )
    except IntegrityError:
        raise AlreadyUnderWay(f"“{judge}” is at work on “{criterion}”, or paused in the middle of it.") from None
    size = min(CHUNK_SIZE, max(LEAST_CHUNK, math.ceil(len(ids) / MESSAGES)))
    GradingChunk.objects.bulk_create(
        GradingChunk(job=job, number=number, item_ids=ids[start : start + size])
        for number, start in enumerate(range(0, len(ids), size))
    )
    if job.active:
        _send_messages(job)
    return job


def order_of_work(judge: Judge) -> tuple[str, ...]:
    """Return the order in which items are asked: those whose prompts begin alike one after the other.

    A server with a prefix cache then reads what they share once. Where the template puts the question
    before the text, the question is what they share.
    """
    by_text = ("topic_id", "report_id", "other_report_id", "passage_id", "element_id")
    if judge.template is None:
        return by_text
    prompt = judge.template.text
    text = prompt.find("{text}")
    asked = [place for name in ("{question}", "{key_point}", "{nugget}") if (place := prompt.find(name)) >= 0]
    if asked and text > min(asked):
        return ("topic_id", "element_id", "report_id", "other_report_id", "passage_id")
    return by_text


def pause_job(*, job: GradingJob, reason: str = "", cause: str = "") -> None:
    """Begin no more pairs; replies that are under way are kept. Raises WrongState."""
    _move(job, GradingJob.ACTIVE, "paused", state=GradingJob.State.PAUSED, reason=reason, pause_cause=cause)


def resume_job(*, job: GradingJob, terms: Terms | None = None, by: User | None = None, at: datetime) -> None:
    """Go on with what is missing, under other terms if there are.

    A job that paused because most replies were ungraded goes on whatever they are; one that waits after
    a look at the sentinel items takes this for the consent to mix the grades. Raises WrongState, and
    LimitReached if what it may spend is spent.
    """
    with transaction.atomic():
        locked = GradingJob.objects.select_for_update().get(pk=job.pk)
        changes = asdict(terms) if terms else {}
        for name, value in changes.items():
            setattr(locked, name, value)
        if reached := limit_reached(locked):
            raise LimitReached(f"{reached[0]} Raise it to go on.")
        if locked.pause_cause == GradingJob.Cause.SENTINELS:
            confirm_shift(job=locked, by=by, at=at)
        if locked.pause_cause == GradingJob.Cause.UNGRADED:
            changes["goes_on_ungraded"] = True
        _move(
            job,
            [GradingJob.State.PAUSED],
            "resumed",
            state=GradingJob.State.QUEUED,
            queued_at=at,
            started_at=None,
            heartbeat_at=None,
            reason="",
            pause_cause="",
            **changes,
        )
        job.chunks.filter(finished_at=None).update(holder="", leased_until=None)
        _send_messages(job)


def limit_reached(job: GradingJob) -> tuple[str, GradingJob.Cause] | None:
    """Return why the job may spend no more, if it may not."""
    if job.token_limit is not None and job.tokens >= job.token_limit:
        return f"{job.tokens:,} tokens are used; the limit is {job.token_limit:,}.", GradingJob.Cause.TOKENS
    if job.cost_limit is not None and (job.cost or 0) >= job.cost_limit:
        return f"It has cost {job.cost:,.2f}; the limit is {job.cost_limit:,.2f}.", GradingJob.Cause.COST
    return None


def cancel_job(*, job: GradingJob, at: datetime) -> None:
    """Never begin another pair. What was graded stays; a new job grades the rest. Raises WrongState."""
    _move(
        job,
        [*GradingJob.ACTIVE, GradingJob.State.PAUSED, GradingJob.State.AWAY],
        "cancelled",
        state=GradingJob.State.CANCELLED,
        finished_at=at,
    )


def finish_if_done(*, job: GradingJob, at: datetime) -> bool:
    """Close the job if no chunk is left, with counts that are read from its completions. Returns whether it did."""
    if job.chunks.filter(finished_at=None).exists():
        return False
    return bool(
        GradingJob.objects.filter(pk=job.pk, state__in=[*GradingJob.ACTIVE, GradingJob.State.AWAY]).update(
            state=GradingJob.State.DONE, finished_at=at, heartbeat_at=at, **counts_of(job)
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
    pk, generation, queue = job.pk, job.generation, job.judge.queue
    messages = min(job.chunks.filter(finished_at=None).count(), MESSAGES)
    transaction.on_commit(lambda: _send(pk, generation, messages, queue))


def _send(pk: int, generation: int, messages: int, queue: str | None) -> None:
    try:
        for _ in range(messages):
            current_app.send_task("judging.grade", args=[pk, generation], queue=queue, retry=False)
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
