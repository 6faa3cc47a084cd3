from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from collection.models import Judgment, Study, User
from tests.browser import SignIn, chart_on, check_accessibility
from tests.looks import check_pages

pytestmark = pytest.mark.browser

AGREEMENT = "/studies/bridges-study/agreement/"
QRELS = "/studies/bridges-study/qrels/"
CHART = "Human and judge coverage of each report"


def test_rosa_reads_how_far_people_and_judge_agree_and_takes_the_qrels(
    page: Page, phone: Page, open_page: Callable[..., Page], sign_in: SignIn, judged: Study, rosa: User
) -> None:
    sign_in(page, rosa)
    sign_in(phone, rosa)
    check_pages(phone, [AGREEMENT, QRELS])
    check_pages(page, [AGREEMENT], "dark")

    page.goto(AGREEMENT)
    expect(page.get_by_role("heading", name="small-judge")).to_be_visible()
    _reads_what_a_mark_shows(page)
    page.get_by_text("Data", exact=True).click()
    expect(page.get_by_role("region", name="Coverage of each report")).to_be_visible()
    check_accessibility(page)

    dark = open_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    sign_in(dark, rosa)
    dark.goto(AGREEMENT)
    expect(chart_on(dark, CHART)).to_have_css("width", "340px")
    expect(chart_on(dark, CHART).locator("rect").first).to_have_css("fill", "rgb(33, 31, 29)")

    page.goto(QRELS)
    page.get_by_label("One topic per rubric element").check()
    page.get_by_text("t0/t0-q0 0 alpha-1 1").wait_for()
    check_accessibility(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the qrels").click()
    assert download.value.suggested_filename == "bridges-study-answerability-qrels-people.qrels"
    assert download.value.path().read_text().startswith("t0/t0-q0 0 alpha-1 1\n")

    Judgment.objects.all().delete()
    judged.items.all().delete()
    page.goto(AGREEMENT)
    expect(page.get_by_role("heading", name="No human judgments yet")).to_be_visible()
    check_accessibility(page)


def _reads_what_a_mark_shows(page: Page) -> None:
    """By keyboard and by pointer; the page is looked at before."""
    chart = chart_on(page, CHART)
    expect(chart).to_be_visible()
    check_accessibility(page)
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
