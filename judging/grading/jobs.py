"""The life of a grading job: started, paused, resumed, cancelled, finished.

A job is the set of its pairs that miss a completion. Messages in the broker only wake workers up;
whatever happens to them, what is missing can be read from the tables.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F, Max, QuerySet

from collection.models import Criterion, Item, Judgment, User
from collection.questions.shapes import title_of
from collection.scales import difference_in_words
from judging.data.selection import Selection, as_stored, check_selection, drawn, items_asked, narrowed, without_text
from judging.engines.servers import on_own_servers, prices_of
from judging.engines.token_quotas import check_quota, quota_of_job
from judging.grading.completions import counts_of
from judging.grading.drift import choose_anchor_items, confirm_drift
from judging.grading.notify import MESSAGES, send_messages
from judging.grading.spending import spent
from judging.models import Build, Completion, GradingChunk, GradingJob, Judge

# Pairs of a chunk: what one worker takes into its hands at once.
CHUNK_SIZE = 500
LEAST_CHUNK = 50
UNDER_WAY = "“{}” already has a running or paused job on “{}”."


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
class JobLimits:
    """What a job, or a build with all that follows it, may spend; limits pause it.

    Prices are for a million tokens, of prompts and of replies; minutes count from the start.
    """

    price_in: float | None = None
    price_out: float | None = None
    token_limit: int | None = None
    cost_limit: float | None = None
    call_limit: int | None = None
    minutes_limit: float | None = None


def priced(terms: JobLimits, writer: Judge | Build, by: User | None) -> JobLimits:
    """Return the terms with the prices of the servers that the judge or build asks, where no price is given."""
    if terms.price_in is not None or terms.price_out is not None:
        return terms
    price_in, price_out = prices_of(writer, by)
    return replace(terms, price_in=price_in, price_out=price_out)


def missing(items: QuerySet[Item], *, criterion: Criterion, judge: Judge, attempt: int) -> QuerySet[Item]:
    """Keep the items that have no completion of this attempt by the judge."""
    done = Completion.objects.filter(criterion=criterion, judge=judge, attempt=attempt)
    return items.exclude(pk__in=done.values("item"))


def check_fit(judge: Judge, criterion: Criterion) -> None:
    """Raise JudgeDoesNotFit if the judge is of another task type or scale, shows others' texts, or asks no model."""
    if judge.engine == Judge.Engine.ENSEMBLE:
        raise JudgeDoesNotFit(f"“{judge}” is an ensemble: it is combined from its members’ grades, and asks no model.")
    if judge.examples_from and judge.examples_from.collection_id != criterion.study.collection_id:
        raise JudgeDoesNotFit(f"“{judge}” has examples from another collection: it can grade only that collection.")
    if judge.task_type != criterion.task_type:
        raise JudgeDoesNotFit(
            f"“{judge}” is for “{title_of(judge.task_type)}”; the criterion “{criterion}” is of "
            f"“{title_of(criterion.task_type)}”."
        )
    if judge.scale_id != criterion.scale_id:
        raise JudgeDoesNotFit(
            f"“{judge}” grades on a different scale from the criterion “{criterion}”. "
            f"The judge’s “{judge.scale}”: {difference_in_words(judge.scale, criterion.scale)}"
        )
    if judge.measures_another(criterion):
        raise JudgeDoesNotFit(
            f"“{judge}” measures “{judge.criterion_name}” and nothing else; the criterion is “{criterion}”."
        )


def check_not_under_way(judge: Judge, criterion: Criterion) -> None:
    """Raise AlreadyUnderWay where the judge has a job under the criterion that is not over."""
    if GradingJob.objects.filter(judge=judge, criterion=criterion.pk).exclude(state__in=GradingJob.OVER).exists():
        raise AlreadyUnderWay(UNDER_WAY.format(judge, criterion))


def start_job(
    *,
    criterion: Criterion,
    judge: Judge,
    items: Iterable[int] | None = None,
    selection: Selection = Selection(),  # noqa: B008  # immutable
    terms: JobLimits = JobLimits(),
    away: str = "",
    follows: Build | None = None,
    by: User | None,
    at: datetime,
) -> GradingJob:
    """Let the judge grade what it has not graded under this criterion, or a selection of it, or the `items` by key.

    One that `follows` a build is a link of its chain, and has its limits. A job that is `away` at this batch service
    is for no worker: its requests are written to a file, and the replies are read from one.
    Raises JudgeDoesNotFit, NoSuchPart, NothingToGrade, AlreadyUnderWay and QuotaSpent.
    """
    check_fit(judge, criterion)
    if away and not judge.reads_prompts:
        raise JudgeDoesNotFit(f"“{judge}” uses no prompt, so it cannot be sent to a batch service.")
    check_selection(criterion.study, selection)
    asked = narrowed(items_asked(criterion), selection, criterion)
    if items is not None:
        asked = asked.filter(pk__in=list(items))
    if not asked.exists():
        missing_grades = selection.without_grade_by or selection.graded_by_no_judge
        why = " Every item has a grade." if missing_grades else ""
        raise NothingToGrade(f"The study has no such items for “{title_of(criterion.task_type)}”.{why}")
    return _start(
        criterion=criterion, judge=judge, asked=asked, attempt=1, by=by, at=at, selection=selection, terms=terms,
        away=away, follows=follows,
    )  # fmt: skip


