from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from collection.models import Study, User
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll, width_of_image

pytestmark = pytest.mark.browser

AGREEMENT = "/studies/bridges-study/agreement/"
QRELS = "/studies/bridges-study/qrels/"


def test_rosa_reads_how_far_people_and_judge_agree(page: Page, sign_in: SignIn, judged: Study, rosa: User) -> None:
    sign_in(page, rosa)

    page.goto(AGREEMENT)

    expect(page.get_by_role("heading", name="small-judge")).to_be_visible()
    chart = page.get_by_role("img", name="A chart of human coverage")
    assert width_of_image(chart) > 300
    page.get_by_text("Data", exact=True).click()
    expect(page.get_by_role("region", name="Coverage of each report")).to_be_visible()
    check_accessibility(page)


def test_the_agreement_page_is_accessible_in_the_dark(
    open_page: Callable[..., Page], sign_in: SignIn, judged: Study, rosa: User
) -> None:
    page = open_page(color_scheme="dark")
    sign_in(page, rosa)

    page.goto(AGREEMENT)

    check_accessibility(page)


@pytest.mark.parametrize("url", [AGREEMENT, QRELS])
def test_a_phone_does_not_scroll_sideways(phone: Page, sign_in: SignIn, judged: Study, rosa: User, url: str) -> None:
    sign_in(phone, rosa)

    phone.goto(url)

    check_no_sideways_scroll(phone)
    check_accessibility(phone)


def test_a_choice_changes_the_preview_at_once_and_the_download(
    page: Page, sign_in: SignIn, judged: Study, rosa: User
) -> None:
    sign_in(page, rosa)
    page.goto(QRELS)

    page.get_by_label("One topic per rubric element").check()
    page.get_by_text("t0/t0-q0 0 alpha-1 1").wait_for()
    check_accessibility(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the qrels").click()

    assert download.value.suggested_filename == "bridges-study.qrels"
    assert download.value.path().read_text().startswith("t0/t0-q0 0 alpha-1 1\n")


def test_the_page_of_a_study_nobody_judged_is_accessible(page: Page, sign_in: SignIn, study: Study, rosa: User) -> None:
    sign_in(page, rosa)

    page.goto(AGREEMENT)

    expect(page.get_by_role("heading", name="No human judgments yet")).to_be_visible()
    check_accessibility(page)
