from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from collection.models import Study, User
from tests.browser import SignIn, chart_on, check_accessibility, check_no_sideways_scroll

pytestmark = pytest.mark.browser

AGREEMENT = "/studies/bridges-study/agreement/"
QRELS = "/studies/bridges-study/qrels/"


def test_rosa_reads_how_far_people_and_judge_agree(page: Page, sign_in: SignIn, judged: Study, rosa: User) -> None:
    sign_in(page, rosa)

    page.goto(AGREEMENT)

    expect(page.get_by_role("heading", name="small-judge")).to_be_visible()
    chart = chart_on(page, "Human and judge coverage of each report")
    expect(chart).to_be_visible()
    check_accessibility(page)
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


def test_a_chart_says_by_keyboard_and_pointer_what_its_marks_show(
    page: Page, sign_in: SignIn, judged: Study, rosa: User
) -> None:
    sign_in(page, rosa)
    page.goto(AGREEMENT)
    chart = chart_on(page, "Human and judge coverage of each report")
    tip = page.locator(".chart-tip")

    chart.focus()
    page.keyboard.press("ArrowRight")
    expect(tip).to_contain_text("small-judge")
    first = tip.text_content()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    expect(chart).to_be_focused()
    chart.locator(".mark-symbol > [aria-label]").first.hover(force=True)

    expect(tip).to_have_text(first or "")


def test_a_phone_shows_a_chart_whole_in_the_colours_of_its_theme(
    open_page: Callable[..., Page], sign_in: SignIn, judged: Study, rosa: User
) -> None:
    page = open_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    sign_in(page, rosa)
    page.goto(AGREEMENT)

    chart = chart_on(page, "Human and judge coverage of each report")

    expect(chart).to_have_css("width", "340px")
    expect(chart.locator("rect").first).to_have_css("fill", "rgb(33, 31, 29)")


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

    assert download.value.suggested_filename == "bridges-study-answerability-qrels-people.qrels"
    assert download.value.path().read_text().startswith("t0/t0-q0 0 alpha-1 1\n")


def test_the_page_of_a_study_nobody_judged_is_accessible(page: Page, sign_in: SignIn, study: Study, rosa: User) -> None:
    sign_in(page, rosa)

    page.goto(AGREEMENT)

    expect(page.get_by_role("heading", name="No human judgments yet")).to_be_visible()
    check_accessibility(page)
