"""Tokens a month for each researcher on the operator's servers: what counts, when it stops, when it goes on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.timezone import now
from pytest_django.fixtures import Settings as SettingsWrapper

from collection.models import Study, User
from judging.celery_tasks import grade, requeue_stalled
from judging.engines import Reply
from judging.engines.probe_store import probe_judge
from judging.engines.registry import kept_engine
from judging.engines.token_quotas import QuotaSpent, note_use, quota_of, quota_of_job
from judging.grading.budget import budget_of, within
from judging.grading.completions import ReadReply, write_read_replies
from judging.grading.jobs import LimitReached, grade_again, resume_job, start_job
from judging.grading.recovery import go_on_with_new_tokens
from judging.gullibility import audit as gullibility
from judging.models import GradingJob, GullibilityAudit, Judge, TokenQuota, TokenUse
from judging.trial_runs.engine_choice import try_out
from judging.trial_runs.run import draw_items
from tests.factories import a_user
from tests.judging.engines.test_probe_store import a_judge
from tests.judging.grading.test_spending import a_model_judge, tokens
from tests.judging.scripted_server import ScriptedServer, chat_completion
from tests.judging.world import ScriptedEngine, a_lexical_judge, criterion_of, work_through

pytestmark = pytest.mark.django_db

# What the scripted server says that a reply took.
A_REPLY = 101


def used_by(researcher: User) -> int:
    quota = quota_of(researcher, at=now())
    assert quota is not None
    return quota.used


def probed_for(researcher: User) -> int:
    """What it took to find out what the server honours: it is paid for, too."""
    took = TokenUse.objects.filter(researcher=researcher, used_for=TokenUse.For.PROBE)
    tokens = sum(use.prompt_tokens + use.completion_tokens for use in took)
    assert tokens
    return tokens


def a_reply(item: int, prompt: int, reply: int) -> ReadReply:
    return ReadReply(item, 1.0, "", "1", "", "stop", None, None, None, None, prompt, None, reply, None, "")


def a_job_of(researcher: User | None, study: Study, *, judge: Judge | None = None, at: datetime | None = None) -> Any:
    criterion = criterion_of(study)
    return start_job(criterion=criterion, judge=judge or a_model_judge(study), by=researcher, at=at or now())


def through(job: GradingJob) -> GradingJob:
    """Do the job's turns as workers do, and return it as it is then."""
    job.refresh_from_db()
    while job.active:
        grade(job.pk, job.generation)
        job.refresh_from_db()
    return job


@pytest.fixture
def limited(settings: SettingsWrapper) -> None:
    settings.JUDGE_TOKENS_PER_RESEARCHER = 1_000


@pytest.fixture
def on_a_server(server: ScriptedServer, settings: SettingsWrapper, limited: None) -> ScriptedServer:
    settings.JUDGE_BASE_URL = server.url
    kept_engine.cache_clear()
    return server


def test_without_a_setting_nobody_has_a_limit(judged_study: Study, rosa: User) -> None:
    job = work_through(a_job_of(rosa, judged_study), tokens(10**6, 1))

    assert job.state == "done"
    assert quota_of(rosa, at=now()) is None


