"""How long jobs and builds wait for servers that are gone: from their last stored reply on, by any worker."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils.timezone import now

from collection.models import Judgment, Study
from judging.building import worker as writing
from judging.engines import Engine, GradeRequest, Reply
from judging.engines.http import Access
from judging.engines.openai import OpenAIEngine
from judging.grading import worker as grading
from judging.grading.jobs import start_job
from judging.models import Build, GradingJob
from tests.judging.building.world import Scripted, a_build
from tests.judging.grading.test_spending import a_model_judge
from tests.judging.scripted_server import MODEL, ScriptedServer
from tests.judging.world import criterion_of

pytestmark = pytest.mark.django_db

Take = Callable[[Engine, float], None]


@pytest.fixture
def gone() -> OpenAIEngine:
    """A server that is gone, and that this process has never seen."""
    server = ScriptedServer()
    server.stop()
    return OpenAIEngine(
        servers=[Access(server.url)],
        model=MODEL,
        decoding={"temperature": 0.0},
        timeout=1.0,
        first_delay=0.01,
        patience=60.0,
    )


@pytest.fixture(params=["job", "build"])
def work(request: pytest.FixtureRequest, judged_study: Study) -> tuple[GradingJob | Build, Take]:
    """A job or a build, and how a turn is taken at it."""
    if request.param == "job":
        criterion = criterion_of(judged_study)
        job = start_job(criterion=criterion, judge=a_model_judge(judged_study), by=None, at=now())
        return job, lambda engine, seconds: _graded(job, engine, seconds)
    build = a_build(judged_study.collection, "report-direct")
    return build, lambda engine, seconds: _written(build, engine, seconds)


def _graded(job: GradingJob, engine: Engine, seconds: float) -> None:
    grading.take_turn(job_id=job.pk, generation=job.generation, engine_for=lambda _: engine, seconds=seconds)


def _written(build: Build, engine: Engine, seconds: float) -> None:
    writing.take_turn(build_id=build.pk, generation=build.generation, engine_for=lambda _: engine, seconds=seconds)


@pytest.mark.parametrize(("ago", "state"), [(5, "running"), (300, "paused"), (-3600, "paused"), (None, "paused")])
def test_waits_as_long_as_a_reply_was_stored_lately(
    work: tuple[GradingJob | Build, Take], gone: OpenAIEngine, ago: float | None, state: str
) -> None:
    it, take = work
    replied = None if ago is None else now() - timedelta(seconds=ago)
    type(it)._default_manager.filter(pk=it.pk).update(replied_at=replied, state="running")

    take(gone, 0.5)

    it.refresh_from_db()
    assert it.state == state


@pytest.mark.parametrize(
    ("reply", "counts"), [(Reply("1"), True), (Reply(ungraded=Judgment.Ungraded.ENGINE_ERROR, error="Gone."), False)]
)
def test_notes_when_a_reply_was_stored(work: tuple[GradingJob | Build, Take], reply: Reply, *, counts: bool) -> None:
    it, take = work

    def one_reply(_: GradeRequest) -> Reply:
        return reply

    take(Scripted(one_reply), 5)

    it.refresh_from_db()
    assert (it.replied_at is not None) is counts
