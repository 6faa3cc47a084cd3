"""A judge is started, watched and read in Chromium."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from collection.models import Study, User
from judging.judges.registry import load_shipped
from judging.models import GradingJob
from tests.browser import SignIn, check_accessibility
from tests.judging.world import a_job, saying, work_through

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_rosa_starts_a_judge_watches_it_and_reads_its_replies(
    page: Page, sign_in: SignIn, rosa: User, judged_study: Study
) -> None:
    load_shipped()
    sign_in(page, rosa)

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


def test_the_page_of_a_job_that_is_over_asks_no_more(
    page: Page, sign_in: SignIn, rosa: User, judged_study: Study
) -> None:
    job = work_through(a_job(judged_study), saying("hm"))
    sign_in(page, rosa)
    page.goto(f"/studies/{judged_study.name}/judging/{job.pk}/")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))

    page.wait_for_timeout(2500)

    assert [url for url in requests if "/judging/" in url] == []
    expect(page.get_by_label("unreadable (6)")).to_be_checked()


@pytest.mark.parametrize(
    "address",
    ["/judges/", "/judges/new/", "/judges/judge/embedded-rating/", "/judges/templates/", "/judges/templates/rating/1/",
     "/judges/templates/new/"],
)  # fmt: skip
def test_the_pages_of_judges_are_accessible_and_fit_a_phone(
    page: Page, sign_in: SignIn, rosa: User, judged_study: Study, address: str
) -> None:
    load_shipped()
    sign_in(page, rosa)
    page.set_viewport_size({"width": 390, "height": 800})

    page.goto(address)

    check_accessibility(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
