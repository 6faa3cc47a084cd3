"""The same that the pages do with jobs: by the API, and by commands."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.timezone import now

from collection.models import Study, User
from judging.grading import pause_job
from judging.models import GradingJob
from tests.judging.test_batches import output_line
from tests.judging.test_spending import a_model_judge
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
    for part in ("sentinels", "requests", "ledger"):
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
    assert "guessed from characters" in first
    assert "cost about" in first
    assert "tokens" not in second
    assert not GradingJob.objects.exists()


def test_the_command_starts_a_part(judged_study: Study) -> None:
    judge = a_lexical_judge(criterion_of(judged_study))

    said = said_by("grade", study=judged_study.name, criterion="answerability", judge=[judge.name], topic=["t1"])

    assert "3 pairs" in said
    with pytest.raises(CommandError, match="no topic “t9”"):
        said_by("grade", study=judged_study.name, criterion="answerability", judge=[judge.name], topic=["t9"])


def test_the_command_shows_moves_and_refuses(judged_study: Study) -> None:
    job = a_job(judged_study)

    assert "paused" in said_by("grading_job", job.pk, "pause")
    assert "queued" in said_by("grading_job", job.pk, "resume", most_tokens=50)
    job.refresh_from_db()
    assert job.token_limit == 50
    work_through(job, saying("1"))
    assert "graded           6" in said_by("grading_job", job.pk)
    with pytest.raises(CommandError, match="cannot be paused"):
        said_by("grading_job", job.pk, "pause")
    with pytest.raises(CommandError, match="no job 9999"):
        said_by("grading_job", 9999)


def test_a_job_that_a_batch_service_does_can_be_cancelled(judged_study: Study) -> None:
    from judging.grading import start_job

    judge = a_model_judge(judged_study)
    job = start_job(criterion=criterion_of(judged_study), judge=judge, away="openai", by=None, at=now())

    assert "cancelled" in said_by("grading_job", job.pk, "cancel")
