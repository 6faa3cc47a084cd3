"""Replies are written while the worker goes on: what may go wrong on the way, on real connections."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, OperationalError, connection, connections, transaction
from django.utils.timezone import now

from collection.models import Judgment, Study
from judging.engines import GradeRequest, Reply
from judging.grading import completions, worker
from judging.grading.completions import counts_of, write_read_replies
from judging.grading.jobs import pause_job
from judging.grading.leases import claim_chunk
from judging.grading.worker import take_turn
from judging.models import Completion, GradingChunk, GradingJob
from tests.judging.grading.test_completions import a_row
from tests.judging.grading.test_jobs import StopsInTheMiddle
from tests.judging.world import ScriptedEngine, a_job, many_items, saying, work_through

# Where a test is a transaction, a turn in it writes in the test's own thread: these have none around them.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
in_a_transaction = pytest.mark.django_db()

on_a_server = pytest.mark.skipif("connection.vendor == 'sqlite'", reason="SQLite has no server that works beside us.")


@pytest.fixture
def job(judged_study: Study, monkeypatch: pytest.MonkeyPatch) -> GradingJob:
    """A job of 206 pairs in small chunks, which are written thirty at a time."""
    monkeypatch.setattr("judging.grading.jobs.CHUNK_SIZE", 20)
    monkeypatch.setattr("judging.grading.worker.WRITE_AFTER_REPLIES", 30)
    many_items(judged_study, 200)
    return a_job(judged_study)


def turn(job: GradingJob, engine: ScriptedEngine) -> bool:
    return take_turn(job_id=job.pk, generation=job.generation, engine_for=lambda judge: engine)


def slowly() -> ScriptedEngine:
    def reply(request: GradeRequest) -> Reply:
        time.sleep(0.005)
        return Reply(text="1", finish_reason="stop")

    return ScriptedEngine(reply)


class RepliesTwice(ScriptedEngine):
    """Gives each reply, and fifty replies later gives it again."""

    def __init__(self) -> None:
        super().__init__(lambda request: Reply(text="1", finish_reason="stop"))

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        given: deque[tuple[GradeRequest, Reply]] = deque()
        for pair in super().grade(requests, stopping=stopping):
            yield pair
            given.append(pair)
            if len(given) > 50:
                yield given.popleft()
        yield from given


def at_the_first(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, happens: Callable[[], object], *, times: int = 1
) -> None:
    """Let this happen before the function does its work, the first time or so many times."""
    function, left = getattr(module, name), [happens] * times

    def call(*arguments: Any, **named: Any) -> Any:
        if left:
            left.pop()()
        return function(*arguments, **named)

    monkeypatch.setattr(module, name, call)


def check_each_pair_was_graded_once(job: GradingJob) -> None:
    job.refresh_from_db()
    assert (job.state, job.graded, job.ungraded) == (GradingJob.State.DONE, job.total, 0)
    assert Completion.objects.filter(job=job).count() == job.total
    assert Judgment.objects.filter(rater=job.judge.rater).count() == job.total


def break_the_connection() -> None:
    """Lose the database in the middle of a transaction: PostgreSQL ends the session, SQLite says what a disk may."""
    if connection.vendor == "sqlite":
        raise OperationalError("disk I/O error")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


@on_a_server
def test_the_next_chunk_is_claimed_while_a_batch_is_written(job: GradingJob, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judging.grading.engine_thread.AHEAD_SECONDS", 0)
    monkeypatch.setattr("judging.grading.worker.WRITE_AFTER_SECONDS", 60)
    writing_began, claimed, in_time = threading.Event(), threading.Event(), list[bool]()

    def wait_for_a_claim() -> None:  # with the job's row locked
        claimed.clear()
        writing_began.set()
        in_time.append(claimed.wait(30))

    def reply(request: GradeRequest) -> Reply:
        if len(engine.asked) >= 40:
            writing_began.wait(30)
            time.sleep(0.02)
        return Reply(text="1", finish_reason="stop")

    def claim_and_tell(*arguments: Any, **named: Any) -> Any:
        chunk = claim_chunk(*arguments, **named)
        claimed.set()
        return chunk

    monkeypatch.setattr(worker, "claim_chunk", claim_and_tell)
    at_the_first(monkeypatch, completions, "add_verdicts", wait_for_a_claim)
    engine = ScriptedEngine(reply)

    work_through(job, engine)

    assert in_time == [True]
    check_each_pair_was_graded_once(job)


def test_a_batch_that_failed_is_written_when_the_turn_ends(job: GradingJob, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = saying("1")
    at_the_first(monkeypatch, completions, "add_verdicts", break_the_connection)

    with pytest.raises(DatabaseError):
        turn(job, engine)

    job.refresh_from_db()
    assert len(engine.asked) == Completion.objects.count() == Judgment.objects.count() == job.graded > 0
    assert not GradingChunk.objects.exclude(holder="").exists()
    work_through(job, engine)
    check_each_pair_was_graded_once(job)
    assert len(engine.asked) == len(set(engine.asked))


def test_a_batch_that_fails_again_stays_missing(job: GradingJob, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        at_the_first(patch, completions, "add_verdicts", break_the_connection, times=2)
        with pytest.raises(DatabaseError):
            turn(job, saying("1"))

    assert not Completion.objects.exists()
    assert not Judgment.objects.exists()
    assert not GradingChunk.objects.exclude(holder="", finished_at=None).exists()
    work_through(job, saying("1"))
    check_each_pair_was_graded_once(job)


def test_a_batch_whose_commit_was_never_confirmed_counts_once(job: GradingJob, monkeypatch: pytest.MonkeyPatch) -> None:
    lost: list[int] = []

    def write_and_lose_the_answer(*arguments: Any, **named: Any) -> Any:
        written = write_read_replies(*arguments, **named)
        if not lost:
            lost.append(len(written))
            raise OperationalError("server closed the connection unexpectedly")
        return written

    monkeypatch.setattr(worker, "write_read_replies", write_and_lose_the_answer)

    with pytest.raises(DatabaseError):
        turn(job, saying("1"))

    job.refresh_from_db()
    assert 0 < lost[0] <= job.graded
    assert counts_of(job) == {name: getattr(job, name) for name in counts_of(job)}
    work_through(job, saying("1"))
    check_each_pair_was_graded_once(job)


@in_a_transaction
def test_what_a_worker_wrote_before_it_was_killed_is_not_asked_again(job: GradingJob) -> None:
    chunk = claim_chunk(job, holder="killed", at=now() - timedelta(minutes=2))
    assert chunk is not None
    written = chunk.item_ids[:7]
    write_read_replies(job, [a_row(item) for item in written], at=now())

    engine = saying("1")
    work_through(job, engine)

    check_each_pair_was_graded_once(job)
    assert not set(written) & set(engine.asked)
    assert len(engine.asked) == job.total - len(written)


def test_two_workers_at_once_write_each_pair_once(job: GradingJob) -> None:
    def as_a_worker(engine: ScriptedEngine) -> None:
        try:
            turn(job, engine)
        finally:
            connections.close_all()

    ours, theirs = slowly(), slowly()
    with ThreadPoolExecutor(2) as workers:
        list(workers.map(as_a_worker, (ours, theirs)))
    work_through(job, ours)

    check_each_pair_was_graded_once(job)
    assert ours.asked
    assert theirs.asked
    assert not set(ours.asked) & set(theirs.asked)
    assert counts_of(job) == {name: getattr(job, name) for name in counts_of(job)}


@in_a_transaction
def test_a_pair_that_is_replied_to_twice_counts_once(job: GradingJob) -> None:
    job = work_through(job, RepliesTwice())

    check_each_pair_was_graded_once(job)
    assert counts_of(job) == {name: getattr(job, name) for name in counts_of(job)}


def test_a_limit_that_a_batch_reached_stops_the_engine_at_once(job: GradingJob) -> None:
    GradingJob.objects.filter(pk=job.pk).update(token_limit=40 * 100)
    engine = StopsInTheMiddle(50, lambda: None)
    engine.reply_to = lambda _: Reply(text="1", prompt_tokens=90, completion_tokens=10)

    turn(job, engine)

    job.refresh_from_db()
    assert (job.state, job.pause_cause) == (GradingJob.State.PAUSED, GradingJob.Cause.TOKENS)
    assert len(engine.asked) == job.graded == Completion.objects.count() == 50


def test_pausing_while_a_batch_is_written_keeps_it(job: GradingJob, monkeypatch: pytest.MonkeyPatch) -> None:
    at_the_first(monkeypatch, worker, "write_read_replies", lambda: pause_job(job=GradingJob.objects.get(pk=job.pk)))
    engine = StopsInTheMiddle(50, lambda: None)

    turn(job, engine)

    job.refresh_from_db()
    assert (job.state, job.reason) == (GradingJob.State.PAUSED, "")
    assert len(engine.asked) == job.graded == Completion.objects.count() == 50


@in_a_transaction
def test_a_turn_in_the_callers_transaction_is_part_of_it(job: GradingJob) -> None:
    def grade_and_think_better_of_it() -> None:
        with transaction.atomic():
            turn(job, saying("1"))
            assert Completion.objects.count() == job.total
            raise InterruptedError

    with pytest.raises(InterruptedError):
        grade_and_think_better_of_it()

    assert not Completion.objects.exists()


@on_a_server
def test_the_thread_that_writes_leaves_no_connection_behind(job: GradingJob) -> None:
    def open_now() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
            return int(cursor.fetchone()[0])

    before = open_now()
    turn(job, saying("1"))

    assert open_now() == before