@pytest.mark.usefixtures("limited")
class TestWhatCounts:
    def test_tokens_of_jobs_on_the_operators_servers_count_for_who_started_them(
        self, judged_study: Study, rosa: User, mallory: User
    ) -> None:
        work_through(a_job_of(rosa, judged_study), tokens(98, 2))

        assert (used_by(rosa), used_by(mallory)) == (600, 0)

    def test_baselines_batch_services_and_commands_use_nothing(self, judged_study: Study, rosa: User) -> None:
        judge, criterion = a_model_judge(judged_study), criterion_of(judged_study)
        away = start_job(criterion=criterion, judge=judge, away="openai", by=rosa, at=now())
        item = judged_study.items.filter(task_type="answerability")[0]
        write_read_replies(away, [a_reply(item.pk, 5_000, 5)], at=now())
        baseline = a_job_of(rosa, judged_study, judge=a_lexical_judge(criterion))

        assert used_by(rosa) == 0
        assert quota_of_job(away, at=now()) is quota_of_job(baseline, at=now()) is None
        away.delete()
        assert work_through(a_job_of(None, judged_study, judge=judge), tokens(5_000, 5)).state == "done"

    def test_only_this_months_tokens_of_an_older_job_count(self, judged_study: Study, rosa: User) -> None:
        items = list(judged_study.items.filter(task_type="answerability").values_list("pk", flat=True))
        job = a_job_of(rosa, judged_study, at=datetime(2026, 2, 27, tzinfo=UTC))
        write_read_replies(job, [a_reply(items[0], 100, 1)], at=datetime(2026, 2, 28, 23, 59, tzinfo=UTC))
        write_read_replies(job, [a_reply(items[1], 30, 2)], at=datetime(2026, 3, 1, 0, 1, tzinfo=UTC))

        february, march, april = (quota_of(rosa, at=datetime(2026, month, 28, tzinfo=UTC)) for month in (2, 3, 4))

        assert february is not None
        assert march is not None
        assert april is not None
        assert (march.used, march.left, april.used) == (32, 968, 0)
        assert (february.begins_anew, march.begins_anew) == (march.begins, april.begins)
        assert april.begins == datetime(2026, 4, 1, tzinfo=UTC)

    def test_a_test_run_counts_and_is_refused_when_nothing_is_left(
        self, judged_study: Study, rosa: User, on_a_server: ScriptedServer
    ) -> None:
        judge, criterion = a_judge(), criterion_of(judged_study, "rating")
        drawn = draw_items(criterion, seed=1)

        try_out(judge, drawn, by=rosa)
        try_out(judge, drawn, by=rosa)

        assert used_by(rosa) == 10 * A_REPLY + probed_for(rosa)
        asked = len(on_a_server.asked)
        with pytest.raises(QuotaSpent, match=r"of 1,000 tokens this month; the count restarts on 1 "):
            try_out(judge, drawn, by=rosa)
        assert len(on_a_server.asked) == asked

    def test_what_comes_too_late_for_a_test_run_counts_as_expected(
        self, judged_study: Study, rosa: User, on_a_server: ScriptedServer
    ) -> None:
        judge, criterion = a_judge(), criterion_of(judged_study, "rating")

        trials = try_out(judge, draw_items(criterion, seed=1), by=rosa, seconds=0)

        assert [trial.reply for trial in trials] == [None] * 5
        assert used_by(rosa) > 100

    def test_a_probe_counts_and_is_refused_when_nothing_is_left(
        self, client: Client, rosa: User, on_a_server: ScriptedServer
    ) -> None:
        judge = a_judge()
        probe_judge(judge, by=rosa, at=now())
        use = TokenUse.objects.get()
        assert (use.used_for, use.prompt_tokens > 0) == ("probe", True)

        TokenQuota.objects.create(researcher=rosa, tokens=use.prompt_tokens)
        client.force_login(rosa)
        page = client.post(reverse("judging:judge_probe", args=[judge.name]), follow=True)
        by_api = client.post(f"/api/v1/judges/{judge.name}/probe/")

        assert "tokens this month" in page.content.decode()
        assert by_api.status_code == 409
        assert TokenUse.objects.count() == 1

    def test_an_audit_counts_waits_when_nothing_is_left_and_goes_on(self, judged_study: Study, rosa: User) -> None:
        judge, criterion = a_model_judge(judged_study, "rating"), criterion_of(judged_study, "rating")
        audit = gullibility.start_audit(judge=judge, criterion=criterion, by=rosa, at=now(), ask=False)
        engine = ScriptedEngine(lambda request: Reply(text=request.choices[0], prompt_tokens=9, completion_tokens=1))

        def turn() -> bool:
            found = GullibilityAudit.objects.get()
            with budget_of(quota_of(rosa, at=now())) as budget:
                return gullibility.take_turn(found, engine_for=lambda _: within(engine, budget))

        more = turn()

        audit.refresh_from_db()
        assert (more, audit.state, audit.replies.count(), used_by(rosa)) == (False, "running", 100, 1_000)
        assert "rosa used 1,000 of 1,000 tokens" in audit.reason
        with pytest.raises(QuotaSpent):
            gullibility.start_audit(judge=judge, criterion=criterion, by=rosa, at=now(), ask=False)
        TokenQuota.objects.create(researcher=rosa, tokens=0)
        while turn():
            pass
        audit.refresh_from_db()
        assert (audit.state, audit.reason) == ("done", "")


@pytest.mark.usefixtures("limited")
class TestAJob:
    def test_pauses_one_request_past_the_quota_and_goes_on_by_itself_when_there_is_room(
        self, judged_study: Study, rosa: User, on_a_server: ScriptedServer
    ) -> None:
        on_a_server.script(lambda _: chat_completion("1"))
        TokenQuota.objects.create(researcher=rosa, tokens=250)
        job = start_job(criterion=criterion_of(judged_study, "rating"), judge=a_judge(), by=rosa, at=now())

        job = through(job)

        assert (job.state, job.pause_cause, job.done) == ("paused", "quota", 3)
        assert f"rosa used {3 * A_REPLY + probed_for(rosa)} of 250 tokens" in job.reason
        with pytest.raises(LimitReached, match="resumes automatically"):
            resume_job(job=job, at=now())
        requeue_stalled()
        job.refresh_from_db()
        assert job.state == "paused"
        TokenQuota.objects.update(tokens=10_000)
        requeue_stalled()
        assert through(job).state == "done"

    def test_waits_for_the_next_month(self, judged_study: Study, rosa: User) -> None:
        job = a_job_of(rosa, judged_study)
        note_use(job.judge, rosa, TokenUse.For.TRIAL, [(2_000, 0)], at=now())
        assert through(job).pause_cause == "quota"
        TokenUse.objects.update(used_at=now() - timedelta(days=40))

        go_on_with_new_tokens(at=now())

        job.refresh_from_db()
        assert (job.state, job.pause_cause, job.reason) == ("queued", "", "")

    def test_is_not_started_when_nothing_is_left(self, client: Client, judged_study: Study, rosa: User) -> None:
        job = work_through(a_job_of(rosa, judged_study), tokens(500, 1))
        client.force_login(rosa)
        judge, criterion = a_model_judge(judged_study, "rating"), criterion_of(judged_study, "rating")
        named = {"study": judged_study.name, "criterion": "rating", "judge": judge.name}

        page = client.post(reverse("judging:job_start", args=[judged_study.name]), named, follow=True)
        by_api = client.post("/api/v1/grading-jobs/", named, content_type="application/json")

        assert "rosa used 3,006 of 1,000 tokens" in page.content.decode()
        assert by_api.status_code == 409
        assert "3,006 of 1,000" in by_api.content.decode()
        with pytest.raises(QuotaSpent):
            grade_again(job=job, by=rosa, at=now())
        assert start_job(criterion=criterion, judge=judge, away="openai", by=rosa, at=now()).state == "away"

    def test_shares_the_quota_with_the_researchers_other_jobs_in_the_process(
        self, judged_study: Study, rosa: User
    ) -> None:
        quota = quota_of(rosa, at=now())

        with budget_of(quota) as budget, budget_of(quota_of(rosa, at=now())) as same:
            assert budget is same is not None


