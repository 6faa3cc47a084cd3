"""How easily a judge is talked round: the researcher's own questions, texts that earn no grade, and what is planted.

Each question is asked of a text of another topic, so that an honest grade is a low one; then of the same text with one
thing planted in it. A judge is talked round where a text that did not reach the criterion's threshold reaches it then.
"""

from __future__ import annotations

import logging
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from celery import current_app
from django.db import transaction
from django.utils.timezone import now
from kombu.exceptions import OperationalError

from collection.models import Criterion, Item, User
from collection.questions.shapes import TASK_TYPES
from collection.signs_of_life import heard_of, lately
from judging.data.human_labels import NoSplit, development_topics
from judging.data.selection import items_asked, without_text
from judging.engines import Engine, EngineUnavailable, Stopping
from judging.engines.probe_store import store_learnt
from judging.engines.token_quotas import QuotaSpent, check_quota, note_use
from judging.gullibility.planted_texts import KINDS
from judging.models import GullibilityAudit, Judge, PlantedReply, TokenUse
from judging.prompts.grade_parsing import read
from judging.prompts.placeholders import BadTemplate, replies_of
from judging.prompts.rendering import requests_for
from stats.intervals import SHARE, Estimate, ratio_interval
from stats.overviews_in_words import planted_texts

logger = logging.getLogger(__name__)

State = GullibilityAudit.State
TEXTS = 200
MOST_TEXTS = 2_000
BATCH = 100
TURN = timedelta(seconds=60)
# A worker that is at it says so after each batch of replies.
PATIENCE = timedelta(minutes=3)
REPLY_KEPT = 500
SEE_NO_TEXT = ("utility", "importance")


class NoAudit(ValueError):
    """This judge or study cannot be audited; the message says why."""


@dataclass(frozen=True)
class KindResult:
    """One way to plant: how many texts below the threshold it lifted over it, and how far grades rose on average."""

    kind: str
    label: str
    asked: int
    ungraded: int
    lifted: int
    rate: Estimate
    mean_rise: float | None


@dataclass(frozen=True)
class Progress:
    done: int
    total: int

    @property
    def percent(self) -> int:
        return 100 * self.done // max(self.total, 1)


def start_audit(
    *,
    judge: Judge,
    criterion: Criterion,
    texts: int = TEXTS,
    seed: int = 1,
    by: User | None,
    at: datetime,
    ask: bool = True,
) -> GullibilityAudit:
    """Draw the texts and ask a worker, unless the caller takes the turns. Raises NoAudit and QuotaSpent."""
    if not 1 <= texts <= MOST_TEXTS:
        raise NoAudit(f"An audit needs 1 to {MOST_TEXTS:,} texts.")
    if judge.engine == Judge.Engine.ENSEMBLE:
        raise NoAudit("An ensemble asks no model: audit its members instead.")
    if (judge.task_type, judge.scale_id) != (criterion.task_type, criterion.scale_id):
        raise NoAudit(f"“{judge}” does not grade “{criterion}” on its scale.")
    if TASK_TYPES[judge.task_type].text not in ("passage", "report"):
        raise NoAudit("Only judges of passages or reports can be audited, not those of pairs, sentences or questions.")
    if judge.criterion_name in SEE_NO_TEXT:
        raise NoAudit(f"A judge of {judge.criterion_name} reads no text in which anything could be planted.")
    check_quota(judge, by, at=at)
    pairs, foreign = _draw(criterion, texts, random.Random(seed))  # noqa: S311  # not a secret
    if not pairs:
        raise NoAudit("The study has no items with texts.")
    audit = GullibilityAudit.objects.create(
        judge=judge, criterion=criterion, pairs=pairs, foreign=foreign, seed=seed,
        started_by=by, started_at=at, heard_of_at=at,
    )  # fmt: skip
    if ask:
        transaction.on_commit(lambda: _send(audit))
    return audit


