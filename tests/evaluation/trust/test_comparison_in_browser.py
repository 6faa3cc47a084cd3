"""The comparison of judges: who is compared is chosen by tick boxes, by keyboard and on a phone too."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from collection.models import Item, Study, User
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.evaluation.judged import criterion_of, judge_items
from tests.evaluation.sampled import sampled
from tests.factories import a_judge_rater

__all__ = ["sampled"]

pytestmark = pytest.mark.browser

PAGE = "/studies/bridges-study/judge-comparison/?criterion=answerability"
BIRDS = ["crow-1b", "dove-2b", "finch-3b", "gull-4b", "heron-5b"]


@pytest.fixture
def six_judges(sampled: Study) -> Study:
    """Beside stork-7b five judges of all items, each of which says yes to another share of them."""
    items = list(Item.objects.filter(study=sampled).order_by("pk"))
    for place, name in enumerate(BIRDS, start=2):
        said: list[float | None] = [float(number % place == 0) for number in range(len(items))]
        judge_items(criterion_of(sampled), a_judge_rater(sampled.collection, name), items, said)
    return sampled


def test_rosa_chooses_who_is_compared_by_keyboard_and_on_a_phone_in_the_dark(
    page: Page, open_page: Callable[..., Page], sign_in: SignIn, six_judges: Study, rosa: User
) -> None:
    sign_in(page, rosa)
    page.goto(PAGE)
    _takes_one_out_and_compares_all(page)
    _goes_to_prompt_versions_and_back(page)

    phone = open_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    sign_in(phone, rosa)
    phone.goto(PAGE)
    phone.get_by_text("Judges: 6 of 6 compared").click()
    phone.get_by_role("checkbox", name="heron-5b").uncheck()
    check_no_sideways_scroll(phone)
    check_accessibility(phone)
    phone.get_by_role("button", name="Compare", exact=True).click()

    expect(phone.get_by_text("Judges: 5 of 6 compared")).to_be_visible()
    expect(phone.get_by_role("region", name="Judges beside people")).not_to_contain_text("heron-5b")
    check_no_sideways_scroll(phone)


def _takes_one_out_and_compares_all(page: Page) -> None:
    table = page.get_by_role("region", name="Judges beside people")
    expect(page.get_by_text("Judges: 6 of 6 compared")).to_be_visible()
    expect(page.get_by_role("button", name="Compare all")).to_have_count(0)

    page.get_by_text("Judges: 6 of 6 compared").focus()
    page.keyboard.press("Enter")
    page.get_by_role("checkbox", name="crow-1b").focus()
    page.keyboard.press("Space")
    check_accessibility(page)
    page.get_by_role("button", name="Compare", exact=True).press("Enter")

    expect(table.get_by_role("rowheader", name="stork-7b")).to_be_visible()
    expect(table.get_by_role("rowheader", name="crow-1b")).to_have_count(0)
    page.get_by_text("Judges: 5 of 6 compared").press("Enter")
    expect(page.get_by_role("checkbox", name="stork-7b")).to_be_checked()
    expect(page.get_by_role("checkbox", name="crow-1b")).not_to_be_checked()
    page.get_by_role("button", name="Compare all 6 judges").press("Enter")
    expect(page.get_by_text("Judges: 6 of 6 compared")).to_be_visible()
    expect(page.get_by_role("button", name="Compare all")).to_have_count(0)
    for name in (*BIRDS, "stork-7b"):
        expect(table.get_by_role("rowheader", name=name)).to_be_visible()


def _goes_to_prompt_versions_and_back(page: Page) -> None:
    page.get_by_role("link", name="Prompt versions, reply by reply").click()
    expect(page.get_by_role("heading", name="Prompt versions, reply by reply")).to_be_visible()
    page.get_by_role("link", name="Comparison of judges", exact=True).click()
    expect(page.get_by_role("heading", name="Comparison of judges")).to_be_visible()
