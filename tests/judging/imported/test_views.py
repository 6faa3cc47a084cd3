"""Grades from elsewhere by page and API: looked at first, then brought in whole or not at all."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django.fixtures import Settings as SettingsWrapper

from collection.importing.background import work_on_upload
from collection.models import Judgment, Rater, Study, Upload, User
from judging.models import GradingJob
from tests.factories import a_collection, a_study
from tests.judging.world import a_lexical_judge, criterion_of

pytestmark = pytest.mark.django_db
RATINGS = [{"id": "t0", "docid": "t0-p0", "rating": [5, -1, 3]}, {"id": "t0", "docid": "t0-p9", "rating": [1, 1, 1]}]


@pytest.fixture(autouse=True)
def uploads(settings: SettingsWrapper, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media" / "imports"


@pytest.fixture
def rosas(rosa: User, client: Client) -> Client:
    client.force_login(rosa)
    return client


def sent(lines: list[Any] = RATINGS, **changes: Any) -> dict[str, Any]:
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    chosen = {
        "file_format": "crux-ratings", "judge": "llama-70b", "tool": "CRUX", "version": "1.0", "model": "llama-3-70b",
        "prompt": "Rate it.\r\nFrom 0 to 5.", "graded_on": "2025-05-31", "no_grade": "-1",
    }  # fmt: skip
    return chosen | {"file": SimpleUploadedFile("ratings.jsonl", text.encode())} | changes


def uploaded(client: Client, study: Study, **changes: Any) -> str:
    """Upload a file, and return where its preview stands."""
    response = client.post(reverse("judging:imported_grades", args=[study.name]), sent(**changes))
    assert response.status_code == 302, response.context["form"].errors
    return str(response["Location"])


def test_the_preview_counts_pairs_and_changes_nothing(rosas: Client, judged_study: Study) -> None:
    page = rosas.get(uploaded(rosas, judged_study))

    read = page.context["outcome"].details
    (given,) = read["given"]
    assert (read["told"], read["taken"], read["new"], read["known"]) == (6, 3, 3, 0)
    assert given["by_kind"] == [["unreadable", 1]]
    assert {value: count for value, _, count in given["by_grade"]} == {0: 0, 1: 0, 2: 0, 3: 1, 4: 0, 5: 1}
    assert given["missing"] == 9
    assert read["outside"] == [
        ["texts that are not in the collection", 3,
         ["line 2: t0, t0-p9, 0", "line 2: t0, t0-p9, 1", "line 2: t0, t0-p9, 2"]]
    ]  # fmt: skip
    assert not Judgment.objects.exists()
    assert not Rater.objects.filter(name="llama-70b").exists()


def test_confirming_brings_the_grades_in_and_shows_the_judge_with_its_origin(
    rosas: Client, judged_study: Study, uploads: Path
) -> None:
    page = rosas.post(uploaded(rosas, judged_study), follow=True)

    told = page.content.decode()
    assert Judgment.objects.count() == 3
    for part in ("llama-70b", "CRUX, 1.0", "llama-3-70b", "Rate it.\nFrom 0 to 5.", "2025-05-31", "ratings.jsonl"):
        assert part in told
    assert list(uploads.iterdir()) == []


def test_a_judge_from_elsewhere_leads_to_people_s_judgments(rosas: Client, judged_study: Study) -> None:
    page = rosas.post(uploaded(rosas, judged_study), follow=True).content.decode()

    assert reverse("evaluation:agreement", args=[judged_study.name]) in page
    assert f'href="{reverse("evaluation:trust_in_judges")}">All judges compared with humans' in page


def test_a_judge_whose_files_alone_name_the_tool_is_shown_with_it(rosas: Client, judged_study: Study) -> None:
    address = rosas.post(uploaded(rosas, judged_study), follow=True).request["PATH_INFO"]
    judge = Rater.objects.get(name="llama-70b")
    judge.attributes = {"files": judge.attributes["files"]}
    judge.save()

    assert "<dt>Tool</dt><dd>CRUX</dd>" in rosas.get(address).content.decode()


def test_the_same_file_again_offers_nothing_to_bring_in(rosas: Client, judged_study: Study) -> None:
    rosas.post(uploaded(rosas, judged_study))

    page = rosas.get(uploaded(rosas, judged_study))

    assert "importing it would change nothing" in page.content.decode()
    assert (page.context["outcome"].details["new"], page.context["outcome"].details["known"]) == (0, 3)
    rosas.post(page.request["PATH_INFO"])
    assert Judgment.objects.count() == 3


def test_a_bad_file_is_told_line_by_line_and_nothing_stays(rosas: Client, judged_study: Study) -> None:
    address = uploaded(
        rosas, judged_study, lines=[RATINGS[0], {"id": "t0", "docid": "t0-p1", "rating": [9, 1, 1]}, "{"]
    )

    page = rosas.get(address)
    confirmed = rosas.post(address)

    problems = [(problem.line, problem.reason) for problem in page.context["outcome"].problems]
    assert [line for line, _ in problems] == [2, 3]
    assert "holds 9" in problems[0][1]
    assert confirmed.status_code == 422
    assert not Judgment.objects.exists()


def test_a_large_or_packed_file_is_looked_at_and_imported_by_a_worker(
    rosas: Client, judged_study: Study, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    asked: list[list[int]] = []
    monkeypatch.setattr("celery.current_app.send_task", lambda name, args, **_: asked.append(args))
    packed = SimpleUploadedFile("ratings.jsonl", gzip.compress("".join(f"{json.dumps(r)}\n" for r in RATINGS).encode()))
    with django_capture_on_commit_callbacks(execute=True):
        address = uploaded(rosas, judged_study, file=packed, file_format="rubric")

    waiting = rosas.get(address)
    work_on_upload(pk=asked[0][0], generation=asked[0][1], at=now())
    looked_at = rosas.get(address)

    assert "waiting for a worker" in waiting.content.decode()
    assert "The line is not a pair of a topic" in looked_at.content.decode()


def test_the_worker_imports_a_large_file_once_it_is_confirmed(
    rosas: Client, judged_study: Study, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    asked: list[list[int]] = []
    monkeypatch.setattr("celery.current_app.send_task", lambda name, args, **_: asked.append(args))
    monkeypatch.setattr("collection.models.uploads.LARGE_OF_GRADES", 10)
    with django_capture_on_commit_callbacks(execute=True):
        address = uploaded(rosas, judged_study)
        work_on_upload(pk=Upload.objects.get().pk, generation=1, at=now())
    with django_capture_on_commit_callbacks(execute=True):
        rosas.post(address)

    work_on_upload(pk=asked[1][0], generation=asked[1][1], at=now())
    page = rosas.get(address, follow=True)

    assert Judgment.objects.count() == 3
    assert page.request["PATH_INFO"] == reverse(
        "judging:imported_judge", args=[judged_study.name, Rater.objects.get(name="llama-70b").pk]
    )


def test_pairs_become_items_where_that_is_wished(rosas: Client, study: Study) -> None:
    address = uploaded(rosas, study, lines=RATINGS[:1], add_items="on")

    rosas.post(address)

    assert study.items.count() == 3
    assert Judgment.objects.count() == 3


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"file": ""}, "file", "required"),
        ({"judge": ""}, "judge", "required"),
        ({"tool": ""}, "tool", "required"),
        ({"file_format": "xml"}, "file_format", "valid choice"),
        ({"no_grade": "none"}, "no_grade", "not numbers"),
        ({"graded_on": "2999-01-01"}, "graded_on", "in the future"),
    ],
)
def test_what_is_missing_or_wrong_is_said_at_its_field(
    rosas: Client, judged_study: Study, changes: dict[str, Any], field: str, reason: str
) -> None:
    response = rosas.post(reverse("judging:imported_grades", args=[judged_study.name]), sent(**changes))

    assert response.status_code == 422
    assert reason in str(response.context["form"].errors[field])


def test_a_removed_file_waits_no_more(rosas: Client, judged_study: Study, uploads: Path) -> None:
    address = uploaded(rosas, judged_study)

    rosas.post(f"{address}cancel/")

    assert list(uploads.iterdir()) == []
    assert rosas.get(address)["Location"] == reverse("collection:import_page", args=[judged_study.collection.name])


def test_only_the_study_s_researchers_come_in(
    client: Client, mallory: User, ada: User, judged_study: Study, rosas: Client
) -> None:
    address = uploaded(rosas, judged_study)
    rosas.post(uploaded(rosas, judged_study))
    judge = Rater.objects.get(name="llama-70b")
    hers = a_study(a_collection(owner=mallory, name="hers"), name="hers")

    for stranger in (mallory, ada):
        client.force_login(stranger)
        for page in (
            reverse("judging:imported_grades", args=[judged_study.name]),
            address,
            reverse("judging:imported_judge", args=[judged_study.name, judge.pk]),
        ):
            assert client.get(page).status_code == 404
        assert client.post(address).status_code == 404
        assert client.post(f"{address}cancel/").status_code == 404
    client.force_login(mallory)
    assert client.get(reverse("judging:imported_judge", args=[hers.name, judge.pk])).status_code == 404


def test_another_researcher_s_file_is_not_mine_to_confirm(
    client: Client, rosas: Client, mallory: User, judged_study: Study
) -> None:
    address = uploaded(rosas, judged_study)
    judged_study.collection.researchers.add(mallory)
    client.force_login(mallory)

    response = client.post(address)

    assert response["Location"] == reverse("collection:import_page", args=[judged_study.collection.name])
    assert not Judgment.objects.exists()


def test_the_jobs_page_lists_judges_from_elsewhere_with_what_they_lack(rosas: Client, judged_study: Study) -> None:
    rosas.post(uploaded(rosas, judged_study))

    page = rosas.get(reverse("judging:jobs", args=[judged_study.name]))

    (each,) = page.context["elsewhere"]
    assert (each.missing_grades.graded, each.missing_grades.left_ungraded, each.missing_grades.missing) == (2, 1, 9)


def test_another_judge_is_started_on_what_this_one_left_without_a_grade(rosas: Client, judged_study: Study) -> None:
    rosas.post(uploaded(rosas, judged_study))
    filler = a_lexical_judge(criterion_of(judged_study, "rating"))
    chosen = {"criterion": "rating", "judge": filler.name, "missing_grades": "judge:llama-70b"}

    page = rosas.post(reverse("judging:job_estimate", args=[judged_study.name]), chosen)
    rosas.post(reverse("judging:job_start", args=[judged_study.name]), chosen)

    assert page.context["expected"][0].estimate.pairs == 10
    assert "no grade by llama-70b (unfinished): 10 (1 ungraded, 9 missing)" in page.content.decode()
    job = GradingJob.objects.get()
    assert (job.total, job.selection) == (10, {"without_grade_by": ["llama-70b"]})


def test_a_judge_that_nobody_knows_lacks_nothing(rosas: Client, judged_study: Study) -> None:
    filler = a_lexical_judge(criterion_of(judged_study, "rating"))
    chosen = {"criterion": "rating", "judge": filler.name, "missing_grades": "judge:nobody"}

    response = rosas.post(reverse("judging:job_start", args=[judged_study.name]), chosen)

    assert response.status_code == 422
    assert "no judge “nobody”" in response.content.decode()


class TestByApi:
    """The same by API."""

    address = "/api/v1/imported-judges/"

    def sent(self, study: Study, **changes: Any) -> dict[str, Any]:
        chosen = sent(**changes)
        return chosen | {"format": chosen.pop("file_format"), "study": study.name}

    def test_looks_first_and_then_brings_in(self, rosas: Client, judged_study: Study) -> None:
        looked = rosas.post(f"{self.address}grades/preview/", self.sent(judged_study))
        assert (looked.status_code, Judgment.objects.count()) == (200, 0)

        brought = rosas.post(f"{self.address}grades/", self.sent(judged_study))

        assert brought.status_code == 201
        assert brought.json() == looked.json()
        assert brought.json()["given"] == [
            {"judge": "llama-70b", "criterion": "rating", "grades": {"3": 1, "5": 1}, "ungraded": {"unreadable": 1},
             "missing": 9}
        ]  # fmt: skip
        assert brought.json()["left_out"] == {"texts that are not in the collection": 3}

    def test_the_same_file_again_adds_nothing(self, rosas: Client, judged_study: Study) -> None:
        rosas.post(f"{self.address}grades/", self.sent(judged_study))

        again = rosas.post(f"{self.address}grades/", self.sent(judged_study))

        assert (again.status_code, again.json()["new"], again.json()["known"]) == (200, 0, 3)

    def test_names_the_bad_line(self, rosas: Client, judged_study: Study) -> None:
        response = rosas.post(f"{self.address}grades/", self.sent(judged_study, lines=["{"]))

        assert response.status_code == 400
        assert response.json()["file"][0].startswith("line 1: This is not JSON")

    def test_lists_judges_with_origin_and_missing_grades(self, rosas: Client, judged_study: Study) -> None:
        rosas.post(f"{self.address}grades/", self.sent(judged_study))

        (judge,) = rosas.get(self.address, {"study": judged_study.name}).json()

        assert (judge["name"], judge["tool"], judge["model"]) == ("llama-70b", "CRUX", "llama-3-70b")
        assert judge["given"][0]["missing"] == 9

    def test_refuses_strangers(self, client: Client, mallory: User, ada: User, judged_study: Study) -> None:
        client.force_login(mallory)
        assert client.post(f"{self.address}grades/", self.sent(judged_study)).status_code == 404
        assert client.get(self.address, {"study": judged_study.name}).status_code == 404
        client.force_login(ada)
        assert client.post(f"{self.address}grades/", self.sent(judged_study)).status_code == 403

    def test_leaves_a_large_file_to_a_worker_and_tells_how_far_it_is(
        self, rosas: Client, judged_study: Study, mallory: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("collection.models.uploads.LARGE_OF_GRADES", 10)

        accepted = rosas.post(f"{self.address}grades/", self.sent(judged_study))
        address = f"/api/v1/uploads/{accepted.json()['id']}/"
        before = rosas.get(address).json()
        work_on_upload(pk=accepted.json()["id"], generation=1, at=now())
        after = rosas.get(address).json()

        assert (accepted.status_code, before["state"], after["state"]) == (202, "importing", "imported")
        assert after["outcome"]["details"]["new"] == Judgment.objects.count() == 3
        rosas.force_login(mallory)
        assert rosas.get(address).status_code == 404
