"""A build and what follows it are in the hands of one at a time, whichever door is tried; a command sees to the end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from collection.models import Collection, Judgment, User
from judging import celery_tasks
from judging.building.builds import requeue_stalled_builds
from judging.building.chain.following import follow_those_that_wait
from judging.grading.leases import LEASE
from judging.grading.recovery import requeue_stalled_jobs
from judging.judges.registry import load_shipped
from judging.models import Build, GradingChunk, GradingJob, Judge
from tests.judging.building.world import Scripted, a_build, finish, with_ranking

pytestmark = pytest.mark.django_db

ELSEWHERE = "elsewhere:1:ab:1"


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """Writes whatever is asked for in this process."""
    engine = Scripted(lambda _: "So it is. And so.")
    monkeypatch.setattr(celery_tasks, "writer_for", lambda *_: engine)
    return engine


@pytest.fixture
def chained(collection: Collection, rosa: User) -> Build:
    """A build of reports that a judge grades, not begun."""
    load_shipped()
    judge = Judge.objects.get(task_type="rating", engine="lexical")
    return a_build(with_ranking(collection), "report-direct", by=rosa, grade_by=judge.name, run="mine")


def hold(build: Build, *, seconds: float = 40) -> None:
    """Let a worker elsewhere have the build for so long."""
    Build.objects.filter(pk=build.pk).update(holder=ELSEWHERE, leased_until=now() + timedelta(seconds=seconds))


def the_command(build: Build) -> str:
    said = StringIO()
    call_command("build", build.pipeline, collection=build.collection.name, go_on=build.pk, stdout=said)
    return said.getvalue()


def meanwhile(monkeypatch: pytest.MonkeyPatch, *deeds: Callable[[], Any]) -> None:
    """Let these things happen, one each time that a command waits."""
    left = iter(deeds)
    monkeypatch.setattr("judging.management.waiting.time.sleep", lambda _: next(left)())


def test_no_door_touches_what_somebody_else_has_in_hand(
    client: Client, chained: Build, rosa: User, writer: Scripted
) -> None:
    client.force_login(rosa)
    hold(chained)
    page = reverse("judging:build_move", args=[chained.collection.name, chained.pk, "follow"])

    assert not celery_tasks.take_one_build_turn(chained.pk, chained.generation)
    Build.objects.filter(pk=chained.pk).update(queued_at=now() - timedelta(hours=1))
    assert requeue_stalled_builds(at=now(), patience=timedelta(0)) == []
    assert writer.asked == []

    Build.objects.filter(pk=chained.pk).update(holder="", leased_until=None)
    finish(chained, writer)
    hold(chained)
    celery_tasks.take_one_build_turn(chained.pk, chained.generation)
    follow_those_that_wait(at=now())
    client.post(page)
    assert not GradingJob.objects.exists()

    hold(chained, seconds=-1)
    follow_those_that_wait(at=now())
    assert GradingJob.objects.count() == 1


def test_the_command_does_what_a_worker_left_after_the_last_reply(
    chained: Build, writer: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(chained, writer)
    hold(chained)
    meanwhile(monkeypatch, lambda: hold(chained, seconds=-1))

    board = the_command(chained)

    assert "mine" in board
    assert GradingJob.objects.get().state == GradingJob.State.DONE


def test_the_command_waits_for_a_worker_and_takes_the_place_of_one_that_is_gone(
    chained: Build, writer: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold(chained)
    asked: list[int] = []
    meanwhile(monkeypatch, lambda: asked.append(len(writer.asked)), lambda: hold(chained, seconds=-1))

    board = the_command(chained)

    assert asked == [0]
    assert "mine" in board
    chained.refresh_from_db()
    assert (chained.state, chained.holder, chained.leased_until) == ("done", "", None)


def test_the_board_is_shown_once_others_have_graded_what_they_hold(
    chained: Build, writer: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(chained, writer)
    follow_those_that_wait(at=now())
    GradingChunk.objects.update(holder=ELSEWHERE, leased_until=now() + LEASE / 2)
    graded: list[int] = []

    def died() -> None:
        graded.append(Judgment.objects.filter(item__study__name__endswith="-sentences").count())
        GradingChunk.objects.update(leased_until=now() - timedelta(seconds=1))

    meanwhile(monkeypatch, died)

    the_command(chained)

    job = GradingJob.objects.get()
    assert graded == [0]
    assert (job.state, job.done) == (GradingJob.State.DONE, job.total)


@pytest.mark.parametrize("state", ["paused", "cancelled"])
def test_the_command_fails_where_the_build_or_its_grading_is_stopped(
    chained: Build, writer: Scripted, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold(chained)
    meanwhile(monkeypatch, lambda: Build.objects.filter(pk=chained.pk).update(state=state))
    with pytest.raises(CommandError, match=f"Build {chained.pk} is {state}"):
        the_command(chained)

    Build.objects.filter(pk=chained.pk).update(state="queued", holder="", leased_until=None)
    finish(chained, writer)
    follow_those_that_wait(at=now())
    GradingChunk.objects.update(holder=ELSEWHERE, leased_until=now() + LEASE / 2)
    meanwhile(monkeypatch, lambda: GradingJob.objects.update(state=state))
    with pytest.raises(CommandError, match=rf"Job \d+ is {state}"):
        the_command(chained)


def test_a_lease_from_before_the_clock_went_back_is_over(chained: Build, writer: Scripted) -> None:
    hold(chained, seconds=3600)

    assert requeue_stalled_builds(at=now()) == [chained]
    hold(chained, seconds=3600)
    chained.refresh_from_db()
    celery_tasks.take_one_build_turn(chained.pk, chained.generation)
    job = GradingJob.objects.get()
    GradingChunk.objects.update(holder=ELSEWHERE, leased_until=now() + timedelta(hours=1))
    assert requeue_stalled_jobs(at=now()) == [job]
    GradingChunk.objects.update(holder=ELSEWHERE, leased_until=now() + timedelta(hours=1))
    job.refresh_from_db()
    celery_tasks.take_one_turn(job.pk, job.generation)

    job.refresh_from_db()
    assert (job.state, len(writer.asked)) == (GradingJob.State.DONE, 2)


def test_signs_of_life_from_before_the_clock_went_back_are_none(chained: Build, writer: Scripted) -> None:
    later = now() + timedelta(hours=1)
    Build.objects.filter(pk=chained.pk).update(queued_at=later, heartbeat_at=later)
    assert requeue_stalled_builds(at=now()) == [chained]

    chained.refresh_from_db()
    celery_tasks.take_one_build_turn(chained.pk, chained.generation)
    GradingJob.objects.update(queued_at=later, heartbeat_at=later)
    assert requeue_stalled_jobs(at=now()) == [GradingJob.objects.get()]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_workers_and_a_command_that_race_ask_once_and_show_a_whole_board(chained: Build, writer: Scripted) -> None:
    over = threading.Event()

    def work() -> None:
        try:
            while not over.is_set():
                for build in Build.objects.active():
                    celery_tasks.take_one_build_turn(build.pk, build.generation)
                follow_those_that_wait(at=now())
                for job in GradingJob.objects.active():
                    celery_tasks.take_one_turn(job.pk, job.generation)
        finally:
            connections.close_all()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for one in workers:
        one.start()
    try:
        board = the_command(chained)
    finally:
        over.set()
        for one in workers:
            one.join()

    job = GradingJob.objects.get()
    assert (job.state, job.done) == (GradingJob.State.DONE, job.total)
    assert "mine" in board
    assert len(writer.asked) == len({request.item_id for request in writer.asked}) == 2
