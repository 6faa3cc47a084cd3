"""A build and the grading behind it: what it takes, what it needs and what it may spend, before the first call."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from collection.models import Collection, Judgment, Passage, RubricElement, Run, Study, System, User
from collection.questions.shapes import TASK_TYPES
from judging import celery_tasks
from judging.building.builds import start_build
from judging.building.chain.following import follow
from judging.building.drafts import Writer, draft
from judging.building.estimate import estimate
from judging.building.forms import judges_of_passages
from judging.building.shipped import PIPELINES
from judging.building.sources import CannotBuild
from judging.engines import EngineState, GradeRequest, Reply, registry
from judging.grading.jobs import JobLimits, LimitReached, grade_again, resume_job
from judging.grading.spending import ledger_of
from judging.jobs.sentence_grading import plan_grading
from judging.judges.registry import load_shipped, make_judge
from judging.models import Build, GradingJob, Judge, ModelServer, PromptTemplate, TokenQuota, TokenUse
from tests.factories import a_collection, a_study
from tests.judging.building.test_api import client_of, path_of
from tests.judging.building.world import Scripted, a_build, a_request, finish, with_everything

pytestmark = pytest.mark.django_db

REPORTS = [name for name, pipeline in PIPELINES.items() if pipeline.makes == "report"]
OTHERS = [name for name in PIPELINES if name not in REPORTS]
SERVED = "judge-model"


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> list[EngineState]:
    """What the site's servers say of themselves: one that has the judges' model."""
    states = [EngineState(available=True, models=(SERVED,))]
    monkeypatch.setattr(registry, "server_states", lambda _: states)
    return states


@pytest.fixture
def everything(collection: Collection, settings: Any) -> Collection:
    settings.JUDGE_BASE_URL = "http://127.0.0.1:9/v1"
    load_shipped()
    return with_everything(collection)


@pytest.fixture
def judge(everything: Collection) -> Judge:
    """A judge that rates passages, on a server."""
    return on_the_server("rating")


def on_the_server(criterion: str) -> Judge:
    template = PromptTemplate.objects.filter(criterion_name=criterion).first()
    assert template is not None
    shape = next(one for one in TASK_TYPES[template.task_type].criteria if one.name == criterion)
    made, _ = make_judge(
        engine=Judge.Engine.OPENAI, model=SERVED, template=template, task_type=template.task_type,
        criterion_name=criterion, scale=shape.scale.stored(),
    )  # fmt: skip
    return made


@dataclass(frozen=True)
class Door:
    """A way to a build: `estimate` returns its calls in all and by link, `start` its refusal, if it is one."""

    estimate: Callable[..., dict[str, int]]
    start: Callable[..., str]


def by_api(collection: Collection, user: User) -> Door:
    client, path = client_of(user), path_of(collection)

    def expected(**sent: Any) -> dict[str, int]:
        said = client.post(f"{path}estimate/", sent, format="json").json()
        return {"all": said["most_calls"]} | {link["name"]: link["most_calls"] for link in said["links"]}

    def start(**sent: Any) -> str:
        answer = client.post(path, sent, format="json")
        return "" if answer.status_code == 201 else str(answer.json())

    return Door(expected, start)


def by_page(collection: Collection, user: User) -> Door:
    client = Client()
    client.force_login(user)

    def post(pipeline: str, **sent: Any) -> Any:
        return client.post(reverse("judging:build_new", args=[collection.name, pipeline]), sent)

    def expected(**sent: Any) -> dict[str, int]:
        page = post(**sent, estimate="1").content.decode()
        found = dict(re.findall(r'data-link="(\w+)" data-calls="(\d+)"', page))
        return {name: int(calls) for name, calls in found.items()} | {
            "all": int(re.findall(r'class="answer" data-calls="(\d+)"', page)[0])
        }

    def start(**sent: Any) -> str:
        answer = post(**sent, start="1")
        return "" if answer.status_code == 302 else " ".join(answer.context["form"].non_field_errors())

    return Door(expected, start)


def by_command(collection: Collection, user: User) -> Door:
    def call(pipeline: str, **sent: Any) -> str:
        out = StringIO()
        given = {name: str(value) for name, value in sent.items() if name != "estimate"}
        options: dict[str, Any] = {"collection": collection.name, "accept_as": user.username, "stdout": out}
        call_command("build", pipeline, **options | given, estimate="estimate" in sent)
        return out.getvalue()

    def expected(**sent: Any) -> dict[str, int]:
        lines = call(**sent, estimate=True).splitlines()
        found = {name: calls for line in lines for name, calls in re.findall(r"^(.+): at most ([\d,]+) calls", line)}
        names = {"build": "Writing", "grading": f"Grading by {sent['grade_by']}", "all": "All"}
        return {name: int(found[label].replace(",", "")) for name, label in names.items()}

    def start(**sent: Any) -> str:
        try:
            call(**sent)
        except CommandError as refusal:
            return str(refusal)
        return ""

    return Door(expected, start)


DOORS = {"api": by_api, "page": by_page, "command": by_command}


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest, everything: Collection, rosa: User) -> Door:
    return DOORS[request.param](everything, rosa)


def texts_of(pipeline: str) -> dict[str, str]:
    needs = PIPELINES[pipeline].needs
    return {name: "alpha-1" for name, need in (("summaries", "summary"), ("documents", "documents")) if need in needs}


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    engine = Scripted(lambda _: Reply("So it is.", finish_reason="stop", prompt_tokens=9, completion_tokens=1))
    monkeypatch.setattr(celery_tasks, "writer_for", lambda *_: engine)
    return engine


@pytest.mark.parametrize("pipeline", REPORTS)
def test_each_door_names_what_every_chain_takes(pipeline: str, door: Door, everything: Collection) -> None:
    for criterion in ("rating", "grounded", "relevance"):
        on_the_server(criterion)
    chains = judges_of_passages()
    everything.topics.get(topic_id="t1").rubric_elements.all().delete()
    alone = estimate(draft(everything, a_request(pipeline), by=None, at=now())[0])
    for name in chains:
        kind = TASK_TYPES[Judge.objects.get(name=name).task_type].element_kind
        asked = RubricElement.objects.filter(kind=kind).count() if kind else 2

        expected = door.estimate(pipeline=pipeline, grade_by=name, **texts_of(pipeline))

        # 20 sentences of each new report, and those of the report that is there
        old = 3 * asked
        assert expected == {
            "build": alone.most_calls, "grading": 20 * asked + old, "all": alone.most_calls + 20 * asked + old
        }  # fmt: skip


@pytest.mark.parametrize("pipeline", REPORTS)
def test_each_door_refuses_every_chain_that_lacks_what_to_grade_by_before_the_first_call(
    pipeline: str, door: Door, everything: Collection, writer: Scripted
) -> None:
    RubricElement.objects.all().delete()
    chains = judges_of_passages()
    with_elements = [name for name in chains if TASK_TYPES[Judge.objects.get(name=name).task_type].element_kind]
    assert with_elements
    for name in with_elements:
        assert "grade them" in door.start(pipeline=pipeline, grade_by=name, **texts_of(pipeline))
    assert (writer.asked, Build.objects.count()) == ([], 0)


@pytest.mark.parametrize("pipeline", OTHERS)
def test_no_door_lets_a_judge_grade_what_is_not_a_report(
    pipeline: str, everything: Collection, rosa: User, writer: Scripted
) -> None:
    client = Client()
    client.force_login(rosa)
    sent = {"pipeline": pipeline, "grade_by": judges_of_passages()[0], **texts_of(pipeline)}

    refusals = [DOORS[door](everything, rosa).start(**sent) for door in ("api", "command")]
    form = client.get(reverse("judging:build_new", args=[everything.name, pipeline])).context["form"]

    assert all("makes no reports" in refusal for refusal in refusals)
    assert "grade_by" not in form.fields
    assert (writer.asked, Build.objects.count()) == ([], 0)


def test_tokens_and_cost_are_those_of_all_links(everything: Collection, judge: Judge, rosa: User) -> None:
    limits = JobLimits(price_in=2.0, price_out=3.0)
    asked = a_request("report-direct", grade_by=judge.name, limits=limits)

    found = estimate(draft(everything, asked, by=rosa, at=now())[0])

    writing, grading = found.links
    assert (writing.name, grading.name) == ("build", "grading")
    assert writing.tokens > 0
    assert grading.prompt_tokens > 100 * grading.most_calls
    assert found.tokens == writing.tokens + grading.tokens
    prompts, replies = (writing.prompt_tokens + grading.prompt_tokens), (writing.reply_tokens + grading.reply_tokens)
    assert found.cost == pytest.approx((2 * prompts + 3 * replies) / 1_000_000)


def test_each_link_costs_what_its_own_server_takes(
    everything: Collection, judge: Judge, rosa: User, writer: Scripted, grader: Scripted
) -> None:
    for name, model, price in (("writers", "writer", 1.0), ("judges", SERVED, 5.0)):
        ModelServer.objects.create(
            name=name, addresses=["http://gpu.invalid"], everybody=True, serves=[model], price_in=price, asked_at=now()
        )
    asked = a_request(
        "report-direct",
        writer=Writer(engine=Build.Engine.OPENAI, model="writer"),
        grade_by=judge.name,
        limits=JobLimits(cost_limit=0.0026),
    )
    writing, grading = estimate(draft(everything, asked, by=rosa, at=now())[0]).links

    job = graded_as_far_as_it_may(start_build(everything, asked, by=rosa, at=now()), late=False)

    assert grading.cost == pytest.approx(5 * grading.prompt_tokens / 1e6)
    assert writing.cost == pytest.approx(writing.prompt_tokens / 1e6)
    build = Build.objects.get()
    assert (build.price_in, job.price_in, job.pause_cause) == (1.0, 5.0, "cost")
    # 500 of a millionth for each grade, 9 for each of two reports.
    assert 5 <= len(grader.asked) <= 6
    assert ledger_of(job).cost == pytest.approx((9 * 2 + 500 * len(grader.asked)) / 1e6)


def test_grades_of_questions_that_were_masked_since_take_nothing_off(
    everything: Collection, rosa: User, judge: Judge, writer: Scripted, grader: Scripted
) -> None:
    graded_as_far_as_it_may(a_build(everything, "report-direct", by=rosa, grade_by=judge.name), late=False)
    topics = list(everything.topics.all())
    kept = {topic.pk: topic.rubric_elements.filter(kind="sub_question").order_by("pk")[:1] for topic in topics}
    RubricElement.objects.exclude(pk__in=[element.pk for some in kept.values() for element in some]).update(masked=True)
    asked = sum(len(some) for some in kept.values())

    planned = plan_grading(judge, topics, run="new", words=200, by=rosa)

    # All that is there was graded: what is left is one more report on each topic.
    assert planned.calls == 20 * asked
    assert min(planned.prompt_tokens, planned.reply_tokens) > 0


def test_sentences_are_graded_in_a_study_apart_where_one_asks_on_another_scale(
    everything: Collection, rosa: User, judge: Judge, writer: Scripted, grader: Scripted
) -> None:
    study = a_study(everything, name=f"{everything.name}-sentences")
    study.criteria.filter(name="rating").update(scale=study.criteria.get(name="answerability").scale)

    graded_as_far_as_it_may(a_build(everything, "report-direct", by=rosa, grade_by=judge.name), late=False)

    job = GradingJob.objects.get()
    assert (job.study.collection, job.criterion.scale) == (everything, judge.scale)
    assert job.study != study
    assert job.study.name.startswith(study.name)


def no_questions(collection: Collection, judge: Judge, rosa: User) -> None:
    RubricElement.objects.all().update(masked=True)


def a_run_of_this_name(collection: Collection, judge: Judge, rosa: User) -> None:
    Run.objects.create(collection=collection, name="mine", system=System.objects.get(name="alpha"))


def a_system_of_this_name(collection: Collection, judge: Judge, rosa: User) -> None:
    System.objects.create(collection=collection, name="mine")


def another_ranking_of_its_sentences(collection: Collection, judge: Judge, rosa: User) -> None:
    Run.objects.create(collection=collection, name="mine-sentences", system=System.objects.get(name="alpha"))


def another_ranking_of_old_sentences(collection: Collection, judge: Judge, rosa: User) -> None:
    Run.objects.create(collection=collection, name="alpha-1-sentences", system=System.objects.get(name="alpha"))


def a_study_elsewhere(collection: Collection, judge: Judge, rosa: User) -> None:
    a_study(a_collection(owner=rosa, name="elsewhere"), name=f"{collection.name}-sentences")


def examples_from_elsewhere(collection: Collection, judge: Judge, rosa: User) -> None:
    elsewhere = a_study(a_collection(owner=rosa, name="elsewhere"), name="elsewhere")
    Judge.objects.filter(pk=judge.pk).update(examples_from=elsewhere)


def a_job_that_is_not_over(collection: Collection, judge: Judge, rosa: User) -> None:
    study = a_study(collection, name=f"{collection.name}-sentences")
    criterion = study.criteria.get(name="rating")
    criterion.scale = judge.scale
    criterion.save()
    GradingJob.objects.create(
        study=study, criterion=criterion, judge=judge, total=1, state="paused", created_at=now(), queued_at=now()
    )


def a_template_that_does_not_fit_its_scale(collection: Collection, judge: Judge, rosa: User) -> None:
    assert judge.template is not None
    PromptTemplate.objects.filter(pk=judge.template.pk).update(reply_with="own", replies=[["yes", 99]])


NEEDS = [
    no_questions, a_run_of_this_name, a_system_of_this_name, another_ranking_of_its_sentences,
    another_ranking_of_old_sentences, a_study_elsewhere, examples_from_elsewhere,
    a_job_that_is_not_over, a_template_that_does_not_fit_its_scale,
]  # fmt: skip


@pytest.mark.parametrize("spoil", NEEDS, ids=lambda spoil: spoil.__name__)
def test_whatever_a_link_would_refuse_is_refused_before_the_first_call(
    spoil: Callable[[Collection, Judge, User], None], everything: Collection, judge: Judge, rosa: User
) -> None:
    asked = {"grade_by": judge.name, "run": "mine"}
    draft(everything, a_request("report-direct", **asked), by=rosa, at=now())
    spoil(everything, judge, rosa)

    with pytest.raises(CannotBuild):
        a_build(everything, "report-direct", by=rosa, **asked)

    assert not Build.objects.exists()


def test_a_judge_whose_server_is_gone_or_whose_tokens_are_used_is_refused(
    everything: Collection, judge: Judge, rosa: User, door: Door, server: list[EngineState], writer: Scripted
) -> None:
    sent = {"pipeline": "report-direct", "grade_by": judge.name}
    TokenQuota.objects.create(researcher=rosa, tokens=10)
    TokenUse.objects.create(researcher=rosa, used_for="trial", prompt_tokens=10, completion_tokens=1, used_at=now())
    assert "this month" in door.start(**sent)

    TokenQuota.objects.all().delete()
    server[:] = [EngineState(available=False, reason="Nobody answers at http://gpu-1.")]
    assert "gpu-1" in door.start(**sent)
    assert (writer.asked, Build.objects.count()) == ([], 0)


def test_a_run_that_would_get_a_name_that_is_taken_is_refused(everything: Collection, judge: Judge, rosa: User) -> None:
    last = a_build(everything, "report-direct", by=rosa)
    System.objects.create(collection=everything, name=f"report-direct-{last.pk + 1}")

    with pytest.raises(CannotBuild, match="already"):
        a_build(everything, "report-direct", by=rosa, grade_by=judge.name)


def test_the_command_adds_nothing_that_nobody_accepts(everything: Collection, writer: Scripted) -> None:
    with pytest.raises(CommandError, match="--accept-as"):
        call_command("build", "report-direct", collection=everything.name, add=True)

    assert writer.asked == []


# --- Limits -----------------------------------------------------------------------------------------

# Two calls of ten tokens write the reports; each of the grading's takes a hundred and one.
LIMITS: list[tuple[str, dict[str, float]]] = [
    ("calls", {"call_limit": 9}),
    ("tokens", {"token_limit": 500}),
    ("cost", {"cost_limit": 0.0005, "price_in": 1.0, "price_out": 1.0}),
    ("time", {"minutes_limit": 5}),
]


@pytest.fixture
def grader(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    def grade(request: GradeRequest) -> Reply:
        return Reply("1", finish_reason="stop", prompt_tokens=100, completion_tokens=1, identity="scripted")

    engine = Scripted(grade)
    monkeypatch.setattr(celery_tasks, "engine_of", lambda *_, **__: engine)
    return engine


def graded_as_far_as_it_may(build: Build, *, late: bool) -> GradingJob:
    """Write all, and take the grading's turns until none is wanted; `late`: ten minutes after the start."""
    while celery_tasks.take_one_build_turn(build.pk, build.generation):
        pass
    if late:
        Build.objects.filter(pk=build.pk).update(created_at=now() - timedelta(minutes=10))
    return work_through_here(GradingJob.objects.get())


