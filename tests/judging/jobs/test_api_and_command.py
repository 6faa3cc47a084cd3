"""The same that the pages do with jobs: by the API, and by commands."""

from __future__ import annotations

import json
import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.timezone import now

from collection.models import Study, User
from judging import celery_tasks
from judging.engines import Engine, EngineUnavailable, registry
from judging.grading.jobs import pause_job, start_job
from judging.management.waiting import nobody_works
from judging.models import GradingJob, Judge
from tests.judging.grading.test_batch_files import output_line
from tests.judging.grading.test_spending import a_model_judge
from tests.judging.world import a_job, a_lexical_judge, criterion_of, saying, work_through

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/grading-jobs/"


@pytest.fixture
def rosas(rosa: User, client: Client) -> Client:
    client.force_login(rosa)
    return client


def post(client: Client, path: str, **sent: Any) -> Any:
    return client.post(f"{ADDRESS}{path}", json.dumps(sent), content_type="application/json")


def wanted(study: Study, **changes: Any) -> dict[str, Any]:
    judge = a_model_judge(study)
    return {"study": study.name, "criterion": "answerability", "judge": judge.name, **changes}


def test_the_api_estimates_and_starts_nothing(rosas: Client, judged_study: Study) -> None:
    said = post(rosas, "estimate/", **wanted(judged_study, price_in=2.0, topics=["t0"]))

    assert said.status_code == 200
    assert said.json()["pairs"] == 3
    assert said.json()["cost"] > 0
    assert not GradingJob.objects.exists()


def test_the_api_starts_a_sample_for_so_much_at_most(rosas: Client, judged_study: Study) -> None:
    said = post(rosas, "", **wanted(judged_study, sample=2, seed=5, token_limit=1000, price_in=1.0)).json()

    assert said["total"] == 2
    assert said["selection"]["inclusion_probability"] == pytest.approx(2 / 6)
    assert (said["token_limit"], said["cost"], said["cache_share"]) == (1000, 0.0, None)


@pytest.mark.parametrize("changes", [{"topics": ["t9"]}, {"runs": ["none"]}, {"sample": 0}, {"token_limit": 0}])
def test_the_api_refuses_a_part_that_is_not_there(rosas: Client, judged_study: Study, changes: dict[str, Any]) -> None:
    assert post(rosas, "", **wanted(judged_study, **changes)).status_code == 400
    assert not GradingJob.objects.exists()


def test_the_api_resumes_under_a_new_limit(rosas: Client, judged_study: Study) -> None:
    job = a_job(judged_study)
    pause_job(job=job, cause="tokens", reason="spent")
    GradingJob.objects.update(token_limit=10, prompt_tokens=20)

    refused = post(rosas, f"{job.pk}/resume/")
    resumed = post(rosas, f"{job.pk}/resume/", token_limit=100)

    assert (refused.status_code, resumed.status_code) == (409, 200)
    assert (resumed.json()["state"], resumed.json()["token_limit"]) == ("queued", 100)


def test_the_api_gives_requests_and_takes_replies(rosas: Client, judged_study: Study) -> None:
    job = post(rosas, "", **wanted(judged_study, service="openai")).json()
    assert job["state"] == "away"

    requests = b"".join(rosas.get(f"{ADDRESS}{job['id']}/requests/")).decode().splitlines()
    lines = "\n".join(json.dumps(output_line(json.loads(line))) for line in requests)
    sent = rosas.post(f"{ADDRESS}{job['id']}/batch-replies/", {"file": SimpleUploadedFile("o.jsonl", lines.encode())})
    bad = rosas.post(f"{ADDRESS}{job['id']}/batch-replies/", {"file": SimpleUploadedFile("o.jsonl", b"{")})

    assert sent.json() == {"new": 6, "known": 0, "graded": 6, "ungraded": {}}
    assert bad.status_code == 400
    assert "line 1" in bad.json()["file"][0]


