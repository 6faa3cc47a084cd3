"""How what judges replied gets into the tables: in batches, all or none, every pair once.

Completions, judgments and the job's counts are written in one transaction, with the job's row and the
judge's locked, so that the counts are those of the completions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Count, Q, Sum

from collection.judgments.bulk import insert_rows, storable
from collection.judgments.services import Verdict, add_verdicts, withdraw_verdicts
from collection.models import Judgment
from judging.models import Completion, GradingJob, Judge
from judging.prompts.pairwise import note_orders


class ReadReply(NamedTuple):
    """A reply as it was read: what a completion tells of one item. Its names are the completion's fields."""

    item_id: int
    grade: float | None
    ungraded: str
    reply: str
    error: str
    finish_reason: str
    score: float | None
    log_probabilities: Mapping[str, float] | None
    expected_grade: float | None
    entropy: float | None
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None
    seconds: float | None
    engine_identity: str
    other_order: Mapping[str, Any] | None = None
    cut_texts: Mapping[str, int] | None = None
    thinking: str = ""
    thinking_tokens: int | None = None
    sent: Mapping[str, Any] | None = None


OF_THE_JOB = ("job_id", "judge_id", "criterion_id", "attempt", "completed_at")


@transaction.atomic
def write_read_replies(job: GradingJob, replies: Iterable[ReadReply], *, at: datetime) -> list[ReadReply]:
    """Write completions and judgments; a pair that is done stays as it is. Returns what was new.

    `job` has the new counts afterwards.
    """
    by_item: dict[int, ReadReply] = {}
    for reply in replies:
        by_item.setdefault(reply.item_id, reply)
    if not by_item:
        return []
    locked = GradingJob.objects.select_for_update(no_key=True).get(pk=job.pk)
    # Another job of this judge may still write: one that was cancelled, say, with replies under way.
    Judge.objects.select_for_update(no_key=True).filter(pk=job.judge_id).values_list("pk").first()
    fresh = _insert_completions(job, by_item, at=at)
    if job.attempt > 1:
        withdraw_verdicts(
            by_item,
            criterion=job.criterion,
            rater=job.judge.rater,
            only_ungraded=True,
            at=at,
            reason=f"attempt {job.attempt}",
        )
    add_verdicts(
        [Verdict(reply.item_id, reply.grade, reply.ungraded) for reply in fresh],
        criterion=job.criterion,
        rater=job.judge.rater,
        at=at,
    )
    other_orders = {reply.item_id: reply.other_order for reply in fresh}
    note_orders(judge=job.judge, criterion=job.criterion, other_orders=other_orders)
    _count(locked, fresh)
    counts = {name: getattr(locked, name) for name in COUNTS}
    if any(reply.ungraded != Judgment.Ungraded.ENGINE_ERROR for reply in fresh):
        counts["replied_at"] = at
    GradingJob.objects.filter(pk=job.pk).update(heartbeat_at=at, **counts)
    for name, count in counts.items():
        setattr(job, name, count)
    return fresh


COUNTS = (
    "graded", "ungraded", "by_grade", "by_kind", "n_calls", "prompt_tokens", "completion_tokens", "cached_tokens",
    "cacheable_tokens",
)  # fmt: skip


def counts_of(job: GradingJob) -> dict[str, Any]:
    """Count the job's completions themselves: what its counters say, read anew."""
    by_grade: dict[str, int] = {}
    by_kind: dict[str, int] = {}
    rows = job.completions.values_list("ungraded", "grade").annotate(Count("pk")).order_by("ungraded", "grade")
    for kind, grade, count in rows:
        if kind:
            by_kind[kind] = by_kind.get(kind, 0) + count
        else:
            by_grade[repr(float(grade))] = count
    sums = job.completions.aggregate(
        calls=Count("pk") + Count("other_order"),
        of_prompts=Sum("prompt_tokens", default=0),
        of_replies=Sum("completion_tokens", default=0),
        cached=Sum("cached_tokens", default=0),
        cacheable=Sum("prompt_tokens", filter=Q(cached_tokens__isnull=False), default=0),
    )
    return {
        "graded": sum(by_grade.values()),
        "ungraded": sum(by_kind.values()),
        "by_grade": by_grade,
        "by_kind": by_kind,
        "n_calls": sums["calls"],
        "prompt_tokens": sums["of_prompts"],
        "completion_tokens": sums["of_replies"],
        "cached_tokens": sums["cached"],
        "cacheable_tokens": sums["cacheable"],
    }


def _insert_completions(job: GradingJob, by_item: dict[int, ReadReply], *, at: datetime) -> list[ReadReply]:
    """Insert what is new, and return it. That something is there already is rare: only then it is looked for."""
    try:
        with transaction.atomic():
            _insert(job, by_item.values(), at=at)
    except IntegrityError:
        for item_id in items_done(job, by_item):
            del by_item[item_id]
        _insert(job, by_item.values(), at=at)
    return list(by_item.values())


def _insert(job: GradingJob, replies: Iterable[ReadReply], *, at: datetime) -> None:
    of_the_job = (job.pk, job.judge_id, job.criterion_id, job.attempt, at)
    insert_rows(Completion, (*OF_THE_JOB, *ReadReply._fields), (of_the_job + _storable(reply) for reply in replies))


def _storable(reply: ReadReply) -> ReadReply:
    if (said := reply.reply + reply.thinking + reply.error).isascii() and "\x00" not in said:
        return reply
    return reply._replace(reply=storable(reply.reply), thinking=storable(reply.thinking), error=storable(reply.error))


def items_done(job: GradingJob, items: Iterable[int]) -> Sequence[int]:
    """Return which of the items have a completion of this attempt."""
    completions = Completion.objects.filter(
        judge=job.judge_id, criterion=job.criterion_id, attempt=job.attempt, item__in=list(items)
    )
    return list(completions.values_list("item_id", flat=True))


def _count(job: GradingJob, fresh: Iterable[ReadReply]) -> None:
    """Add what was written to the job's counters."""
    for reply in fresh:
        if reply.ungraded:
            job.ungraded += 1
            job.by_kind[reply.ungraded] = job.by_kind.get(reply.ungraded, 0) + 1
        else:
            job.graded += 1
            key = repr(float(reply.grade or 0))
            job.by_grade[key] = job.by_grade.get(key, 0) + 1
        job.n_calls += 1 if reply.other_order is None else 2
        job.prompt_tokens += reply.prompt_tokens or 0
        job.completion_tokens += reply.completion_tokens or 0
        if reply.cached_tokens is not None:
            job.cached_tokens += reply.cached_tokens
            job.cacheable_tokens += reply.prompt_tokens or 0