def work_through_here(job: GradingJob) -> GradingJob:
    while celery_tasks.take_one_turn(job.pk, job.generation):
        pass
    job.refresh_from_db()
    return job


@pytest.mark.parametrize(("cause", "limits"), LIMITS, ids=[cause for cause, _ in LIMITS])
@pytest.mark.parametrize("started_by", ["api", "page"])
def test_a_limit_of_the_start_holds_for_all_links_together(
    started_by: str, cause: str, limits: dict[str, float], everything: Collection, rosa: User, judge: Judge,
    writer: Scripted, grader: Scripted,
) -> None:  # fmt: skip
    start = DOORS[started_by](everything, rosa).start
    assert start(pipeline="report-direct", grade_by=judge.name, **limits) == ""
    build = Build.objects.get()

    job = graded_as_far_as_it_may(build, late=cause == "time")

    assert (build.bounds.limited, job.state, job.pause_cause) == (True, "paused", cause)
    ledger = ledger_of(job)
    assert ledger == ledger_of(Build.objects.get())
    assert ledger.n_calls == 2 + len(grader.asked)
    assert ledger.tokens == 20 + 101 * len(grader.asked)
    most = {"calls": 7, "tokens": 5, "cost": 5, "time": 0}[cause]
    assert len(grader.asked) <= most
    with pytest.raises(LimitReached):
        resume_job(job=job, at=now())

    resume_job(job=job, terms=JobLimits(), at=now())
    while celery_tasks.take_one_turn(job.pk, job.generation):
        pass
    job.refresh_from_db()
    assert (job.state, Build.objects.get().limited) == ("done", False)


