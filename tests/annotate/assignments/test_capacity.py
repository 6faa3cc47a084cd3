"""The cap, proven: 32 assessors in several processes, with double clicks, returns and a kill.

They work on the same database as the test, SQLite or PostgreSQL, whichever DATABASE_URL names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.db.models import Count, F, Q
from django.utils.timezone import now

from annotate.models import Assignment, Place, Task
from annotate.studies.design import StudyDesign
from annotate.studies.lifecycle import make_study, open_study
from collection.models import Collection, EarlierJudgment, Item, Judgment, Report, Run, Study, User
from tests.factories import a_user

K = 3
REPORTS = 20
PROCESSES = 4
ASSESSORS = [f"assessor-{number}" for number in range(32)]


class Crew:
    """A process of assessors at work, and its log."""

    def __init__(self, study: Study, usernames: list[str], log: Path, *, returns: float) -> None:
        self.log = log
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.annotate.assessors_at_work", study.name, str(log), str(returns), *usernames],
            cwd=settings.BASE_DIR,
            env={**os.environ, "TEST_DATABASE": str(connection.settings_dict["NAME"])},
            stderr=subprocess.PIPE,
            text=True,
        )

    def lines(self) -> list[list[Any]]:
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def kill_in_the_middle(self, *, after: int) -> None:
        """Kill the process, as kill -9 does, once this many answers are acknowledged."""
        while self.process.poll() is None and sum(line[0] == "acknowledged" for line in self.lines()) < after:
            time.sleep(0.01)
        assert self.process.poll() is None, "the crew ended before it could be killed"
        self.process.kill()
        self.process.communicate()

    def finish(self) -> None:
        _, errors = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, errors


@pytest.fixture
def study(transactional_db: None, rosa: User, collection: Collection) -> Study:
    """Twenty reports of three sub-questions, three assessors wanted for each, 32 enrolled."""
    topics = list(collection.topics.all())
    for number in range(REPORTS - collection.topics.count()):
        run = Run.objects.create(collection=collection, system=collection.systems.get(), name=f"run{number}")
        Report.objects.create(run=run, topic=topics[number % 2], text=f"Text {number} holds a fact.")
    study = make_study(
        StudyDesign(
            collection=collection, name="capacity", task_types=["answerability"], overlap=K, guidelines="Read it."
        ),
        assessors=[a_user(name) for name in ASSESSORS],
        by=rosa,
        at=now(),
    )
    open_study(study=study, at=now())
    return study


@pytest.mark.slow
def test_32_assessors_in_4_processes_never_exceed_the_cap_and_lose_nothing(study: Study, tmp_path: Path) -> None:
    shares = [ASSESSORS[number::PROCESSES] for number in range(PROCESSES)]
    crews = [Crew(study, names, tmp_path / f"{n}.log", returns=0.1) for n, names in enumerate(shares)]

    victim, *others = crews
    victim.kill_in_the_middle(after=8)
    for crew in others:
        crew.finish()
    come_back = Crew(study, shares[0], tmp_path / "back.log", returns=0)
    come_back.finish()

    nothing_is_over_the_cap()
    everything_is_done()
    nothing_acknowledged_is_lost([line for crew in [*crews, come_back] for line in crew.lines()])


def nothing_is_over_the_cap() -> None:
    in_force = ~Q(assignments__state=Assignment.State.RETURNED)
    held = Task.objects.annotate(
        n=Count("assignments", filter=in_force), raters=Count("assignments__rater", filter=in_force, distinct=True)
    )
    assert not held.filter(n__gt=K).exists()
    assert not held.exclude(raters=F("n")).exists()
    judged = Item.objects.annotate(raters=Count("judgments__rater", distinct=True), n=Count("judgments"))
    assert not judged.filter(Q(raters__gt=K) | Q(n__gt=K)).exists()


def everything_is_done() -> None:
    places = Place.objects.annotate(done=Count("assignments", filter=Q(assignments__state="submitted")))
    assert places.filter(done=1).count() == REPORTS * K
    assert Judgment.objects.count() == Item.objects.count() * K


def nothing_acknowledged_is_lost(lines: list[list[Any]]) -> None:
    """What was acknowledged stands as it was last sent; if it was changed or returned, the history has it."""
    returned = {line[2] for line in lines if line[0] == "returning"}
    sent: dict[tuple[str, int, int], list[int]] = defaultdict(list)
    acknowledged: dict[tuple[str, int, int], list[int]] = defaultdict(list)
    for word, username, assignment, *answer in lines:
        if word in ("sent", "acknowledged"):
            item, grade = answer
            (sent if word == "sent" else acknowledged)[username, assignment, item].append(grade)
    current = {
        (username, item): grade
        for username, item, grade in Judgment.objects.values_list("rater__user__username", "item__pk", "grade")
    }
    earlier: dict[tuple[str, int], set[float | None]] = defaultdict(set)
    for username, item, grade in EarlierJudgment.objects.values_list("rater__user__username", "item__pk", "grade"):
        earlier[username, item].add(grade)

    assert len(acknowledged) > REPORTS * K
    for (username, assignment, item), grades in acknowledged.items():
        kept = earlier[username, item] | {current.get((username, item))}
        assert set(grades) <= kept, (username, item, grades, kept)
        if assignment not in returned:
            unacknowledged = sent[username, assignment, item][len(grades) :]
            assert current[username, item] in {grades[-1], *unacknowledged}
