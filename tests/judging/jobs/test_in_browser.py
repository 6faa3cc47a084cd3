"""Grading jobs in Chromium: several judges at once, a part for so much at most, a drift, a batch file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from django.utils.timezone import now
from playwright.sync_api import Page, expect

from collection.models import Study, User
from judging.engines import Reply
from judging.grading.jobs import JobLimits, start_job
from judging.models import GradingJob
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.judging.grading.test_batch_files import output_line
from tests.judging.grading.test_drift import a_graded_study, from_server
from tests.judging.grading.test_spending import a_model_judge
from tests.judging.world import ScriptedEngine, criterion_of, many_items, work_through

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def shoot(page: Page, name: str) -> None:
    """Keep a picture where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def test_rosa_starts_two_judges_on_a_sample_and_has_a_batch_service_grade(
    page: Page, sign_in: SignIn, rosa: User, judged_study: Study, tmp_path: Path
) -> None:
    a_model_judge(judged_study, "rating")
    by_batch = a_model_judge(judged_study)
    sign_in(page, rosa)

    _is_told_of_a_bad_wish_beside_its_field(page, judged_study)
    _starts_two_judges_on_a_sample(page, judged_study)
    _has_a_batch_service_grade(page, judged_study, by_batch.name, tmp_path)


def _is_told_of_a_bad_wish_beside_its_field(page: Page, study: Study) -> None:
    page.goto(f"/studies/{study.name}/judging/")
    page.get_by_role("button", name="Start m-rating on rating").click()

    page.get_by_text("Prices and limits").click()
    page.get_by_label("Cost limit").fill("3")
    page.get_by_role("button", name="Start grading").click()

    expect(page.get_by_text("A cost limit needs a price")).to_be_visible()
    check_accessibility(page)
    assert not GradingJob.objects.exists()


def _starts_two_judges_on_a_sample(page: Page, study: Study) -> None:
    page.goto(f"/studies/{study.name}/judging/")
    shoot(page, "jobs")

    page.get_by_label("Choose lexical-rating for rating").check()
    page.get_by_label("Choose m-rating for rating").check()
    page.get_by_role("button", name="Start selected… on rating").click()
    expect(page.get_by_role("heading", name="Start these judges?")).to_be_visible()
    check_accessibility(page)
    page.get_by_text("Subset").click()
    page.get_by_label("Sample size").fill("5")
    page.get_by_text("Prices and limits").click()
    page.get_by_label("Price of a million prompt tokens").fill("2.5")
    page.get_by_role("button", name="Estimate again").click()
    expect(page.locator("dl.figures dd").filter(has_text="5").first).to_be_visible()
    expect(page.get_by_text("cost, at these prices")).to_be_visible()
    shoot(page, "estimate")
    page.get_by_role("button", name="Start grading").click()

    expect(page.get_by_role("link", name="Job ", exact=False).first).to_be_visible()
    assert sorted(GradingJob.objects.values_list("total", flat=True)) == [5, 5]
    assert set(GradingJob.objects.values_list("price_in", flat=True)) == {2.5}


def _has_a_batch_service_grade(page: Page, study: Study, judge: str, folder: Path) -> None:
    page.goto(f"/studies/{study.name}/judging/")
    page.get_by_role("button", name=f"Start {judge} on answerability").click()
    page.get_by_text("Grade with a batch service").click()
    page.get_by_role("button", name="Write a file for OpenAI’s batch API").click()
    expect(page.get_by_role("heading", name="Batch file")).to_be_visible()
    check_accessibility(page)
    shoot(page, "batch")

    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download the requests").click()
    requests = [json.loads(line) for line in Path(downloading.value.path()).read_text().splitlines()]
    replies = folder / "replies.jsonl"
    replies.write_text("\n".join(json.dumps(output_line(request)) for request in requests))
    page.get_by_label("Output file of the service").set_input_files(replies)
    page.get_by_role("button", name="Read the replies").click()

    expect(page.get_by_text("6 new replies: 6 graded.")).to_be_visible()
    expect(page.locator("#job .badge.done")).to_be_visible()


def test_rosa_raises_a_limit_the_job_goes_on_and_shows_its_latest_replies(
    page: Page, sign_in: SignIn, rosa: User, judged_study: Study
) -> None:
    many_items(judged_study, 30)
    judge = a_model_judge(judged_study)
    job = start_job(
        criterion=criterion_of(judged_study), judge=judge, terms=JobLimits(token_limit=100), by=rosa, at=now()
    )
    of_it = GradingJob.objects.filter(pk=job.pk)
    of_it.update(
        state="paused", pause_cause="tokens", reason="120 tokens have been used; the limit is 100.", prompt_tokens=120,
        cached_tokens=60, cacheable_tokens=120, graded=1, by_grade={"1.0": 1},
    )  # fmt: skip
    sign_in(page, rosa)
    page.goto(f"/studies/{judged_study.name}/judging/{job.pk}/")
    expect(page.get_by_text("50 %", exact=True)).to_be_visible()
    check_accessibility(page)
    shoot(page, "limit")

    page.get_by_label("Token limit").fill("110")
    page.get_by_role("button", name="Resume with these limits").click()
    expect(page.get_by_text("the limit is 110. Raise it to go on.")).to_be_visible()
    page.get_by_label("Token limit").fill("100000")
    page.get_by_role("button", name="Resume with these limits").click()
    expect(page.locator("#job .badge.queued")).to_be_visible()

    of_it.update(prompt_tokens=0, cached_tokens=0, cacheable_tokens=0, graded=0, by_grade={})
    engine = ScriptedEngine(
        lambda request: Reply(
            text="I cannot say." if request.item_id % 4 == 0 else "1", prompt_tokens=400, completion_tokens=2,
            cached_tokens=320,
        )
    )  # fmt: skip
    work_through(job, engine)
    page.goto(f"/studies/{judged_study.name}/judging/{job.pk}/")
    expect(page.get_by_role("heading", name="Latest replies")).to_be_visible()
    expect(page.locator(".latest li")).to_have_count(5)
    expect(page.get_by_text("80 %", exact=True)).to_be_visible()
    check_accessibility(page)
    shoot(page, "job")


def test_rosa_sees_the_drift_before_she_lets_the_grades_join(
    phone: Page, sign_in: SignIn, rosa: User, judged_study: Study
) -> None:
    _, job = a_graded_study(judged_study)
    work_through(job, from_server("vllm 0.33, m", "0"))
    sign_in(phone, rosa)

    phone.goto(f"/studies/{judged_study.name}/judging/{job.pk}/")

    expect(phone.get_by_role("heading", name="Drift")).to_be_visible()
    check_accessibility(phone)
    check_no_sideways_scroll(phone)
    shoot(phone, "drift")
    phone.get_by_role("button", name="Accept the new model’s grades").click()
    expect(phone.locator("#job .badge.queued")).to_be_visible()
    work_through(job, from_server("vllm 0.33, m", "0"))
    expect(phone.locator("#job .badge.done")).to_be_visible()
