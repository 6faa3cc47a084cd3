"""Limits on tokens and cost: what is under way counts before it is replied to, so that little more is used."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.utils.timezone import now
from pytest_django.fixtures import Settings as SettingsWrapper

from collection.models import Study
from judging.celery_tasks import grade
from judging.engines import EngineState, EngineUnavailable, GradeRequest, Reply
from judging.engines.registry import kept_engine
from judging.grading import budget as budgets
from judging.grading.budget import Budget, WithinBudget, budget_of, pause_if_spent
from judging.grading.jobs import JobLimits, resume_job, start_job
from judging.models import GradingJob
from judging.prompts.pairwise import InBothOrders
from tests.judging.engines.test_openai import an_engine
from tests.judging.engines.test_probe_store import a_judge
from tests.judging.grading.test_spending import a_model_judge, tokens
from tests.judging.scripted_server import Script, ScriptedServer, chat_completion
from tests.judging.world import ScriptedEngine, criterion_of, many_items

# What the scripted server says that a reply took: 100 tokens of prompt and one of reply.
A_REPLY = 101


def limited(**terms: Any) -> GradingJob:
    return GradingJob(pk=1, total=10_000, **terms)


def requests(count: int, *, prompt: str = "Grade it. " * 30, first: int = 0) -> list[GradeRequest]:
    return [GradeRequest(first + n, ("0", "1"), "q", "t", values=(0.0, 1.0), prompt=prompt) for n in range(count)]


def used(replies: Iterable[tuple[GradeRequest, Reply]]) -> int:
    return sum((reply.prompt_tokens or 0) + (reply.completion_tokens or 0) for _, reply in replies)


def slowly(seconds: float) -> Script:
    """Reply 1, after so long."""

    def reply(_: dict[str, Any]) -> dict[str, Any]:
        time.sleep(seconds)
        return chat_completion("1")

    return reply


def asked(engine: Any, budget: Budget, of: list[GradeRequest]) -> list[tuple[GradeRequest, Reply]]:
    return list(WithinBudget(engine, budget).grade(of, stopping=lambda: False))


@pytest.mark.parametrize("concurrency", [1, 8, 32])
def test_a_server_is_asked_for_one_request_more_than_the_limit_at_most(
    server: ScriptedServer, concurrency: int
) -> None:
    server.script(slowly(0.01))
    engine = an_engine(server, concurrency=concurrency, timeout=10)

    spent = used(asked(engine, Budget(limited(token_limit=5_000)), requests(2_000)))

    assert 5_000 <= spent < 5_000 + A_REPLY


def test_without_foresight_the_same_server_is_asked_for_more(server: ScriptedServer) -> None:
    """What the limit would be without an estimate: all that is under way when it is reached is used besides."""
    server.script(slowly(0.02))
    engine = an_engine(server, concurrency=32, timeout=10)
    spent: list[int] = []

    for _, reply in engine.grade(requests(2_000), stopping=lambda: sum(spent) >= 5_000):
        spent.append((reply.prompt_tokens or 0) + (reply.completion_tokens or 0))

    assert sum(spent) > 5_000 + 10 * A_REPLY


def test_a_limit_on_cost_is_passed_by_one_request_at_most() -> None:
    job = limited(cost_limit=0.5, price_in=1000.0, price_out=2000.0)

    spent = used(asked(tokens(100, 50), Budget(job), requests(100)))

    assert spent / 150 == 3  # 0.2 each: two are 0.4, the third reaches 0.5


class Late:
    """Replies to nothing before all that it was given is under way, like a server that does many at once."""

    def __init__(self, prompt_tokens: int, *, at_once: int = 50) -> None:
        self.prompt_tokens, self.at_once = prompt_tokens, at_once
        self.most = 0

    def state(self) -> EngineState:
        return EngineState(available=True)

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        under_way: list[GradeRequest] = []
        for request in requests:
            under_way.append(request)
            if len(under_way) < self.at_once:
                continue
            yield from self._replies(under_way)
            under_way = []
        yield from self._replies(under_way)

    def _replies(self, under_way: list[GradeRequest]) -> Iterator[tuple[GradeRequest, Reply]]:
        self.most = max(self.most, len(under_way))
        for request in under_way:
            yield request, Reply(text="1", prompt_tokens=self.prompt_tokens, completion_tokens=1)


@pytest.mark.parametrize(("orders", "most"), [(1, 9), (2, 10)])
def test_no_more_calls_are_begun_than_the_limit_allows(orders: int, most: int) -> None:
    budget = Budget(limited(call_limit=9))
    engine = Late(9)
    pairs = requests(1_000)
    if orders == 2:
        pairs = [replace(one, swapped=replace(one, prompt="y")) for one in pairs]

    replies = list(InBothOrders(WithinBudget(engine, budget)).grade(pairs, stopping=lambda: False))

    assert len(replies) * orders == most
    assert budget.begin(requests(1)[0]) is None


def test_what_was_learnt_is_expected_of_the_next() -> None:
    budget = Budget(limited(token_limit=2_000))
    first = Late(99)

    spent = used(asked(first, budget, requests(1_000, prompt="x" * 60)))

    # Sixty characters were thought to be 20 tokens and a reply 3: 50 were asked, and used 100 each.
    assert spent == 50 * 100
    assert budget.begin(requests(1)[0]) is None


def test_where_less_was_used_than_expected_a_next_turn_asks_for_more() -> None:
    budget = Budget(limited(token_limit=2_000))
    engine = Late(9)

    first = used(asked(engine, budget, requests(1_000, prompt="x" * 1_200)))
    then = used(asked(engine, budget, requests(1_000, prompt="x" * 1_200, first=2_000)))

    assert first == 50
    assert 2_000 <= first + then < 2_000 + 10


def test_a_pair_is_asked_in_both_orders_or_not_at_all() -> None:
    def pair(n: int) -> GradeRequest:
        as_it_is = GradeRequest(n, ("-1", "0", "1"), "q", "t", values=(-1.0, 0.0, 1.0), prompt="x" * 300)
        return replace(as_it_is, swapped=replace(as_it_is, prompt="y" * 300))

    engine = tokens(100, 0)
    within = WithinBudget(engine, Budget(limited(token_limit=1_100)))

    replies = list(InBothOrders(within).grade(map(pair, range(50)), stopping=lambda: False))

    assert len(engine.asked) == 2 * len(replies) == 12
    assert used(replies) == 1_200


def test_two_turns_at_once_share_what_is_left() -> None:
    budget = Budget(limited(token_limit=3_000))

    def reply(_: GradeRequest) -> Reply:
        time.sleep(0.002)
        return Reply(text="1", prompt_tokens=100, completion_tokens=1)

    engine = ScriptedEngine(reply)
    spent: list[int] = []

    def turn(first: int) -> None:
        spent.append(used(asked(engine, budget, requests(200, first=first))))

    threads = [threading.Thread(target=turn, args=(1_000 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert 3_000 <= sum(spent) < 3_000 + A_REPLY


def test_a_turn_waits_for_what_another_has_under_way_and_goes_on_with_what_it_left() -> None:
    budget = Budget(limited(token_limit=1_000))
    (big,) = requests(1, prompt="x" * 3_000)
    expected = budget.begin(big)
    assert expected is not None
    said: list[int] = []
    waiting = threading.Thread(target=lambda: said.append(used(asked(tokens(99, 1), budget, requests(100, first=5)))))

    waiting.start()
    waiting.join(0.3)
    still = waiting.is_alive()
    budget.end(expected)
    waiting.join(5)

    assert still
    assert said == [1_000]


def test_an_engine_that_fails_gives_back_what_was_expected_of_it() -> None:
    def fail(request: GradeRequest) -> Reply:
        raise EngineUnavailable("It is gone.")

    budget = Budget(limited(token_limit=1_000))

    with pytest.raises(EngineUnavailable):
        asked(ScriptedEngine(fail), budget, requests(5))

    assert used(asked(tokens(99, 1), budget, requests(100))) == 1_000


def test_a_judge_that_measures_is_expected_to_use_tokens_for_its_text() -> None:
    budget = Budget(limited(token_limit=1_000))
    measured = [GradeRequest(n, ("0", "1"), "q" * 30, "t" * 270, values=(0.0, 1.0)) for n in range(100)]

    assert used(asked(Late(99), budget, measured)) == 1_000


def test_an_engine_that_counts_no_tokens_is_not_limited_by_them() -> None:
    budget = Budget(limited(token_limit=1_000))
    engine = ScriptedEngine(lambda _: Reply(text="1"))

    assert len(asked(engine, budget, [GradeRequest(n, ("0", "1"), "q", "t") for n in range(50)])) == 50


@pytest.mark.django_db
class TestOfAJob:
    """A job in the worker's own task."""

    def through(self, job: GradingJob) -> GradingJob:
        """Take turns as a worker does until the job is not active any more."""
        for _ in range(20):
            job.refresh_from_db()
            if not job.active:
                break
            grade(job.pk, job.generation)
        job.refresh_from_db()
        return job

    def test_pauses_at_its_limit_with_one_request_more_at_most(
        self, judged_study: Study, server: ScriptedServer, settings: SettingsWrapper
    ) -> None:
        settings.JUDGE_BASE_URL, settings.JUDGE_CONCURRENCY = server.url, 16
        kept_engine.cache_clear()
        server.script(slowly(0.005))
        many_items(judged_study, 400)
        judge = a_model_judge(judged_study)
        type(judge).objects.filter(pk=judge.pk).update(model="judge-model")
        judge.refresh_from_db()
        terms = JobLimits(token_limit=8_000)

        job = self.through(start_job(criterion=criterion_of(judged_study), judge=judge, terms=terms, by=None, at=now()))

        assert (job.state, job.pause_cause) == ("paused", "tokens")
        assert "the limit is 8,000" in job.reason
        assert 8_000 <= job.tokens < 8_000 + A_REPLY
        assert not budgets._budgets

    def test_goes_on_under_a_higher_limit_to_its_end(
        self, judged_study: Study, server: ScriptedServer, settings: SettingsWrapper
    ) -> None:
        settings.JUDGE_BASE_URL = server.url
        kept_engine.cache_clear()
        judge = a_judge()
        criterion = criterion_of(judged_study, "rating")
        job = start_job(criterion=criterion, judge=judge, terms=JobLimits(token_limit=300), by=None, at=now())
        job = self.through(job)
        assert (job.state, job.done) == ("paused", 3)

        resume_job(job=job, terms=JobLimits(token_limit=10**6), at=now())

        assert self.through(job).state == "done"

    def test_tokens_of_other_processes_count_when_they_are_written(self, judged_study: Study) -> None:
        job = start_job(
            criterion=criterion_of(judged_study), judge=a_model_judge(judged_study), terms=JobLimits(token_limit=1_000),
            by=None, at=now(),
        )  # fmt: skip

        with budget_of(job) as budget:
            assert budget is not None
            GradingJob.objects.filter(pk=job.pk).update(prompt_tokens=700)
            job.refresh_from_db()
            with budget_of(job) as same:
                assert same is budget
                spent = used(asked(tokens(100, 0), budget, requests(50)))

        assert spent == 300
        GradingJob.objects.filter(pk=job.pk).update(prompt_tokens=1_000)
        job.refresh_from_db()
        assert pause_if_spent(job)
        job.refresh_from_db()
        assert job.pause_cause == "tokens"

    def test_a_job_without_limits_has_no_budget(self, judged_study: Study) -> None:
        job = start_job(criterion=criterion_of(judged_study), judge=a_model_judge(judged_study), by=None, at=now())

        with budget_of(job) as budget:
            assert budget is None
