"""Judges whose models think, are hosted, or go by another name: from their settings to the grades and what is said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django.fixtures import Settings as SettingsWrapper

from collection.models import Study, User
from judging.celery_tasks import grade
from judging.data.reasons import reasons_of
from judging.engines.openai import OpenAIEngine
from judging.engines.probe_store import change_attribute, probe_judge
from judging.engines.registry import kept_engine, writer_for
from judging.engines.thinking import SWITCHES
from judging.grading.batch_files import write_requests
from judging.grading.budget import expected_use
from judging.grading.jobs import JobLimits, grade_again, start_job
from judging.jobs.estimate import LOOKED_AT, estimate, thinking_of_a_pair
from judging.judges.registry import BadJudge
from judging.models import Build, Completion, GradingJob, Judge
from judging.prompts.rendering import requests_for
from judging.trial_runs.engine_choice import seconds_for
from judging.trial_runs.errands import ask_for_trial
from tests.judging.engines.test_probe_store import a_judge, page_of
from tests.judging.thinking_server import THINKS_FOR, THOUGHT, ThinkingServer
from tests.judging.world import criterion_of, many_items

pytestmark = pytest.mark.django_db

MakeServer = Callable[..., ThinkingServer]


@pytest.fixture
def make_server(settings: SettingsWrapper) -> Iterator[MakeServer]:
    kept_engine.cache_clear()
    made: list[ThinkingServer] = []

    def make(*args: Any, **options: Any) -> ThinkingServer:
        made.append(ThinkingServer(*args, **options))
        settings.JUDGE_BASE_URL = made[-1].url
        return made[-1]

    yield make
    for server in made:
        server.stop()


def a_job_of(study: Study, judge: Judge) -> GradingJob:
    return start_job(criterion=criterion_of(study, "rating"), judge=judge, by=None, at=now())


def graded(job: GradingJob) -> GradingJob:
    """Give the job turn after turn, as workers do, until it ends or pauses."""
    for _ in range(50):
        grade(job.pk, job.generation)
        job.refresh_from_db()
        if not job.active:
            break
    return job


# --- settings ---


def test_settings_that_say_nothing_of_it_make_the_judge_that_was_made_before() -> None:
    before = a_judge()

    assert set(before.decoding) == {"temperature", "seed", "endpoint"}
    assert a_judge(decoding={"thinking": "", "thinking_tokens": 0, "extra": {}}) == before


def test_each_setting_is_part_of_what_a_judge_is() -> None:
    decodings: list[dict[str, Any]] = [
        {},
        {"thinking": "off"},
        {"thinking": "on"},
        {"thinking": "on", "thinking_tokens": 500},
        {"thinking": "low"},
        {"extra": {"top_k": 20}},
    ]

    assert len({a_judge(decoding=decoding).content_hash for decoding in decodings}) == len(decodings)


@pytest.mark.parametrize(
    "decoding",
    [
        {"thinking": "much"},
        {"thinking": "off", "thinking_tokens": 5},
        {"thinking": "on", "thinking_tokens": -1},
        {"thinking": "on", "endpoint": "completions"},
        {"extra": {"temperature": 1}},
        {"extra": {"n": 2}},
        {"extra": {"reasoning_effort": "low"}},
        {"extra": {"note": "\x00"}},
        {"extra": {"note": "x" * 3000}},
        {"extra": {"share": float("nan")}},
        {"extra": [1]},
    ],
    ids=str,
)
def test_settings_that_mean_nothing_or_override_ours_are_refused(decoding: dict[str, Any]) -> None:
    with pytest.raises(BadJudge):
        a_judge(decoding=decoding)


def test_models_in_workers_are_asked_for_nothing_of_it() -> None:
    with pytest.raises(BadJudge):
        a_judge(engine=Judge.Engine.VLLM, decoding={"thinking": "off"})


# --- grading ---


def test_thinking_is_kept_apart_shown_and_paid_for(
    judged_study: Study, make_server: MakeServer, client: Client, rosa: User
) -> None:
    make_server()
    judge = a_judge()
    job = graded(a_job_of(judged_study, judge))

    assert (job.state, job.graded, job.ungraded) == ("done", job.total, 0)
    completions = Completion.objects.filter(job=job)
    assert {(row.thinking, row.thinking_tokens, row.reply) for row in completions} == {(THOUGHT, THINKS_FOR, "1")}
    assert all(row.sent and row.sent["max_tokens"] > THINKS_FOR for row in completions)
    assert job.completion_tokens == job.total * (THINKS_FOR + 1)
    reasons = reasons_of(judge.rater, job.criterion, [row.item_id for row in completions])
    assert set(reasons.values()) == {THOUGHT}
    client.force_login(rosa)
    assert THOUGHT in client.get(reverse("judging:job_replies", args=[judged_study.name, job.pk])).content.decode()


def test_an_estimate_counts_the_thinking(judged_study: Study, make_server: MakeServer) -> None:
    make_server()
    judge = a_judge()
    criterion = criterion_of(judged_study, "rating")
    blind = estimate(criterion=criterion, judge=judge)
    probe_judge(judge, by=None, at=now())

    known = estimate(criterion=criterion, judge=judge)

    assert blind.thinking_tokens == 0
    assert known.thinking_tokens == known.pairs * 2048  # half of what the server says that it reads
    assert known.completion_tokens is not None
    assert known.completion_tokens > known.thinking_tokens


def test_a_trial_run_waits_longer_for_a_model_that_thinks(make_server: MakeServer) -> None:
    make_server()
    judge = a_judge()
    before = seconds_for(judge)
    probe_judge(judge, by=None, at=now())

    assert seconds_for(judge) > before


def test_a_limit_holds_where_a_model_thinks(judged_study: Study, make_server: MakeServer) -> None:
    server = make_server()
    judge = a_judge()
    probe_judge(judge, by=None, at=now())
    spent = server.spent
    terms = JobLimits(token_limit=3000)
    job = start_job(criterion=criterion_of(judged_study, "rating"), judge=judge, terms=terms, by=None, at=now())

    graded(job)

    assert job.state == "paused"
    assert server.spent - spent < 3000 + 2 * (THINKS_FOR + 100)


# --- what servers refuse, and other names ---


def test_what_a_hosted_server_refuses_is_said_on_the_judges_page(
    make_server: MakeServer, client: Client, rosa: User, judged_study: Study
) -> None:
    make_server("hosted")
    judge = a_judge()
    probe_judge(judge, by=None, at=now())
    client.force_login(rosa)

    judge.rater.refresh_from_db()
    assert judge.not_sent == ["seed", "temperature"]
    assert "temperature" in client.get(page_of(judge)).content.decode()
    job = graded(a_job_of(judged_study, judge))
    assert (job.graded, job.ungraded) == (job.total, 0)


def test_replies_under_another_name_count_once_a_trial_run_showed_it(
    judged_study: Study, make_server: MakeServer, client: Client, rosa: User, settings: SettingsWrapper
) -> None:
    settings.WORK_AT_ONCE = True
    client.force_login(rosa)
    server = make_server(by_default=False)
    server.answers_as = "a-gateways-name"
    judge = a_judge()

    job = graded(a_job_of(judged_study, judge))
    assert (job.graded, set(job.by_kind)) == (0, {"engine_error"})
    errand = ask_for_trial(judge, criterion_of(judged_study, "rating"), seed=1, by=rosa, at=now())

    assert errand.state == "done"
    assert [row["reply"]["answered_as"] for row in errand.result or ()] == ["a-gateways-name"] * 5
    by_api = client.get(reverse("api:judge-detail", args=[judge.name])).json()
    assert by_api["other_names"] == ["a-gateways-name"]
    judge = Judge.objects.get(pk=judge.pk)
    assert judge.other_names == ["a-gateways-name"]
    again = grade_again(job=job, by=None, at=now())
    assert (graded(again).graded, again.ungraded) == (again.total, 0)
    assert all("a-gateways-name" in row.engine_identity for row in Completion.objects.filter(job=again))


@pytest.mark.parametrize(
    ("service", "decoding", "switch"),
    [
        ("vllm", {"thinking": "off"}, {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}}),
        ("openai", {"thinking": "off"}, {"reasoning_effort": "none"}),
        ("openai", {"thinking": "high"}, {"reasoning_effort": "high"}),
        ("openai", {}, {}),
    ],
)
def test_a_batch_service_is_asked_too(
    judged_study: Study, service: str, decoding: dict[str, Any], switch: dict[str, Any]
) -> None:
    judge = a_judge(decoding=decoding)
    job = start_job(criterion=criterion_of(judged_study, "rating"), judge=judge, away=service, by=None, at=now())

    body = json.loads(next(iter(write_requests(job, service=service))))["body"]

    assert {name: value for name, value in body.items() if name in SWITCHES} == switch
    room = body["max_tokens" if service == "vllm" else "max_completion_tokens"]
    assert (room > 4000) is (decoding.get("thinking") == "high")


# --- the form ---


def test_a_judge_that_must_not_think_is_made_on_the_page(client: Client, rosa: User) -> None:
    client.force_login(rosa)
    template = a_judge().template
    assert template is not None
    sent = {
        "engine": "openai", "asked": "rating", "template": template.pk, "model": "qwen", "temperature": "0",
        "seed": "0", "endpoint": "chat", "thinking": "off", "extra": '{"top_k": 20}', "name": "thoughtless",
    }  # fmt: skip

    response = client.post(reverse("judging:judge_new"), sent)

    assert response.status_code == 302, response.context["form"].errors
    assert Judge.objects.get(name="thoughtless").decoding["thinking"] == "off"
    assert Judge.objects.get(name="thoughtless").decoding["extra"] == {"top_k": 20}


# --- what is expected of it ---


def test_requests_of_every_kind_of_work_expect_the_thinking_that_the_engine_leaves_room_for(
    judged_study: Study,
) -> None:
    items = list(judged_study.items.filter(task_type="rating")[:2])
    first, second = requests_for(a_judge(decoding={"thinking": "on", "thinking_tokens": 700}), items)
    quick, _ = requests_for(a_judge(decoding={"thinking": "off"}), items)

    assert (first.thinks_for, second.thinks_for, quick.thinks_for) == (700, 700, 0)
    assert expected_use(first).replies == expected_use(quick).replies + 700


def test_only_the_latest_replies_say_what_a_pair_thinks(judged_study: Study) -> None:
    judge = a_judge(decoding={"thinking": "on"})
    many_items(judged_study, LOOKED_AT + 1)
    items = judged_study.items.filter(item_id__startswith="many/").order_by("pk")
    job = a_job_of(judged_study, judge)
    for number, item in enumerate(items):
        Completion.objects.create(
            job=job, judge=judge, criterion=job.criterion, item=item, attempt=1, grade=1.0, completion_tokens=2,
            thinking="" if number else "Hm.", completed_at=now(),
        )  # fmt: skip

    assert thinking_of_a_pair(judge) == 0


def test_a_writer_takes_the_names_that_judges_of_its_model_were_seen_to_reply_under(
    settings: SettingsWrapper,
) -> None:
    settings.JUDGE_BASE_URL = "http://127.0.0.1:9/v1"
    judge = a_judge()
    change_attribute(judge, "answers_as", lambda _: {"a-gateways-name": "2026-01-01"})

    same, other = (
        writer_for(Build(engine="openai", model=model, decoding={"endpoint": "chat"}))
        for model in (judge.model, "another")
    )

    assert isinstance(same, OpenAIEngine)
    assert isinstance(other, OpenAIEngine)
    assert same.other_names == {"a-gateways-name"}
    assert other.other_names == set()
