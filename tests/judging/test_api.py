"""/api/v1/judges/, /templates/ and /grading-jobs/: the same services as the pages."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from collection.models import Study, User
from judging.judges.registry import load_shipped
from judging.models import GradingJob, PromptTemplate
from tests.judging.world import a_job, saying, work_through

pytestmark = pytest.mark.django_db
API = "/api/v1"


@pytest.fixture(autouse=True)
def shipped(db: None) -> None:
    load_shipped()


def client_of(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


def test_starts_pauses_resumes_and_cancels_a_job(rosa: User, judged_study: Study) -> None:
    client = client_of(rosa)
    new = {"study": judged_study.name, "criterion": "rating", "judge": "lexical-rating"}

    made = client.post(f"{API}/grading-jobs/", new, format="json")
    job = f"{API}/grading-jobs/{made.json()['id']}"

    assert made.status_code == 201
    assert made.json()["total"] == 12
    assert client.post(f"{job}/pause/").json()["state"] == "paused"
    assert client.post(f"{job}/pause/").status_code == 409
    assert client.post(f"{job}/resume/").json()["state"] == "queued"
    assert client.post(f"{job}/cancel/").json()["state"] == "cancelled"
    assert client.get(f"{job}/").json()["judge"] == "lexical-rating"
    assert len(client.get(f"{API}/grading-jobs/", {"study": judged_study.name}).json()["results"]) == 1
    assert client.get(f"{API}/grading-jobs/", {"study": "another"}).json()["results"] == []


def test_gives_the_outcomes_and_the_replies(rosa: User, judged_study: Study) -> None:
    job = work_through(a_job(judged_study, "rating"), saying("5"))
    client = client_of(rosa)

    counts = client.get(f"{API}/grading-jobs/{job.pk}/outcomes/").json()
    replies = client.get(f"{API}/grading-jobs/{job.pk}/replies/").json()["results"]

    assert counts == {"total": 12, "graded": {"5": 12}, "ungraded": {}, "waiting": 0, "skipped": 0}
    assert len(replies) == 12
    assert (replies[0]["reply"], replies[0]["grade"]) == ("5", 5.0)


def test_grades_the_ungraded_again(rosa: User, judged_study: Study) -> None:
    job = work_through(a_job(judged_study, "rating"), saying("hm"))
    client = client_of(rosa)

    again = client.post(f"{API}/grading-jobs/{job.pk}/again/", {"kinds": ["unreadable"]}, format="json")
    nothing = client.post(f"{API}/grading-jobs/{job.pk}/again/", {"kinds": ["refused"]}, format="json")

    assert (again.status_code, again.json()["attempt"]) == (201, 2)
    assert nothing.status_code == 409


def test_grades_only_the_items_that_are_named(rosa: User, judged_study: Study) -> None:
    name = judged_study.items.filter(task_type="rating").values_list("item_id", flat=True)[0]
    new = {"study": judged_study.name, "criterion": "rating", "judge": "lexical-rating", "items": [name]}

    made = client_of(rosa).post(f"{API}/grading-jobs/", new, format="json")

    assert made.json()["total"] == 1


@pytest.mark.parametrize(
    ("changes", "status", "field"),
    [
        ({"judge": "nobody"}, 400, "judge"),
        ({"criterion": "nothing"}, 400, "criterion"),
        ({"judge": "lexical-answerability"}, 400, "judge"),
        ({"items": ["no such item"]}, 400, "items"),
        ({"study": "no-such-study"}, 404, "detail"),
    ],
)
def test_refuses_a_job_that_cannot_be(
    rosa: User, judged_study: Study, changes: dict[str, Any], status: int, field: str
) -> None:
    new = {"study": judged_study.name, "criterion": "rating", "judge": "lexical-rating", **changes}

    answer = client_of(rosa).post(f"{API}/grading-jobs/", new, format="json")

    assert answer.status_code == status
    assert field in answer.json()
    assert not GradingJob.objects.exists()


def test_a_stranger_finds_no_job(mallory: User, judged_study: Study) -> None:
    job = a_job(judged_study, "rating")
    client = client_of(mallory)

    assert client.get(f"{API}/grading-jobs/").json()["results"] == []
    for path in ("", "counts/", "replies/"):
        assert client.get(f"{API}/grading-jobs/{job.pk}/{path}").status_code == 404
    assert client.post(f"{API}/grading-jobs/{job.pk}/cancel/").status_code == 404
    new = {"study": judged_study.name, "criterion": "answerability", "judge": "lexical-answerability"}
    assert client.post(f"{API}/grading-jobs/", new, format="json").status_code == 404


def test_assessors_work_with_no_judge(ada: User) -> None:
    client = client_of(ada)

    for path in ("judges", "templates", "grading-jobs"):
        assert client.get(f"{API}/{path}/").status_code == 403
        assert client.post(f"{API}/{path}/", {}, format="json").status_code == 403
    assert APIClient().get(f"{API}/judges/").status_code in {401, 403}


def test_makes_a_judge_once(rosa: User) -> None:
    client = client_of(rosa)
    template = PromptTemplate.objects.get(name="rating")
    new = {
        "engine": "openai",
        "criterion_name": "rating",
        "model": "llama",
        "template": template.content_hash,
        "decoding": {"temperature": 0.5},
    }

    made = client.post(f"{API}/judges/", new, format="json")
    again = client.post(f"{API}/judges/", {**new, "name": "another"}, format="json")

    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json()["content_hash"] == again.json()["content_hash"]
    assert made.json()["decoding"]["temperature"] == 0.5
    assert client.get(f"{API}/judges/{made.json()['name']}/").json() == made.json()


@pytest.mark.parametrize("changes", [{"engine": "magic"}, {"criterion_name": "x"}, {"model": ""}, {"template": None}])
def test_refuses_settings_that_make_no_judge(rosa: User, changes: dict[str, Any]) -> None:
    template = PromptTemplate.objects.get(name="rating")
    new = {"engine": "openai", "criterion_name": "rating", "model": "llama", "template": template.content_hash}

    assert client_of(rosa).post(f"{API}/judges/", {**new, **changes}, format="json").status_code == 400


def test_stores_a_template_once_and_refuses_a_bad_one(rosa: User) -> None:
    client = client_of(rosa)
    new = {
        "name": "mine",
        "task_type": "rating",
        "criterion_name": "rating",
        "text": "{text} {question} {choices}",
    }

    made = client.post(f"{API}/templates/", new, format="json")
    again = client.post(f"{API}/templates/", new, format="json")
    bad = client.post(f"{API}/templates/", {**new, "text": "{text} {magic}"}, format="json")

    assert (made.status_code, again.status_code, bad.status_code) == (201, 200, 400)
    assert "{magic}" in bad.json()["text"]


def test_the_schema_describes_jobs(rosa: User) -> None:
    schema = client_of(rosa).get("/api/schema/?format=json").json()

    assert "post" in schema["paths"]["/api/v1/grading-jobs/"]
    assert "get" in schema["paths"]["/api/v1/grading-jobs/{id}/outcomes/"]