def test_the_api_is_a_stranger_to_other_studies(client: Client, mallory: User, judged_study: Study) -> None:
    job = a_job(judged_study)
    client.force_login(mallory)

    assert post(client, "estimate/", **wanted(judged_study)).status_code == 404
    for part in ("anchor-checks", "requests", "outcomes"):
        assert client.get(f"{ADDRESS}{job.pk}/{part}/").status_code == 404
    assert client.post(f"{ADDRESS}{job.pk}/batch-replies/").status_code == 404


def said_by(*arguments: Any, **options: Any) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out, **options)
    return out.getvalue()


def test_the_command_estimates_several_judges(judged_study: Study) -> None:
    names = [a_model_judge(judged_study).name, a_lexical_judge(criterion_of(judged_study)).name]
    judges = [part for name in names for part in ("--judge", name)]

    said = said_by("grade", *judges, study=judged_study.name, criterion="answerability", estimate=True, price_in=1.0)

    first, second = said.splitlines()
    assert "6 pairs" in first
    assert "estimated from characters" in first
    assert "cost about" in first
    assert "tokens" not in second
    assert not GradingJob.objects.exists()


def test_the_command_starts_a_part(judged_study: Study) -> None:
    judge = a_lexical_judge(criterion_of(judged_study))

    said = said_by("grade", study=judged_study.name, criterion="answerability", judge=[judge.name], topic=["t1"])

    assert "3 pairs" in said
    with pytest.raises(CommandError, match="no topic “t9”"):
        said_by("grade", study=judged_study.name, criterion="answerability", judge=[judge.name], topic=["t9"])