def requeue_if_stalled(audit: GullibilityAudit, *, at: datetime) -> bool:
    """Ask a worker again where none was heard of for long. Whoever looks at an audit does so."""
    if audit.state != State.RUNNING or heard_of(audit.heard_of_at, at=at, patience=PATIENCE):
        return False  # whoever looks on writes nothing
    running = GullibilityAudit.objects.filter(pk=audit.pk, state=State.RUNNING)
    if not running.exclude(heard_of_at__range=lately(at, PATIENCE)).update(heard_of_at=at):
        return False
    transaction.on_commit(lambda: _send(audit))
    return True


def take_turn(
    audit: GullibilityAudit,
    *,
    engine_for: Callable[[Judge], Engine],
    stopping: Callable[[], bool] = lambda: False,
    turn: timedelta | None = TURN,
) -> bool:
    """Ask for what is missing, for so long. Returns whether anything still is. One that cannot go on has failed.

    One whose researcher has no tokens left waits, and says so: whoever looks at it later sends it to a worker again.
    """
    until = None if turn is None else now() + turn

    def over() -> bool:
        return stopping() or (until is not None and now() >= until)

    try:
        engine = engine_for(audit.judge)
        missing = _missing(audit)
        while not over() and (batch := list(islice(missing, BATCH))):
            check_quota(audit.judge, audit.started_by, at=now())
            _ask(audit, engine, batch, Stopping(begin_no_more=over, at_once=stopping))
    except QuotaSpent as spent:
        GullibilityAudit.objects.filter(pk=audit.pk).update(reason=str(spent), heard_of_at=now())
        return False
    except (EngineUnavailable, BadTemplate) as error:
        _conclude(audit, State.FAILED, str(error))
        return False
    if next(_missing(audit), None) is None:
        _conclude(audit, State.DONE)
        return False
    return True


def progress_of(audit: GullibilityAudit) -> Progress:
    return Progress(audit.replies.count(), len(audit.pairs) * (1 + len(KINDS)))


def in_words(audit: GullibilityAudit, results: Sequence[KindResult]) -> str:
    """Say what lifts the judge's grades most, in a sentence."""
    return planted_texts(str(audit.judge), {one.label: one.rate for one in results})


def results_of(audit: GullibilityAudit) -> list[KindResult]:
    """Return what each kind of planting did, the most successful first.

    A rate is the share of texts, below the threshold as they are, that reach it with the thing planted. Texts that are
    ungraded either way are left out and counted.
    """
    threshold = audit.criterion.threshold
    grades: dict[str, dict[int, float | None]] = defaultdict(dict)
    topics: dict[int, int] = {}
    for reply in audit.replies.select_related("item").defer("reply"):
        grades[reply.kind][reply.item_id] = reply.grade
        topics[reply.item_id] = reply.item.topic_id
    plain = grades.pop("", {})
    results = [_result(kind, plain, grades.get(kind, {}), topics, threshold) for kind in KINDS]
    return sorted(results, key=lambda result: -(result.rate.value or 0))


def _result(
    kind: str,
    plain: dict[int, float | None],
    planted: dict[int, float | None],
    topics: dict[int, int],
    threshold: float,
) -> KindResult:
    both = [(item, plain.get(item), grade) for item, grade in planted.items()]
    graded = [(item, before, after) for item, before, after in both if before is not None and after is not None]
    lifted: dict[int, int] = defaultdict(int)
    low: dict[int, int] = defaultdict(int)
    for item, before, after in graded:
        if before < threshold:
            low[topics[item]] += 1
            lifted[topics[item]] += after >= threshold
    rate = ratio_interval([lifted[topic] for topic in low], list(low.values()), within=SHARE, unit="texts")
    rises = [after - before for _, before, after in graded]
    return KindResult(
        kind=kind,
        label=KINDS[kind][0],
        asked=len(both),
        ungraded=len(both) - len(graded),
        lifted=sum(lifted.values()),
        rate=rate,
        mean_rise=sum(rises) / len(rises) if rises else None,
    )


# --- The texts ----------------------------------------------------------------------------------


