from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from collection.models import Draw, Rater, Study, User
from collection.web.cached_results import _ask
from tests.browser import SignIn, check_accessibility
from tests.evaluation.rolled import rolled
from tests.evaluation.sampled import sampled
from tests.looks import check_pages

__all__ = ["rolled", "sampled"]

pytestmark = pytest.mark.browser

CALIBRATION = "/studies/bridges-study/calibration/"
TRUST = "/studies/bridges-study/trust/"
DETAILS = "/studies/bridges-study/agreement/details/"
ALL_JUDGES = "/trust-in-judges/"


def test_rosa_opens_a_disputed_item_calibrates_plans_and_draws(
    page: Page, phone: Page, sign_in: SignIn, sampled: Study, rosa: User
) -> None:
    sign_in(page, rosa)
    check_pages(page, [CALIBRATION, TRUST], "dark")
    sign_in(phone, rosa)
    check_pages(phone, [CALIBRATION, TRUST, DETAILS])

    check_pages(page, [DETAILS], "light", "dark")
    page.get_by_role("link", name="Why?").first.click()
    expect(page.get_by_role("heading", name="All grades")).to_be_visible()
    check_accessibility(page)

    page.goto(CALIBRATION)
    page.get_by_label("I declare label shift").check()
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**label_shift=on**")
    check_accessibility(page)
    page.get_by_label("Half-width of the interval").fill("0.12")
    page.get_by_role("button", name="Plan").click()
    page.get_by_text("For an interval of ± 0.12").wait_for()
    page.get_by_label("Number of items").fill("15")
    page.get_by_role("button", name="Draw items").click()

    page.get_by_text("15 items have been drawn").wait_for()
    assert Draw.objects.filter(purpose="active").count() == 15


def test_rosa_waits_for_all_judges_goes_to_one_and_rolls_its_grades_up(
    page: Page, phone: Page, sign_in: SignIn, rolled: Study, rosa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(page, rosa)
    with monkeypatch.context() as patched:
        _comes_in_by_itself(page, patched)

    check_accessibility(page)
    page.get_by_role("link", name="κ (unweighted) at η").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="κ (unweighted) at η ↓")).to_be_visible()
    page.get_by_role("link", name="flan").click()
    expect(page.get_by_role("heading", name="flan: passage level")).to_be_visible()
    check_accessibility(page)
    page.get_by_label("Grade of a text").select_option(label="the number of elements of its topic graded yes")
    page.get_by_role("button", name="Show").click()

    page.wait_for_url("**rule=answered**")
    expect(page.get_by_role("region", name="Passages by both grades").get_by_role("row")).to_have_count(4)
    page.get_by_role("link", name="All judges", exact=True).click()
    expect(page.get_by_role("heading", name="Trust in judges")).to_be_visible()

    Rater.objects.filter(name="flan").update(name="a/judge · WithANameThatIsLongerThanAnyTelephoneIsWide")
    sign_in(phone, rosa)
    check_pages(phone, [ALL_JUDGES, f"{TRUST}?criterion=rating"])
    expect(phone.get_by_text("WithANameThatIsLongerThanAnyTelephoneIsWide").first).to_be_attached()


def _comes_in_by_itself(page: Page, patched: pytest.MonkeyPatch) -> None:
    """Let the comparisons be computed only when they are asked for a second time."""
    asked: list[str] = []

    def ask_for_the_second_time_alone(*message: Any) -> None:
        asked.append(message[0])
        if len(asked) > 1:
            _ask(*message)

    patched.setattr("collection.web.cached_results._ask", ask_for_the_second_time_alone)
    page.goto(ALL_JUDGES)
    expect(page.get_by_role("link", name="flan")).to_be_visible()
    expect(page.get_by_text("still being computed")).to_have_count(0)
