"""Pairs that are asked in both orders: one request becomes two prompts, and two replies become one reading.

If both orders prefer the same text, that is the preference; if they do not, it is a tie, and the share of
such pairs is the judge's position bias. Both raw replies are kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.db.models import Count, F, Max, Min, Q

from collection.judgments.pair_orders import add_orders
from collection.models import Criterion, Judgment, PairOrder
from judging.engines import Engine, EngineState, GradeRequest, Reply
from judging.models import Judge
from judging.prompts.grade_parsing import Reading, read

TIE = 0.0
Number = TypeVar("Number", int, float)


def asking_both_orders(engine: Engine, judge: Judge) -> Engine:
    """Return the engine as this judge needs it: baselines compare no pairs, so theirs is left alone."""
    return engine if judge.template is None else InBothOrders(engine)


@dataclass(frozen=True)
class InBothOrders:
    """An engine around an engine: pairs go in twice and come out once, when both replies are there.

    A pair of which one reply is missing when told to stop does not come out: it is asked again later. What is
    impossible to ask is answered here, and never sent.
    """

    engine: Engine

    def state(self) -> EngineState:
        return self.engine.state()

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        answered: deque[tuple[GradeRequest, Reply]] = deque()
        pairs: dict[int, _Pair] = {}
        for request, reply in self.engine.grade(_expanded(requests, pairs, answered), stopping=stopping):
            while answered:
                yield answered.popleft()
            pair = pairs.get(request.item_id)
            if pair is None:
                yield request, reply
            elif pair.complete_with(request, reply):
                del pairs[request.item_id]
                yield pair.request, pair.reply
        while answered:
            yield answered.popleft()


class _Pair:
    """A request with a swapped one, and the replies that came so far."""

    def __init__(self, request: GradeRequest) -> None:
        self.request = request
        self.as_it_is: Reply | None = None
        self.swapped: Reply | None = None

    def complete_with(self, request: GradeRequest, reply: Reply) -> bool:
        """Take one of the two replies. Returns whether both are there."""
        if request.swapped is not None:
            self.as_it_is = reply
        else:
            self.swapped = reply
        return self.as_it_is is not None and self.swapped is not None

    @property
    def reply(self) -> Reply:
        assert self.as_it_is is not None
        assert self.swapped is not None  # the pair is complete
        return both(self.as_it_is, self.swapped)


def _expanded(
    requests: Iterable[GradeRequest], pairs: dict[int, _Pair], answered: deque[tuple[GradeRequest, Reply]]
) -> Iterator[GradeRequest]:
    """Yield what the engine is asked: each request, and behind a pair its other order."""
    for request in requests:
        if request.impossible:
            answered.append((request, Reply(ungraded=Judgment.Ungraded.ENGINE_ERROR, error=request.impossible)))
            continue
        if request.swapped is not None:
            pairs[request.item_id] = _Pair(request)
        yield request
        if request.swapped is not None:
            yield request.swapped


def both(first: Reply, second: Reply) -> Reply:
    """Return the first reply with the second in it; tokens and seconds are those of both."""
    return replace(
        first,
        swapped=second,
        prompt_tokens=_sum(first.prompt_tokens, second.prompt_tokens),
        completion_tokens=_sum(first.completion_tokens, second.completion_tokens),
        thinking_tokens=_sum(first.thinking_tokens, second.thinking_tokens),
        seconds=_sum(first.seconds, second.seconds),
    )


def _sum(first: Number | None, second: Number | None) -> Number | None:
    return None if first is None or second is None else first + second


@dataclass(frozen=True)
class BothOrders:
    """The readings of one pair: as it is, and with its texts changed over, where the grade is turned back."""

    as_it_is: Reading
    swapped: Reading

    @property
    def together(self) -> Reading:
        """The reading that stands for the pair. It is ungraded if one of the orders is."""
        for reading, order in ((self.as_it_is, "Original order"), (self.swapped, "Swapped order")):
            if reading.ungraded:
                return Reading(grade=None, ungraded=reading.ungraded, error=f"{order}: {reading.error}")
        agreed = self.as_it_is.grade == self.swapped.grade
        return Reading(grade=self.as_it_is.grade if agreed else TIE, probabilities=self._mean_probabilities())

    def _mean_probabilities(self) -> dict[float, float] | None:
        first, second = self.as_it_is.probabilities, self.swapped.probabilities
        if first is None or second is None:
            return None
        grades = {*first, *second}
        return {grade: (first.get(grade, 0.0) + second.get(grade, 0.0)) / 2 for grade in grades}


def read_all(request: GradeRequest, reply: Reply) -> tuple[Reading, dict[str, Any] | None]:
    """Return what was read, and for a pair in both orders what the other order's reply was, as it is stored."""
    if request.swapped is None or reply.swapped is None:
        return read(request, reply), None
    pair = BothOrders(read(request, reply), read(request.swapped, reply.swapped))
    raw, reading = reply.swapped, pair.swapped
    return pair.together, {
        "first_grade": pair.as_it_is.grade,
        "grade": reading.grade,
        "ungraded": reading.ungraded,
        "error": reading.error,
        "reply": raw.text,
        "thinking": raw.thinking,
        "finish_reason": raw.finish_reason,
        "log_probabilities": dict(raw.log_probabilities) if raw.log_probabilities else None,
        "prompt_tokens": raw.prompt_tokens,
        "completion_tokens": raw.completion_tokens,
        "seconds": raw.seconds,
        "engine_identity": raw.identity,
    }


def note_orders(*, judge: Judge, criterion: Criterion, other_orders: Mapping[int, Mapping[str, Any] | None]) -> None:
    """Write down what was preferred in each order, beside the judgments of these items (by key)."""
    asked_twice = {item: other for item, other in other_orders.items() if other}
    if not asked_twice:
        return
    judgments = Judgment.objects.filter(rater=judge.rater_id, criterion=criterion, item__in=asked_twice)
    rows = []
    for judgment in judgments.only("pk", "item_id"):
        other = asked_twice[judgment.item_id]
        rows += [
            PairOrder(judgment=judgment, swapped=False, grade=other["first_grade"]),
            PairOrder(judgment=judgment, swapped=True, grade=other["grade"]),
        ]
    add_orders(rows)


@dataclass(frozen=True)
class PositionBias:
    """Of pairs that were read in both orders, how many the judge decided otherwise when the texts were changed over."""

    pairs: int
    disagreeing: int

    @property
    def share(self) -> float | None:
        return self.disagreeing / self.pairs if self.pairs else None


def position_bias(*, judge: Judge, criterion: Criterion, topics: Iterable[int] | None = None) -> PositionBias:
    """Count the pairs whose two orders disagree, among those that were read in both; in these topics, if named."""
    judgments = Judgment.objects.filter(rater=judge.rater_id, criterion=criterion)
    if topics is not None:
        judgments = judgments.filter(item__topic__in=list(topics))
    read_in_both = judgments.annotate(
        orders_read=Count("orders", filter=Q(orders__grade__isnull=False)),
        lowest=Min("orders__grade"),
        highest=Max("orders__grade"),
    ).filter(orders_read=2)
    return PositionBias(pairs=read_in_both.count(), disagreeing=read_in_both.exclude(lowest=F("highest")).count())
