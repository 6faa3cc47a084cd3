"""A judge is started, watched and read in Chromium."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from collection.models import Study, User
from judging.judges.registry import load_shipped
from judging.models import GradingJob
from tests.browser import SignIn, check_accessibility
from tests.judging.world import a_job, saying, work_through
from tests.looks import check_pages

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NARROW = {"width": 390, "height": 800}
WIDE = {"width": 1280, "height": 800}
PAGES = ("", "new/", "judge/embedded-rating/", "templates/", "templates/rating/1/", "templates/new/")


def test_rosa_looks_at_judges_starts_one_watches_it_and_reads_its_replies(
    page: Page, sign_in: SignIn, rosa: User, judged_study: Study
) -> None:
    load_shipped()
    sign_in(page, rosa)
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    check_pages(page, [f"/judges/{one}" for one in PAGES])
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]

    page.goto(f"/studies/{judged_study.name}/judging/")
    check_accessibility(page)
    page.get_by_role("button", name="Start lexical-rating on rating").press("Enter")
    page.get_by_role("button", name="Start grading").press("Enter")
    expect(page.get_by_text("waiting for a worker")).to_be_visible()
    work_through(GradingJob.objects.get())
    expect(page.locator("#job .badge.done")).to_be_visible()
    expect(page.get_by_text("12 of 12 pairs")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("link", name="Replies").click()
    expect(page.get_by_role("listitem").filter(has_text="score")).to_have_count(12)
    check_accessibility(page)

    _asks_no_more_of_a_job_that_is_over(page, judged_study)


def _asks_no_more_of_a_job_that_is_over(page: Page, study: Study) -> None:
    job = work_through(a_job(study), saying("hm"))
    page.goto(f"/studies/{study.name}/judging/{job.pk}/")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))

    page.wait_for_timeout(1500)  # one that is at work asks every second

    assert [url for url in requests if "/judging/" in url] == []
    expect(page.get_by_label("unreadable (6)")).to_be_checked()
