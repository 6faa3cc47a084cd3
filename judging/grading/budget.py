"""Limits on calls, tokens and cost, kept while requests are under way: what these will use is estimated at their start.

An engine within a budget is given no more requests once what is known to be used, and what those under way are
expected to use, reach the limit. Then they are waited for; if they used less than expected, the next turn asks a
few more. So the job passes its limit by one request at most, and by as much as those under way at the end used more
than was expected of them. All turns of a job in one process share its budget, and so do the links of a chain. Other
processes learn of one another's tokens from the counters, as those are written: about every second.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.utils.timezone import now

from judging.engines import Engine, EngineState, GradeRequest, Reply
from judging.engines.token_counts import CHARACTERS_A_TOKEN, TOKENS_OF_A_CHOICE
from judging.engines.token_quotas import Quota
from judging.grading.jobs import WrongState, limit_reached, pause_job
from judging.grading.spending import Ledger, ledger_of
from judging.models import Build, GradingJob

# Where nothing is known of the model yet: fewer characters a token than English has are the cautious guess.
CAUTIOUS_RATIO = 0.75 * CHARACTERS_A_TOKEN
WAIT_SECONDS = 0.1

_budgets: dict[Hashable, Budget] = {}
_lock = threading.Lock()


@contextmanager
def budget_of(account: GradingJob | Build | Quota | None) -> Iterator[Budget | None]:
    """Give the budget for a turn of a job, audit or build, shared by its turns in this process; None without a limit.

    When no turn is left, all that was used stands in the tables: the next budget begins from these.
    """
    if account is None:
        yield None
        return
    if isinstance(account, Quota):
        key: Hashable = (account.researcher.pk, account.begins, account.own)
    else:
        bounds = account.bounds
        if not bounds.limited:
            yield None
            return
        key = (type(bounds), bounds.pk)
    with _lock:
        budget = _budgets.setdefault(key, Budget(account))
        budget.turns += 1
        budget.learn_from(account)
    try:
        yield budget
    finally:
        with _lock:
            budget.turns -= 1
            if not budget.turns:
                del _budgets[key]


def pause_if_spent(job: GradingJob) -> bool:
    """Pause the job if it has reached a limit, or its researcher the quota. Returns whether it has."""
    reached = limit_reached(job, at=now())
    if reached is None:
        return False
    try:
        pause_job(job=job, reason=reached[0], cause=reached[1])
    except WrongState:
        return True  # somebody paused or ended it
    return True


@dataclass
class Used:
    """Tokens of prompts and of replies, and calls."""

    prompts: float = 0.0
    replies: float = 0.0
    calls: float = 0.0

    def add(self, other: Used, times: int = 1) -> None:
        self.prompts += times * other.prompts
        self.replies += times * other.replies
        self.calls += times * other.calls


class Budget:
    """What was used, and what is about to be. All its methods may be called from several threads."""

    def __init__(self, account: GradingJob | Build | Quota) -> None:
        self.turns = 0
        self._lock = threading.Condition()
        self._account = account if isinstance(account, Quota) else ledger_of(account)
        # Stood in the counters at the beginning; was written by other processes since; came in replies here.
        self._before = _used_of(self._account)
        self._elsewhere = Used()
        self._here = Used()
        self._expected = Used()
        self._under_way = 0
        self._counted = Counter[str]()

    def learn_from(self, account: GradingJob | Build | Quota) -> None:
        """Take in what stands in the tables: the limits, and what other processes have used of them."""
        read = account if isinstance(account, Quota) else ledger_of(account)
        with self._lock:
            self._account = read
            written = _used_of(read)
            for part in (self._before, self._here):
                written.add(part, -1)
            self._elsewhere.prompts = max(self._elsewhere.prompts, written.prompts)
            self._elsewhere.replies = max(self._elsewhere.replies, written.replies)
            self._elsewhere.calls = max(self._elsewhere.calls, written.calls)

    def begin(self, request: GradeRequest) -> Used | None:
        """Return what the request is expected to use if it may be asked, and count it as under way; else None."""
        with self._lock:
            if self._spent():
                return None
            expected = self._expect(request)
            self._expected.add(expected)
            self._under_way += 1
            return expected

    def end(self, expected: Used) -> None:
        """Take a request back that will get no reply, or whose reply is counted."""
        with self._lock:
            self._expected.add(expected, -1)
            self._under_way -= 1
            self._lock.notify_all()

    def wait(self) -> bool:
        """Wait a moment for a request that is under way to end. Returns whether there was any."""
        with self._lock:
            if not self._under_way:
                return False
            self._lock.wait(WAIT_SECONDS)
            return True

    def count(self, request: GradeRequest, reply: Reply) -> None:
        """Count what a reply used, and learn from it what others will use."""
        if reply.prompt_tokens is None:
            with self._lock:
                self._here.add(Used(calls=1))
            return
        with self._lock:
            self._here.add(Used(reply.prompt_tokens, reply.completion_tokens or 0, 1))
            self._counted["characters"] += _characters(request)
            self._counted["prompt tokens"] += reply.prompt_tokens
            self._counted["reply tokens"] += reply.completion_tokens or 0
            self._counted["replies"] += 1

    def _spent(self) -> bool:
        """Whether what is used and what is expected reach a limit."""
        used = Used()
        for part in (self._before, self._elsewhere, self._here, self._expected):
            used.add(part)
        if isinstance(self._account, Quota):
            return used.prompts + used.replies >= self._account.limit
        bounds = self._account.bounds
        if bounds.call_limit is not None and used.calls >= bounds.call_limit:
            return True
        if bounds.token_limit is not None and used.prompts + used.replies >= bounds.token_limit:
            return True
        if bounds.cost_limit is None:
            return False
        # What came since the tables were read is of the link that asks, at its prices.
        read = self._account
        since = read.asking.cost_of(used.prompts - read.prompt_tokens, used.replies - read.completion_tokens)
        return read.cost + (since or 0.0) >= bounds.cost_limit

    def _expect(self, request: GradeRequest) -> Used:
        """Expect of a request what earlier ones used: prompts by their characters, replies on average."""
        counted = self._counted
        if not counted["prompt tokens"]:
            return expected_use(request)
        ratio = counted["characters"] / counted["prompt tokens"]
        return expected_use(request, ratio, counted["reply tokens"] / counted["replies"])


def expected_use(request: GradeRequest, characters_a_token: float = CAUTIOUS_RATIO, reply: float | None = None) -> Used:
    """Return what a request will use, in both orders of a pair, if a reply takes so many tokens."""
    if reply is None:
        reply = float(request.reply_tokens or TOKENS_OF_A_CHOICE) + request.thinks_for
    orders = [request] if request.swapped is None else [request, request.swapped]
    return Used(
        sum(_characters(each) for each in orders) / max(characters_a_token, 0.01), reply * len(orders), len(orders)
    )


def _used_of(account: Ledger | Quota) -> Used:
    calls = account.n_calls if isinstance(account, Ledger) else 0
    return Used(account.prompt_tokens, account.completion_tokens, calls)


@dataclass(frozen=True)
class WithinBudget:
    """An engine around an engine, that is asked no more than its budget allows. A pair is one request of two."""

    engine: Engine
    budget: Budget

    def state(self) -> EngineState:
        return self.engine.state()

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        asked = _Asked(self.budget)
        try:
            for request, reply in self.engine.grade(asked.allowed(requests, stopping), stopping=stopping):
                asked.replied(request, reply)
                yield request, reply
        finally:
            asked.close()


def within(engine: Engine, *budgets: Budget | None) -> Engine:
    """Return the engine within each of these budgets that there is."""
    for budget in budgets:
        if budget is not None:
            engine = WithinBudget(engine, budget)
    return engine


class _Asked:
    """What one call of an engine has under way. The engine may read its requests in a thread of its own."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._lock = threading.Lock()
        # What was expected of each item, and how many replies it still waits for: a pair for two.
        self._under_way: dict[int, tuple[Used, int]] = {}
        self._closed = False

    def allowed(self, requests: Iterable[GradeRequest], stopping: Callable[[], bool]) -> Iterator[GradeRequest]:
        """Yield requests as long as the budget allows. The second order of a pair was allowed with its first."""
        other_order: GradeRequest | None = None
        for request in requests:
            if request is not other_order:
                if not self._begin(request, stopping):
                    return
                other_order = request.swapped
            yield request

    def replied(self, request: GradeRequest, reply: Reply) -> None:
        """Count the reply; with the last one of its item that is no longer under way."""
        self._budget.count(request, reply)
        with self._lock:
            expected, waiting = self._under_way.pop(request.item_id)
            if waiting > 1:
                self._under_way[request.item_id] = (expected, waiting - 1)
                return
        self._budget.end(expected)

    def close(self) -> None:
        """Give back what was expected of requests that get no reply any more."""
        with self._lock:
            self._closed = True
            left = [expected for expected, _ in self._under_way.values()]
            self._under_way.clear()
        for expected in left:
            self._budget.end(expected)

    def _begin(self, request: GradeRequest, stopping: Callable[[], bool]) -> bool:
        """Take the request in if the budget allows.

        Where others have all of it under way, they are waited for. What we have under way ourselves is not: the
        engine that reads us may be the one that waits for it.
        """
        while (expected := self._budget.begin(request)) is None:
            if self._under_way or stopping() or not self._budget.wait():
                return False
        with self._lock:
            if not self._closed:
                self._under_way[request.item_id] = (expected, 1 if request.swapped is None else 2)
                return True
        self._budget.end(expected)
        return False


def _characters(request: GradeRequest) -> int:
    """Return how long the prompt is; of a judge that measures, what it measures."""
    if request.prompt:
        return len(request.system) + len(request.prompt)
    return len(request.query) + len(request.text)