@pytest.mark.parametrize(("cause", "limits"), LIMITS[:3], ids=[cause for cause, _ in LIMITS[:3]])
def test_the_command_stops_at_its_limit_in_the_grading(
    cause: str, limits: dict[str, float], everything: Collection, rosa: User, judge: Judge, writer: Scripted,
    grader: Scripted,
) -> None:  # fmt: skip
    said = by_command(everything, rosa).start(pipeline="report-direct", grade_by=judge.name, **limits)

    job = GradingJob.objects.get()
    assert f"Job {job.pk} is paused" in said
    assert (job.pause_cause, len(grader.asked) <= 7) == (cause, True)


def test_pages_and_api_show_what_the_chain_used_and_its_limits(
    client: Client, everything: Collection, rosa: User, judge: Judge, writer: Scripted, grader: Scripted
) -> None:
    client.force_login(rosa)
    build = a_build(
        everything, "report-direct", by=rosa, grade_by=judge.name, limits=JobLimits(token_limit=500, price_in=1.0)
    )
    job = graded_as_far_as_it_may(build, late=False)

    pages = [
        client.get(reverse("judging:build", args=[everything.name, build.pk])),
        client.get(reverse("judging:job", args=[job.study.name, job.pk])),
    ]
    said = client_of(rosa).get(f"/api/v1/grading-jobs/{job.pk}/").json()
    ledger = ledger_of(job)
    raised = client_of(rosa).post(f"/api/v1/grading-jobs/{job.pk}/resume/", {"token_limit": 9_000}, format="json")

    assert [page.context["ledger"] for page in pages] == [ledger] * 2
    assert all("data-ledger" in page.content.decode() for page in pages)
    assert (said["build"], said["token_limit"], said["n_calls"]) == (build.pk, 500, len(grader.asked[:5]))
    assert (raised.status_code, Build.objects.get().token_limit) == (200, 9_000)


