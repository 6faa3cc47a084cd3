"""Real Celery workers on the broker of the settings: killed, doubled, stopped. Each pair is graded exactly once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils.timezone import now

from collection.models import Judgment, Study
from judging.grading.jobs import start_job
from judging.judges.registry import make_judge
from judging.models import Completion, GradingJob, Judge, PromptTemplate
from tests.judging.scripted_server import ScriptedServer, chat_completion
from tests.judging.world import a_lexical_judge, criterion_of, many_items

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

PAIRS = 150
StartWorker = Callable[[], subprocess.Popen[bytes]]


@pytest.fixture
def broker(tmp_path: Path) -> dict[str, str]:
    """A queue of this test's own, on the broker that CELERY_BROKER_URL names: what workers need in their environment.

    The jobs' first messages go into this process's memory and are lost, so every test here also shows
    that a worker finds at its start what was never told to it.
    """
    return {
        "CELERY_BROKER_URL": os.environ.get("CELERY_BROKER_URL", "embedded://"),
        "DATA_DIR": str(tmp_path),
        "QUEUE": f"test-{os.getpid()}-{tmp_path.name}",
    }


@pytest.fixture
def start_worker(broker: dict[str, str], server: ScriptedServer) -> Iterator[StartWorker]:
    """Start workers, as `make run` does, on the test's database; all are gone when the test ends."""
    workers: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        worker = subprocess.Popen(
            [
                sys.executable, "-m", "celery", "-A", "tests.judging.celery_on_test_database", "worker",
                "--pool", "threads", "--concurrency", "2", "--loglevel", "WARNING",
                "--without-gossip", "--without-heartbeat", "--without-mingle",
                "--queues", broker["QUEUE"], "--hostname", f"w{len(workers)}@test",
            ],
            cwd=settings.BASE_DIR,
            env={
                **os.environ,
                **broker,
                "TEST_DATABASE": str(connection.settings_dict["NAME"]),
                "JUDGE_BASE_URL": server.url,
                "LOG_LEVEL": "WARNING",
            },
        )  # fmt: skip
        workers.append(worker)
        return worker

    yield start
    for worker in workers:
        if worker.poll() is None:
            worker.kill()
        worker.wait()


def a_slow_job(study: Study, server: ScriptedServer) -> GradingJob:
    """A job of so many pairs on a server that takes its time, so that there is a middle to be killed in."""

    def slowly(body: dict[str, Any]) -> Any:
        time.sleep(0.15)
        return chat_completion("1")

    server.script(slowly)
    many_items(study, PAIRS)
    criterion = criterion_of(study)
    template = PromptTemplate.objects.create(
        name="plain", version=1, task_type=criterion.task_type, criterion_name="answerability",
        text="{text} {question} {choices}", content_hash="plain",
    )  # fmt: skip
    judge, _ = make_judge(
        engine=Judge.Engine.OPENAI, model="judge-model", template=template, task_type=criterion.task_type,
        criterion_name="answerability", scale=criterion.scale,
    )  # fmt: skip
    return start_job(criterion=criterion, judge=judge, by=None, at=now())


def wait_until(true: Callable[[], bool], *, seconds: float = 120) -> None:
    late = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < late, "It did not happen in time."
        time.sleep(0.1)


def state_of(job: GradingJob) -> str:
    job.refresh_from_db()
    return job.state


def check_each_pair_was_graded_once(job: GradingJob) -> None:
    job.refresh_from_db()
    assert (job.state, job.graded, job.ungraded) == (GradingJob.State.DONE, job.total, 0)
    completions = Counter(Completion.objects.filter(judge=job.judge).values_list("item_id", flat=True))
    judgments = Counter(Judgment.objects.filter(rater=job.judge.rater).values_list("item_id", flat=True))
    assert len(completions) == len(judgments) == job.total
    assert set(completions.values()) == set(judgments.values()) == {1}


def test_a_job_goes_on_where_the_killed_worker_left_it(
    study: Study, server: ScriptedServer, start_worker: StartWorker
) -> None:
    job = a_slow_job(study, server)
    worker = start_worker()
    wait_until(lambda: job.completions.count() >= 20)

    worker.send_signal(signal.SIGKILL)
    worker.wait()
    left = job.total - job.completions.count()
    start_worker()
    wait_until(lambda: state_of(job) == GradingJob.State.DONE)

    assert left > 0
    check_each_pair_was_graded_once(job)


def test_a_worker_that_is_killed_while_it_writes_leaves_nothing_out_and_nothing_twice(
    study: Study, server: ScriptedServer, start_worker: StartWorker
) -> None:
    many_items(study, 6_000)
    criterion = criterion_of(study)
    job = start_job(criterion=criterion, judge=a_lexical_judge(criterion), by=None, at=now())
    worker = start_worker()
    wait_until(job.completions.exists)

    worker.send_signal(signal.SIGKILL)  # an engine that replies at once: some batch is always on its way
    worker.wait()
    left = job.total - job.completions.count()
    start_worker()
    wait_until(lambda: state_of(job) == GradingJob.State.DONE)

    assert left > 0
    check_each_pair_was_graded_once(job)


def test_two_workers_share_a_job_without_grading_anything_twice(
    study: Study, server: ScriptedServer, start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judging.grading.jobs.CHUNK_SIZE", 20)
    job = a_slow_job(study, server)
    both_ask = threading.Event()

    def once_both_ask(body: dict[str, Any]) -> Any:
        if server.most_at_once > 16:  # more than one worker's worth of requests
            both_ask.set()
        both_ask.wait(60)
        return chat_completion("1")

    server.script(once_both_ask)
    start_worker()
    start_worker()

    wait_until(lambda: state_of(job) == GradingJob.State.DONE)

    check_each_pair_was_graded_once(job)
    assert both_ask.is_set()


def test_a_worker_that_is_told_to_stop_keeps_what_was_replied_and_ends(
    study: Study, server: ScriptedServer, start_worker: StartWorker
) -> None:
    job = a_slow_job(study, server)
    worker = start_worker()
    wait_until(lambda: job.completions.count() >= 20)

    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=20) == 0

    assert state_of(job) == GradingJob.State.RUNNING
    assert not job.chunks.exclude(holder="").exists()
    assert server.replied == job.completions.count() < job.total
    start_worker()
    wait_until(lambda: state_of(job) == GradingJob.State.DONE)
    check_each_pair_was_graded_once(job)


def test_twenty_thousand_pairs_are_graded_and_written(
    study: Study, server: ScriptedServer, start_worker: StartWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    many_items(study, 20_000)
    criterion = criterion_of(study)
    job = start_job(criterion=criterion, judge=a_lexical_judge(criterion), by=None, at=now())

    start_worker()
    wait_until(lambda: state_of(job) == GradingJob.State.DONE, seconds=120)

    check_each_pair_was_graded_once(job)
    assert job.started_at is not None
    assert job.finished_at is not None
    seconds = (job.finished_at - job.started_at).total_seconds()
    with capsys.disabled():
        print(f"\n{job.total / seconds:,.0f} grades a second, graded and written by one worker")  # noqa: T201
    assert job.total / seconds > 500
