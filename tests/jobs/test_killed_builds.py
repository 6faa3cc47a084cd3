"""Workers of builds that are killed at any moment: no finished call is asked again, none is lost, none is doubled."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils.timezone import now

from collection.models import Collection, Passage, Report, Run, Topic, User
from judging.building.builds import requeue_stalled_builds
from judging.building.shipped import PIPELINES
from judging.building.worker import take_turn
from judging.grading.leases import LEASE
from judging.models import Build, GenerationCall
from tests.attacks.mutations import FULL
from tests.factories import a_collection
from tests.jobs.building_worker import Instant
from tests.judging.building.world import a_build, with_everything

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

# The short form takes those that have most steps to be killed between.
AMONG = sorted(PIPELINES, key=lambda name: -len(PIPELINES[name].steps))[: None if FULL else 4]
KILLS = 200 if FULL else len(AMONG)
KILLS_OF_A_BUILD = 4 if FULL else 2
TOPICS = 30 if FULL else 3


class Worker:
    """A process that forks workers, each for one build; `asked` notes what their engine is asked."""

    def __init__(self, asked: Path) -> None:
        self.asked = asked
        environment = {"TEST_DATABASE": str(connection.settings_dict["NAME"]), "ASKED": str(asked)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.jobs.building_worker"], cwd=settings.BASE_DIR, text=True,
            env={**os.environ, **environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self.process.stdout is not None
        return str(self.process.stdout.readline()).strip()

    def work(self, build: Build, *, kill_after: float | None = None, at_work: bool = False) -> tuple[int, bool]:
        """Work on the build, or until it is killed so many seconds after its start or, `at_work`, its first call.

        Returns the worker's number and whether it was killed.
        """
        assert self.process.stdin is not None
        self.process.stdin.write(f"{build.pk} {build.generation}\n")
        self.process.stdin.flush()
        pid = int(self._line())
        if kill_after is not None:
            with suppress(ProcessLookupError):  # it was at its end before
                while at_work and not self.calls_asked_by(pid):
                    os.kill(pid, 0)
                    time.sleep(0.002)
                time.sleep(kill_after)
                os.kill(pid, signal.SIGKILL)
        status = int(self._line())
        assert status in (0, -signal.SIGKILL), "the worker failed"
        return pid, status == -signal.SIGKILL

    def calls_asked_by(self, pid: int) -> set[int]:
        lines = self.asked.read_text().splitlines() if self.asked.exists() else []
        return {int(call) for who, call in map(str.split, lines) if int(who) == pid}

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    started = Worker(tmp_path / "asked")
    yield started
    started.end()


@pytest.fixture
def texts(rosa: User) -> Collection:
    """A collection of a few topics with reports and rankings."""
    collection = a_collection(owner=rosa)
    run = Run.objects.get(collection=collection)
    for number in range(2, TOPICS):
        name = f"t{number}"
        topic = Topic.objects.create(collection=collection, topic_id=name, title=name, request=f"Report on {name}.")
        Report.objects.create(run=run, topic=topic, text=f"Fact 0 of {name} is here. Fact 1 is here too.")
        for p in range(2):
            Passage.objects.create(collection=collection, passage_id=f"{name}-p{p}", text=f"Fact {p} of {name}. More.")
    return with_everything(collection)


def outcome(build: Build) -> dict[str, Any]:
    """Return all that came of a build, without the numbers that differ from build to build."""
    calls = defaultdict(list)
    for call in build.calls.order_by("pk"):
        calls[call.inputs_hash].append((call.step, call.reply, call.rows, call.faults))
    written = build.products.values_list("call__inputs_hash", "position", "raw", "data")
    tokens = (build.prompt_tokens, build.completion_tokens)
    return {"calls": calls, "products": sorted(written, key=lambda one: one[:2]), "tokens": tokens}


def finished(build: Build) -> dict[int, Any]:
    calls = GenerationCall.objects.filter(build=build, finished_at__isnull=False)
    return {call.pk: (call.reply, call.rows, call.faults, call.finished_at) for call in calls}


def test_a_killed_worker_repeats_no_finished_call_and_loses_none(texts: Collection, worker: Worker) -> None:
    chance = random.Random(16)
    expected: dict[str, tuple[dict[str, Any], float]] = {}
    killed, in_the_middle, asked_twice = 0, 0, 0
    builds: Counter[str] = Counter()
    while killed < KILLS or len(builds) < len(AMONG):
        name = min(AMONG, key=lambda one: (builds[one], one))
        builds[name] += 1
        if name not in expected:
            expected[name] = undisturbed(texts, name)
        whole, seconds = expected[name]
        build = a_build(texts, name)
        asked: set[int] = set()
        for kill in range(KILLS_OF_A_BUILD + 1):
            before = finished(build)
            moment = chance.uniform(0, seconds) if kill < KILLS_OF_A_BUILD else None
            pid, was_killed = worker.work(build, kill_after=moment, at_work=chance.random() < 0.8)
            now_asked = worker.calls_asked_by(pid)
            assert not now_asked & set(before), "a finished call was asked again"
            after = finished(build)
            assert {pk: after.get(pk) for pk in before} == before, "a finished call was lost or changed"
            asked_twice += len(asked & now_asked)
            asked |= now_asked
            killed += was_killed
            in_the_middle += was_killed and 0 < len(after) < len(whole["calls"])
            requeue_stalled_builds(at=now() + LEASE + timedelta(seconds=1), patience=timedelta(0))
            build.refresh_from_db()
            if not build.active:
                break
        assert build.state == "done"
        assert outcome(build) == whole
    assert in_the_middle or not FULL
    sys.stdout.write(
        f"{killed} workers killed over {builds.total()} builds of {len(builds)} pipelines, {in_the_middle} of them "
        f"between the first call and the last; {asked_twice} calls that were under way were asked once more\n"
    )


def undisturbed(texts: Collection, name: str) -> tuple[dict[str, Any], float]:
    """Return what comes of the pipeline where nobody is killed, and how many seconds that takes."""
    build = a_build(texts, name)
    began = time.monotonic()
    while take_turn(build_id=build.pk, generation=build.generation, engine_for=lambda _: Instant()):
        pass
    seconds = time.monotonic() - began
    build.refresh_from_db()
    assert build.state == "done"
    assert build.products.exists(), f"“{name}” made nothing of the instant engine’s replies"
    return outcome(build), seconds
