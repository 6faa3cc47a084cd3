"""The pages that say which judge and which system to believe, reached and used without a mouse."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from django.utils.timezone import localdate
from playwright.sync_api import Locator, Page, expect

from collection.models import Draw, Split, Study, TestReading, User
from tests.browser import SignIn, check_accessibility
from tests.evaluation.sampled import sampled
from tests.looks import check_pages

__all__ = ["sampled"]

pytestmark = pytest.mark.browser

STUDY = "/studies/bridges-study/"
ASKED = "?criterion=answerability"
MOST_TABS = 120


FOCUSED = """() => {
    const one = document.activeElement;
    if (!one || one === document.body) return null;
    const box = one.getBoundingClientRect();
    const outlined = [one, one.closest('.choice')].filter(Boolean).map((each) => getComputedStyle(each))
        .some((style) => style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0);
    return {
        html: one.outerHTML.slice(0, 150),
        seen: outlined && box.width > 0 && box.bottom > 0 && box.top < innerHeight,
        top: box.top + scrollY,
    };
}"""


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until the target has the focus; fail if it never gets it."""
    expect(target).to_be_visible()
    for _ in range(MOST_TABS):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{MOST_TABS} presses of Tab did not reach {target}")


def test_whatever_has_the_focus_is_seen_and_comes_in_its_order_and_a_phone_scrolls_nothing_sideways(
    page: Page, phone: Page, sign_in: SignIn, sampled: Study, rosa: User
) -> None:
    sign_in(page, rosa)
    for path in ("leaderboard/", "leaderboard/correlations/", f"agreement/{ASKED}", f"calibration/{ASKED}"):
        stops = _stops_of_tab(page, path)

        assert len(stops) > 10, path
        assert [one["html"] for one in stops if not one["seen"]] == [], path
        back = [one["html"] for before, one in pairwise(stops) if one["top"] < before["top"] - 400]
        assert back == [], path

    sign_in(phone, rosa)
    check_pages(phone, [f"{STUDY}{path}" for path in ("split/", "families/", "leaderboard/?by=domain")])


def _stops_of_tab(page: Page, path: str) -> list[dict[str, Any]]:
    page.goto(f"{STUDY}{path}")
    page.wait_for_load_state()
    stops = []
    for _ in range(3 * MOST_TABS):
        page.keyboard.press("Tab")
        if (focused := page.evaluate(FOCUSED)) is None:
            break
        stops.append(focused)
    return stops


def test_rosa_reads_plans_publishes_and_splits_without_a_mouse(
    page: Page, sign_in: SignIn, sampled: Study, rosa: User
) -> None:
    sign_in(page, rosa)

    _asks_the_leaderboard_for_another_measure(page)
    _reads_the_judge_and_its_calibration(page)
    _takes_the_bundle(page)
    _splits_the_study_and_reads_the_test_part(page)
    _states_families(page)


def _asks_the_leaderboard_for_another_measure(page: Page) -> None:
    page.goto(f"{STUDY}leaderboard/")

    tab_to(page, page.get_by_text("Measure and options"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_label("Means by"))
    page.keyboard.press("d")
    tab_to(page, page.get_by_role("button", name="Show"))
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="By domain")).to_be_visible()
    check_accessibility(page)
    table = page.get_by_role("region", name="Means by domain, people")
    tab_to(page, table)
    expect(table).to_be_focused()


def _reads_the_judge_and_its_calibration(page: Page) -> None:
    page.goto(f"{STUDY}agreement/")
    tab_to(page, page.get_by_role("link", name="Judge reliability"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/trust/"))
    tab_to(page, page.get_by_label("Compare with"))
    page.keyboard.press("e")
    tab_to(page, page.get_by_role("button", name="Show"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("people=experts"))

    tab_to(page, page.get_by_role("link", name="Calibration", exact=True))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Calibration", level=1)).to_be_visible()
    tab_to(page, page.get_by_label("I declare label shift"))
    page.keyboard.press("Space")
    tab_to(page, page.get_by_role("button", name="Show"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("label_shift=on"))
    number = page.get_by_label("Number of items")
    tab_to(page, number)
    page.keyboard.type("15")
    tab_to(page, page.get_by_role("button", name="Draw items"))
    page.keyboard.press("Enter")

    expect(page.get_by_text("15 items have been drawn")).to_be_visible()
    assert Draw.objects.filter(purpose="active").count() == 15


def _takes_the_bundle(page: Page) -> None:
    page.goto(f"{STUDY}publish/")

    tab_to(page, page.get_by_label("Use assessors’ names"))
    page.keyboard.press("Space")
    expect(page.get_by_label("Use assessors’ names")).to_be_checked()
    tab_to(page, page.get_by_role("button", name="Download the bundle"))
    with page.expect_download() as download:
        page.keyboard.press("Enter")

    assert download.value.suggested_filename == f"bridges-study-bundle-{localdate()}.zip"


def _splits_the_study_and_reads_the_test_part(page: Page) -> None:
    page.goto(f"{STUDY}split/")
    check_accessibility(page)
    tab_to(page, page.get_by_role("button", name="Split the study"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("The test part is 5 topics now.")).to_be_visible()
    check_accessibility(page)
    assert Split.objects.get().topics.count() == 10

    page.goto(f"{STUDY}trust/")
    expect(page.get_by_text("Do not report this until the test topics")).to_be_visible()
    check_accessibility(page)
    tab_to(page, page.get_by_role("button", name="Unlock the test topics for stork-7b"))
    page.keyboard.press("Enter")

    expect(page.get_by_text("The test topics have been unlocked once for stork-7b.")).to_be_visible()
    expect(page.get_by_text("Report the figure on the test topics, unlocked once")).to_be_visible()
    check_accessibility(page)
    assert TestReading.objects.count() == 1


def _states_families(page: Page) -> None:
    page.goto(f"{STUDY}families/")
    check_accessibility(page)
    tab_to(page, page.get_by_label("stork-7b"))
    page.keyboard.type("Stork")
    tab_to(page, page.get_by_role("button", name="Save"))
    page.keyboard.press("Enter")

    expect(page.get_by_text("1 changed.")).to_be_visible()
    expect(page.get_by_label("stork-7b")).to_have_value("Stork")