@pytest.mark.usefixtures("limited")
class TestShown:
    def test_on_pages_and_in_the_api(self, client: Client, judged_study: Study, rosa: User) -> None:
        job = a_job_of(rosa, judged_study)
        TokenUse.objects.create(
            researcher=rosa, used_for="trial", prompt_tokens=120, completion_tokens=3, used_at=now()
        )
        client.force_login(rosa)
        said = "<strong>123</strong> of 1,000 tokens on this site’s model servers this month; <strong>877</strong>"

        for url in (
            reverse("judging:job", args=[judged_study.name, job.pk]),
            reverse("judging:judge", args=[job.judge.name]),
        ):
            assert said in client.get(url).content.decode()
        by_judge = client.get(f"/api/v1/judges/{job.judge.name}/").json()["quota"]
        by_job = client.get(f"/api/v1/grading-jobs/{job.pk}/").json()["quota"]

        assert by_judge == by_job
        assert {name: by_job[name] for name in ("researcher", "limit", "used", "left")} == {
            "researcher": "rosa", "limit": 1_000, "used": 123, "left": 877,
        }  # fmt: skip
        assert by_job["begins_anew"].startswith(f"{(now().replace(day=1) + timedelta(days=32)):%Y-%m}-01T00:00:00")

    def test_one_sum_for_all_jobs_of_a_list(self, client: Client, judged_study: Study, rosa: User) -> None:
        a_job_of(rosa, judged_study)
        start_job(
            criterion=criterion_of(judged_study, "rating"), judge=a_model_judge(judged_study, "rating"), by=rosa,
            at=now(),
        )  # fmt: skip
        client.force_login(rosa)

        with CaptureQueriesContext(connection) as queries:
            rows = client.get("/api/v1/grading-jobs/").json()["results"]

        assert [row["quota"]["left"] for row in rows] == [1_000, 1_000]
        assert sum("token_uses" in query["sql"] or "tokenuse" in query["sql"] for query in queries) == 1

    def test_an_administrator_gives_one_person_more(self, client: Client, rosa: User, mallory: User) -> None:
        client.force_login(a_user("olga", is_staff=True, is_superuser=True))

        client.post(reverse("admin:judging_tokenquota_add"), {"researcher": rosa.pk, "tokens": 5_000, "note": "thesis"})

        assert [quota_of(user, at=now()).limit for user in (rosa, mallory)] == [5_000, 1_000]  # type: ignore[union-attr]
        assert client.get(reverse("admin:judging_tokenquota_changelist")).status_code == 200
        assert client.get(reverse("admin:judging_tokenuse_changelist")).status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite writes one after the other anyway")
def test_no_token_is_lost_when_several_workers_write_at_once(
    judged_study: Study, rosa: User, settings: SettingsWrapper
) -> None:
    settings.JUDGE_TOKENS_PER_RESEARCHER = 10**6
    jobs = {
        name: start_job(
            criterion=criterion_of(judged_study, name), judge=a_model_judge(judged_study, name), by=rosa, at=now()
        )
        for name in ("answerability", "rating")
    }
    items = {name: list(judged_study.items.filter(task_type=name).values_list("pk", flat=True)) for name in jobs}
    together = Barrier(4)

    def write(worker: int) -> None:
        try:
            name = ("answerability", "rating")[worker % 2]
            mine = items[name][worker // 2 :: 2]
            together.wait()
            for item in mine:
                write_read_replies(jobs[name], [a_reply(item, 98, 2)], at=now())
                note_use(jobs[name].judge, rosa, TokenUse.For.TRIAL, [(9, 1)], at=now())
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as workers:
        list(workers.map(write, range(4)))

    assert used_by(rosa) == sum(map(len, items.values())) * 110
