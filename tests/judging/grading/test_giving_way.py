"""A turn of a long job ends for what somebody waits for, and the job goes on behind it."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.utils.timezone import now

from collection.models import Study, User
from judging.engines import GradeRequest, Reply
from judging.grading import giving_way
from judging.grading.giving_way import is_to_end
from judging.grading.worker import take_turn
from judging.models import Errand, GradingJob
from tests.judging.world import ScriptedEngine, a_job, many_items

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _for_nobody_before() -> None:
    giving_way._ended_for.clear()


def an_errand(job: GradingJob, rosa: User, *, seconds_ago: float) -> Errand:
    at = now() - timedelta(seconds=seconds_ago)
    return Errand.objects.create(
        kind=Errand.Kind.TRIAL, judge=job.judge, criterion=job.criterion, seed=1, user=rosa, asked_at=at
    )


def test_a_turn_ends_for_a_trial_run_that_no_thread_took_up(judged_study: Study, rosa: User) -> None:
    many_items(judged_study, 2_000)
    job = a_job(judged_study)
    an_errand(job, rosa, seconds_ago=2)

    def reply(request: GradeRequest) -> Reply:
        time.sleep(0.02)
        return Reply(text="1", finish_reason="stop")

    began = time.monotonic()
    more = take_turn(
        job_id=job.pk, generation=job.generation, engine_for=lambda judge: ScriptedEngine(reply), seconds=30
    )

    assert more
    assert time.monotonic() - began < 5
    assert 0 < job.completions.count() < 1_000


def test_one_turn_ends_for_each_and_none_for_what_was_taken_up_or_given_up(judged_study: Study, rosa: User) -> None:
    job = a_job(judged_study)
    assert not is_to_end()
    waiting = an_errand(job, rosa, seconds_ago=2)

    assert [is_to_end(), is_to_end()] == [True, False]
    giving_way._ended_for.update(dict.fromkeys(giving_way._ended_for, time.monotonic() - 10))
    assert is_to_end()
    Errand.objects.filter(pk=waiting.pk).update(begun_at=now())
    an_errand(job, rosa, seconds_ago=0)
    an_errand(job, rosa, seconds_ago=900)
    assert not is_to_end()