def test_a_build_that_is_asked_again_shares_the_limit_with_its_grading(
    everything: Collection, rosa: User, judge: Judge, writer: Scripted, grader: Scripted
) -> None:
    build = a_build(everything, "report-direct", by=rosa, grade_by=judge.name)
    job = graded_as_far_as_it_may(build, late=False)
    assert job.state == "done"
    Build.objects.filter(pk=build.pk).update(state="queued", call_limit=2 + job.n_calls)

    build.refresh_from_db()
    celery_tasks.take_one_build_turn(build.pk, build.generation)

    build.refresh_from_db()
    assert (build.state, build.pause_cause) == ("paused", "calls")


def test_another_attempt_stays_within_the_limits_of_its_chain(
    everything: Collection, rosa: User, judge: Judge, writer: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    unreadable = Scripted(lambda _: Reply("Well.", finish_reason="stop", prompt_tokens=100, completion_tokens=1))
    monkeypatch.setattr(celery_tasks, "engine_of", lambda *_, **__: unreadable)
    build = a_build(everything, "report-direct", by=rosa, grade_by=judge.name)
    job = graded_as_far_as_it_may(build, late=False)
    assert (job.state, job.graded) == ("done", 0)
    Build.objects.filter(pk=build.pk).update(call_limit=ledger_of(job).n_calls + 2)

    again = work_through_here(grade_again(job=job, by=rosa, at=now()))

    assert (again.build_id, again.pause_cause, again.n_calls) == (build.pk, "calls", 2)
    assert ledger_of(again).n_calls == ledger_of(job).n_calls


def test_a_chain_that_was_started_before_there_were_plans_goes_on(
    everything: Collection, rosa: User, judge: Judge, writer: Scripted
) -> None:
    build = a_build(everything, "report-direct", by=rosa, grade_by=judge.name)
    del build.options["then"]["grading"]
    build.save()

    assert estimate(build).behind == ()
    finish(build, writer)
    follow(build, at=now())

    assert GradingJob.objects.get().build_id == build.pk
    assert Study.objects.filter(name=f"{everything.name}-sentences").exists()
    assert Passage.objects.filter(text="So it is.").exists()
    assert not Judgment.objects.exists()