def _draw(criterion: Criterion, texts: int, chance: random.Random) -> tuple[list[list[int]], bool]:
    """Return so many items, each with the item whose text it gets, and whether that is of another topic.

    Items of a test part are never drawn: what is learnt here may shape prompts.
    """
    asked = items_asked(criterion)
    asked = asked.exclude(pk__in=without_text(asked).values("pk"))
    with suppress(NoSplit):
        asked = asked.filter(topic__in=development_topics(criterion.study))
    rows = list(asked.order_by("pk").values_list("pk", "topic"))
    drawn = chance.sample(rows, min(texts, len(rows)))
    foreign = len({topic for _, topic in rows}) > 1
    pairs = []
    for item, topic in drawn:
        others = chance.choices(rows, k=50)
        pairs.append([item, next((other for other, of in others if of != topic), item) if foreign else item])
    return pairs, foreign


def _missing(audit: GullibilityAudit) -> Iterator[tuple[int, int, str]]:
    """Yield item, the item whose text it gets, and kind, of what was not replied to yet; text by text."""
    there = set(audit.replies.values_list("item", "kind"))
    for item, text_of in audit.pairs:
        for kind in ("", *KINDS):
            if (item, kind) not in there:
                yield item, text_of, kind


def _ask(audit: GullibilityAudit, engine: Engine, batch: Sequence[tuple[int, int, str]], stopping: Stopping) -> None:
    """Ask for these and store the replies."""
    keys = {key for item, text_of, _ in batch for key in (item, text_of)}
    items = Item.objects.select_related("topic", "element", "passage", "report").in_bulk(keys)
    planted = [_planted(items[item], items[text_of], kind, audit.judge) for item, text_of, kind in batch]
    requests = requests_for(audit.judge, planted)
    # Several requests are about one item: each goes under its place in the batch.
    numbered = [replace(request, item_id=number, swapped=None) for number, request in enumerate(requests)]
    rows, tokens = [], []
    for request, reply in engine.grade(numbered, stopping=stopping):
        tokens.append((reply.prompt_tokens, reply.completion_tokens))
        item, _, kind = batch[request.item_id]
        reading = read(request, reply)
        rows.append(
            PlantedReply(
                audit=audit,
                item_id=item,
                kind=kind,
                grade=reading.grade,
                ungraded=reading.ungraded,
                reply=reply.text.replace("\x00", "")[:REPLY_KEPT],
            )
        )
    with transaction.atomic():
        PlantedReply.objects.bulk_create(rows, ignore_conflicts=True)
        note_use(audit.judge, audit.started_by, TokenUse.For.AUDIT, tokens, at=now())
        GullibilityAudit.objects.filter(pk=audit.pk).update(heard_of_at=now(), reason="")
    store_learnt(by=audit.started_by, at=now())


def _planted(item: Item, text_of: Item, kind: str, judge: Judge) -> Item:
    """Return the item as it would be with the other's text and the thing planted in it. Nothing is stored."""
    text = text_of.judged_text.text or ""
    if kind:
        best = max(judge.scale.values)
        question = item.asked_about
        text = KINDS[kind][1](text, question, _reply_for(judge, best))
    made = copy(item)
    if item.passage is not None:
        made.passage = copy(item.passage)
        made.passage.text = text
    elif item.report is not None:
        made.report = copy(item.report)
        made.report.text = text
    return made


def _reply_for(judge: Judge, grade: float) -> str:
    replies = replies_of(judge.template, judge.scale)
    return replies.choices[replies.values.index(grade)]


# --- Workers ------------------------------------------------------------------------------------


def _send(audit: GullibilityAudit) -> None:
    queue = audit.judge.queue
    to: dict[str, Any] = {"queue": queue} if queue else {}
    try:
        current_app.send_task("judging.audit_gullibility", args=[audit.pk], retry=False, **to)
    except OperationalError:
        # What was asked is in the database; the next look sends it.
        logger.warning("The broker does not answer; audit %s waits until it does.", audit.pk, exc_info=True)


def _conclude(audit: GullibilityAudit, state: GullibilityAudit.State, reason: str = "") -> None:
    audit.state, audit.reason, audit.heard_of_at = state, reason, now()
    audit.save(update_fields=["state", "reason", "heard_of_at"])
