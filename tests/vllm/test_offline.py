"""vLLM inside a Celery worker on a queue of its own: a job without any server."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import celery
import pytest
from django.conf import settings
from django.db import connection
from django.utils.timezone import now

from collection.models import Judgment, RubricElement, Study
from judging.grading.jobs import pause_job, start_job
from judging.judges.registry import make_judge
from judging.models import Completion, GradingJob, Judge, PromptTemplate
from judging.models.judges import VLLM_QUEUE
from tests.judging.conftest import judged_study
from tests.judging.world import criterion_of, many_items
from tests.vllm.server import CONTEXT_LENGTH, QUIET

__all__ = ["judged_study"]

PAIRS = 60
# More than a tiny model grades before somebody can pause the job.
MANY_PAIRS = 4_000
SITE_PACKAGES = Path(celery.__file__).parents[1]


@pytest.fixture
def worker(
    vllm_python: str, tiny_model: Path, tmp_path: Path, transactional_db: None
) -> Iterator[subprocess.Popen[bytes]]:
    """A worker that has vLLM in it, in a process group of its own, on the test's database."""
    log = tmp_path / "worker.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                vllm_python, str(Path(__file__).parent / "worker_with_vllm.py"), str(SITE_PACKAGES),
                "-A", "tests.judging.celery_on_test_database", "worker", "--queues", VLLM_QUEUE,
                "--pool", "threads", "--concurrency", "1", "--loglevel", "WARNING",
                "--without-gossip", "--without-heartbeat", "--without-mingle",
            ],
            cwd=settings.BASE_DIR,
            env={
                **os.environ,
                **QUIET,
                "VLLM_CPU_KVCACHE_SPACE": "1",
                "DATA_DIR": str(tmp_path),
                "CELERY_BROKER_URL": "embedded://",
                "TEST_DATABASE": str(connection.settings_dict["NAME"]),
                "QUEUE": VLLM_QUEUE,
                "JUDGE_VLLM_MODELS": str(tiny_model),
                "JUDGE_VLLM": f'{{"dtype": "bfloat16", "max_model_len": {CONTEXT_LENGTH}, "enforce_eager": true}}',
            },
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        if alive(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        sys.stdout.write(log.read_text(errors="replace")[-6000:])  # pytest shows it where the test failed


def test_a_worker_with_vllm_grades_a_job_and_leaves_nothing_behind(
    worker: subprocess.Popen[bytes], tiny_model: Path, judged_study: Study
) -> None:
    job = a_job(judged_study, tiny_model)

    wait_until(lambda: not state_of(job, worker).startswith(("queued", "running")), seconds=240)
    worker.send_signal(signal.SIGTERM)
    worker.wait(60)

    completions = Completion.objects.filter(job=job)
    assert (job.state, job.reason) == (GradingJob.State.DONE, "")
    assert (job.graded, job.ungraded) == (job.total - 1, 1)
    assert completions.get(ungraded=Judgment.Ungraded.TOO_LONG).error
    for completion in completions.filter(ungraded=""):
        assert completion.engine_identity == f"vllm 0.32.0 (in the worker), {tiny_model}"
        assert completion.prompt_tokens
        assert completion.log_probabilities is not None
        values: list[float] = list(completion.log_probabilities.values())
        assert sum(math.exp(value) for value in values) == pytest.approx(1, abs=0.01)
    wait_until(lambda: not alive(worker.pid), seconds=30)


def test_a_worker_that_is_killed_takes_its_model_with_it(
    worker: subprocess.Popen[bytes], tiny_model: Path, judged_study: Study
) -> None:
    job = a_job(judged_study, tiny_model)
    wait_until(lambda: bool(state_of(job, worker)) and Completion.objects.filter(job=job).exists(), seconds=240)

    worker.kill()
    worker.wait()

    wait_until(lambda: not alive(worker.pid), seconds=30)


def test_a_pause_lets_vllm_finish_what_it_has_and_gives_it_no_more(
    worker: subprocess.Popen[bytes], tiny_model: Path, judged_study: Study
) -> None:
    job = a_job(judged_study, tiny_model, pairs=MANY_PAIRS)
    wait_until(lambda: bool(state_of(job, worker)) and Completion.objects.filter(job=job).exists(), seconds=240)

    pause_job(job=job)
    wait_until(lambda: not job.chunks.exclude(holder="").filter(finished_at=None).exists(), seconds=60)

    job.refresh_from_db()
    completions = Counter(Completion.objects.filter(job=job).values_list("item_id", flat=True))
    judgments = Counter(Judgment.objects.filter(rater=job.judge.rater).values_list("item_id", flat=True))
    assert (job.state, worker.poll()) == (GradingJob.State.PAUSED, None)
    assert 0 < job.done < job.total
    assert completions == judgments
    assert len(completions) == job.done
    assert set(completions.values()) == {1}


def a_job(study: Study, model: Path, *, pairs: int = PAIRS) -> GradingJob:
    """A job of many short prompts and one that is longer than the model's context."""
    many_items(study, pairs)
    RubricElement.objects.filter(element_id="many-7").update(text="Where is it? " * CONTEXT_LENGTH)
    criterion = criterion_of(study)
    template = PromptTemplate.objects.create(
        name="plain", version=1, task_type=criterion.task_type, criterion_name="answerability",
        text="{text} {question} {choices}", content_hash="plain",
    )  # fmt: skip
    judge, _ = make_judge(
        engine=Judge.Engine.VLLM, model=str(model), template=template, task_type=criterion.task_type,
        criterion_name="answerability", scale=criterion.scale,
    )  # fmt: skip
    return start_job(criterion=criterion, judge=judge, by=None, at=now())


def state_of(job: GradingJob, worker: subprocess.Popen[bytes]) -> str:
    assert worker.poll() is None, "The worker ended."
    job.refresh_from_db()
    assert job.state != GradingJob.State.PAUSED, job.reason
    return job.state


def wait_until(true: Callable[[], bool], *, seconds: float) -> None:
    late = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < late, "It did not happen in time."
        time.sleep(0.2)


def alive(group: int) -> bool:
    """Whether any process of the group is."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