def test_the_command_lets_every_judge_grade_where_one_pauses(
    judged_study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses, grades = a_model_judge(judged_study), a_lexical_judge(criterion_of(judged_study))

    def engine_for(judge: Judge, **asked: Any) -> Engine:
        if judge == pauses:
            raise EngineUnavailable("Nobody answers.")
        return registry.engine_of(judge, **asked)

    monkeypatch.setattr(celery_tasks, "engine_of", engine_for)
    judges = ["--judge", pauses.name, "--judge", grades.name]

    with pytest.raises(CommandError):
        said_by("grade", *judges, study=judged_study.name, criterion="answerability", here=True)

    assert dict(GradingJob.objects.values_list("judge__name", "state")) == {pauses.name: "paused", grades.name: "done"}


def test_the_command_shows_moves_and_refuses(judged_study: Study) -> None:
    job = a_job(judged_study)

    assert "paused" in said_by("grading_job", job.pk, "pause")
    assert "queued" in said_by("grading_job", job.pk, "resume", token_limit=50, call_limit=70)
    job.refresh_from_db()
    assert (job.token_limit, job.call_limit, job.minutes_limit) == (50, 70, None)
    work_through(job, saying("1"))
    assert "graded           6" in said_by("grading_job", job.pk)
    with pytest.raises(CommandError, match="cannot be paused"):
        said_by("grading_job", job.pk, "pause")
    with pytest.raises(CommandError, match="no job 9999"):
        said_by("grading_job", 9999)


def test_a_job_that_a_batch_service_does_can_be_cancelled(judged_study: Study) -> None:
    from judging.grading.jobs import start_job

    judge = a_model_judge(judged_study)
    job = start_job(criterion=criterion_of(judged_study), judge=judge, away="openai", by=None, at=now())

    assert "cancelled" in said_by("grading_job", job.pk, "cancel")


def test_the_command_starts_all_jobs_or_none(judged_study: Study) -> None:
    first, second = a_lexical_judge(criterion_of(judged_study)).name, a_model_judge(judged_study).name
    said_by("grade", study=judged_study.name, criterion="answerability", judge=[second])

    with pytest.raises(CommandError, match=f"“{second}” already has a running or paused job"):
        said_by("grade", "--judge", first, "--judge", second, study=judged_study.name, criterion="answerability")
    with pytest.raises(CommandError, match=f"“{first}” is named twice. No job was started."):
        said_by("grade", "--judge", first, "--judge", first, study=judged_study.name, criterion="answerability")

    assert [job.judge.name for job in GradingJob.objects.all()] == [second]


def test_no_batch_is_begun_that_cannot_be_written(judged_study: Study, tmp_path: Path) -> None:
    asks, measures = a_model_judge(judged_study).name, a_lexical_judge(criterion_of(judged_study)).name
    of = {"study": judged_study.name, "criterion": "answerability"}

    with pytest.raises(CommandError, match="A file is for one judge"):
        said_by("write_batch", judge=[asks, measures], **of)
    with pytest.raises(CommandError, match="uses no prompt"):
        said_by("write_batch", judge=[measures], **of)
    with pytest.raises(CommandError, match="No such file or directory"):
        said_by("write_batch", judge=[asks], out=tmp_path / "nowhere" / "requests.jsonl", **of)

    assert not GradingJob.objects.exists()


def test_no_sample_stays_where_its_ensemble_is_refused(judged_study: Study) -> None:
    judge = a_model_judge(judged_study)
    before = Judge.objects.count()

    with pytest.raises(CommandError, match="quorum"):
        said_by("make_ensemble", judge.name, samples=3, quorum=9)

    assert Judge.objects.count() == before


def test_waiting_without_a_worker_says_so_and_how_to_start_one_and_ends(
    judged_study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judging.management.waiting.SAY_SO_SECONDS", 0.5)
    monkeypatch.setattr("judging.management.waiting.GIVE_UP_SECONDS", 1.5)
    criterion = criterion_of(judged_study)
    judge, errors = a_lexical_judge(criterion).name, StringIO()

    with pytest.raises(CommandError, match=r"No worker started .* Job \d+ stays queued") as ended:
        said_by("grade", study=judged_study.name, criterion="answerability", judge=[judge], wait=True, stderr=errors)

    job = GradingJob.objects.get()
    assert ended.value.returncode == os.EX_TEMPFAIL
    assert "No worker answers. Start one: make run" in errors.getvalue()
    assert f"manage.py job control {job.pk} run" in errors.getvalue()
    assert job.state == GradingJob.State.QUEUED


def test_waiting_says_nothing_while_a_worker_is_at_another_job(judged_study: Study) -> None:
    criterion = criterion_of(judged_study)
    waits = a_job(judged_study)
    busy = start_job(criterion=criterion, judge=a_model_judge(judged_study), by=None, at=now())
    assert nobody_works(waits)

    GradingJob.objects.filter(pk=busy.pk).update(state=GradingJob.State.RUNNING, heartbeat_at=now())

    assert not nobody_works(waits)


def test_a_worker_with_vllm_is_no_worker_for_other_jobs(judged_study: Study) -> None:
    waits = a_job(judged_study)
    busy = start_job(criterion=criterion_of(judged_study), judge=a_model_judge(judged_study), by=None, at=now())
    Judge.objects.filter(pk=busy.judge_id).update(engine=Judge.Engine.VLLM)

    GradingJob.objects.filter(pk=busy.pk).update(state=GradingJob.State.RUNNING, heartbeat_at=now())

    assert nobody_works(waits)


def test_the_command_grades_in_its_own_process(judged_study: Study) -> None:
    judge = a_lexical_judge(criterion_of(judged_study))

    said = said_by("grade", study=judged_study.name, criterion="answerability", judge=[judge.name], here=True)

    assert "graded           6" in said
    assert GradingJob.objects.get().state == GradingJob.State.DONE


def test_a_job_that_no_worker_took_is_run_in_the_command_s_process(judged_study: Study) -> None:
    job = a_job(judged_study)

    said = said_by("grading_job", str(job.pk), "run")

    assert "done" in said
    job.refresh_from_db()
    assert job.graded == 6
