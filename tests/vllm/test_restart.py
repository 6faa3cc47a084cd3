"""The server is killed in the middle of a job and started again: every pair is graded exactly once."""

from __future__ import annotations

import threading
import time
from collections import Counter

import pytest
from django.db import connection
from django.utils.timezone import now

from collection.models import Judgment, Study
from judging.engines.openai import OpenAIEngine
from judging.grading.jobs import start_job
from judging.grading.worker import take_turn
from judging.judges.registry import make_judge
from judging.models import Completion, GradingJob, Judge, PromptTemplate
from tests.judging.conftest import judged_study
from tests.judging.contract import engine_on
from tests.judging.world import criterion_of, many_items
from tests.vllm.server import VLLMServer
from tests.vllm.test_contract import served_by

__all__ = ["judged_study"]

PAIRS = 400


@pytest.mark.django_db(transaction=True)
def test_every_pair_is_graded_once_though_the_server_is_killed_and_comes_back(
    tiny_server: VLLMServer, judged_study: Study
) -> None:
    job = a_job(judged_study, model=tiny_server.name)
    engine = engine_on(served_by(tiny_server), prompts_at_once=4, patience=300.0, timeout=60.0)
    killer = threading.Thread(target=kill_in_the_middle, args=(job, tiny_server))
    killer.start()

    late = time.monotonic() + 300
    while turn(job, engine) and time.monotonic() < late:
        pass
    killer.join()

    job.refresh_from_db()
    completions = Counter(Completion.objects.filter(job=job).values_list("item_id", flat=True))
    judgments = Counter(Judgment.objects.filter(rater=job.judge.rater).values_list("item_id", flat=True))
    assert (job.state, job.graded, job.ungraded, job.reason) == (GradingJob.State.DONE, job.total, 0, "")
    assert len(completions) == len(judgments) == job.total
    assert set(completions.values()) == set(judgments.values()) == {1}
    assert engine.pool.members[0].failures == 0


def turn(job: GradingJob, engine: OpenAIEngine) -> bool:
    return take_turn(job_id=job.pk, generation=job.generation, engine_for=lambda judge: engine, seconds=15)


def a_job(study: Study, *, model: str) -> GradingJob:
    many_items(study, PAIRS)
    criterion = criterion_of(study)
    template = PromptTemplate.objects.create(
        name="plain", version=1, task_type=criterion.task_type, criterion_name="answerability",
        text="{text} {question} {choices}", content_hash="plain",
    )  # fmt: skip
    judge, _ = make_judge(
        engine=Judge.Engine.OPENAI, model=model, template=template, task_type=criterion.task_type,
        criterion_name="answerability", scale=criterion.scale,
    )  # fmt: skip
    return start_job(criterion=criterion, judge=judge, by=None, at=now())


def kill_in_the_middle(job: GradingJob, server: VLLMServer) -> None:
    """Wait for the first grades, kill the server with what it is at, and start it again."""
    while not Completion.objects.filter(job=job).exists():
        time.sleep(0.05)
    server.kill()
    assert Completion.objects.filter(job=job).count() < job.total, "The job was done before the server was killed."
    server.start()
    connection.close()