@transaction.atomic
def start_jobs(
    *,
    criterion: Criterion,
    judges: Sequence[Judge],
    selection: Selection = Selection(),  # noqa: B008  # immutable
    terms: JobLimits = JobLimits(),
    away: str = "",
    by: User | None,
    at: datetime,
) -> list[GradingJob]:
    """Start a job for each judge, or none. Raises what `start_job` raises, and AlreadyUnderWay for one named twice."""
    if twice := [judge for judge, n in Counter(judges).items() if n > 1]:
        raise AlreadyUnderWay(f"“{twice[0]}” is named twice. No job was started.")
    return [
        start_job(criterion=criterion, judge=judge, selection=selection, terms=terms, away=away, by=by, at=at)
        for judge in judges
    ]


def grade_again(*, job: GradingJob, kinds: Sequence[str] = (), by: User | None, at: datetime) -> GradingJob:
    """Start another attempt at what the job's judge left ungraded, or only at these kinds of it, in the job's chain.

    Raises NothingToGrade, AlreadyUnderWay and QuotaSpent.
    """
    left = Judgment.objects.filter(
        criterion=job.criterion, rater=job.judge.rater_id, grade__isnull=True, item__study=job.study_id
    )
    if kinds:
        left = left.filter(ungraded__in=kinds)
    asked = items_asked(job.criterion).filter(pk__in=left.values("item"))
    attempts = Completion.objects.filter(criterion=job.criterion, judge=job.judge)
    latest = attempts.aggregate(latest=Max("attempt"))["latest"] or 0
    terms = JobLimits(price_in=job.price_in, price_out=job.price_out)
    return _start(
        criterion=job.criterion, judge=job.judge, asked=asked, attempt=latest + 1, by=by, at=at, terms=terms,
        away=job.selection.get("service", ""), follows=job.build,
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
    terms: JobLimits = JobLimits(),
    away: str = "",
    follows: Build | None = None,
) -> GradingJob:
    if not away:
        check_quota(judge, by, at=at)
    asked = missing(asked, criterion=criterion, judge=judge, attempt=attempt)
    unseen = without_text(asked)
    skipped = unseen.count()
    in_order = asked.exclude(pk__in=unseen.values("pk")).order_by(*order_of_work(judge))
    found = list(in_order.values_list("pk", flat=True))
    if not found:
        raise NothingToGrade(
            f"{skipped} passages have no text, and all others are graded."
            if skipped
            else f"“{judge}” has graded all of “{criterion}” already."
        )
    ids = drawn(found, selection)
    choose_anchor_items(criterion, ids, at=at)
    try:
        with transaction.atomic():
            job = GradingJob.objects.create(
                study_id=criterion.study_id,
                criterion=criterion,
                judge=judge,
                build=follows,
                attempt=attempt,
                state=GradingJob.State.AWAY if away else GradingJob.State.QUEUED,
                selection=as_stored(selection, of=len(found)) | ({"service": away} if away else {}),
                total=len(ids),
                skipped=skipped,
                own_servers=not away and judge.engine == Judge.Engine.OPENAI and on_own_servers(judge.model, by),
                created_by=by,
                created_at=at,
                queued_at=at,
                **asdict(terms if away else priced(terms, judge, by)),
            )
    except IntegrityError:
        raise AlreadyUnderWay(UNDER_WAY.format(judge, criterion)) from None
    size = min(CHUNK_SIZE, max(LEAST_CHUNK, math.ceil(len(ids) / MESSAGES)))
    GradingChunk.objects.bulk_create(
        GradingChunk(job=job, number=number, item_ids=ids[start : start + size])
        for number, start in enumerate(range(0, len(ids), size))
    )
    if job.active:
        send_messages(job)
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
    """Pause the job; replies in progress are kept. Raises WrongState."""
    _move(job, GradingJob.ACTIVE, "paused", state=GradingJob.State.PAUSED, reason=reason, pause_cause=cause)


def resume_job(*, job: GradingJob, terms: JobLimits | None = None, by: User | None = None, at: datetime) -> None:
    """Go on with what is missing, under other terms if there are.

    A job that paused because most replies were ungraded goes on whatever they are; one that waits after
    a check of the anchor items takes this for the consent to mix the grades. Raises WrongState, and
    LimitReached if what it may spend is spent.
    """
    with transaction.atomic():
        locked = GradingJob.objects.select_for_update().get(pk=job.pk)
        changes = asdict(terms) if terms else {}
        if locked.own_servers and by is not None and by != locked.created_by:
            raise LimitReached("It asks servers of the person who started it, who alone can resume it.")
        if changes and locked.build_id:
            prices = {name: changes.pop(name) for name in ("price_in", "price_out")}
            Build.objects.filter(pk=locked.build_id).update(**changes)
            changes = prices
        for name, value in changes.items():
            setattr(locked, name, value)
        if reached := limit_reached(locked, at=at):
            more = "" if reached[1] == GradingJob.Cause.QUOTA else " Raise it to go on."
            raise LimitReached(f"{reached[0]}{more}")
        if locked.pause_cause == GradingJob.Cause.DRIFT:
            confirm_drift(job=locked, by=by, at=at)
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
        send_messages(job)


def limit_reached(job: GradingJob, *, at: datetime) -> tuple[str, GradingJob.Cause] | None:
    """Return why the job may spend no more, if it may not: its own limits, or the quota of whoever started it."""
    if reached := spent(job, quota_of_job(job, at=at), at=at):
        return reached[0], GradingJob.Cause(reached[1])
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


def _move(job: GradingJob, states: Iterable[str], done: str, **fields: object) -> None:
    """Change the state in one statement, so that of two who try one wins, and void the messages that are on the way."""
    moved = GradingJob.objects.filter(pk=job.pk, state__in=list(states)).update(
        generation=F("generation") + 1, **fields
    )
    job.refresh_from_db()
    if not moved:
        raise WrongState(f"This job is {job.get_state_display()}: it cannot be {done}.")
