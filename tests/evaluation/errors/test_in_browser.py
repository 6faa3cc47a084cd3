from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from collection.models import Study, User
from collection.splits import make_split
from tests.browser import SignIn, check_accessibility
from tests.evaluation.judged import AT
from tests.evaluation.sampled import sampled
from tests.looks import check_pages

__all__ = ["sampled"]

pytestmark = pytest.mark.browser

PAGE = "/studies/bridges-study/errors/?criterion=answerability"


def test_rosa_opens_a_cell_reads_by_keyboard_and_takes_an_item_into_a_prompt(
    page: Page, open_page: Callable[..., Page], sign_in: SignIn, sampled: Study, rosa: User
) -> None:
    phone = open_page(viewport={"width": 390, "height": 844})
    sign_in(phone, rosa)
    others = ("errors/items/", "agreement/", "agreement/details/")
    check_pages(phone, [PAGE, *(PAGE.replace("errors/", other) for other in others)], "dark")

    make_split(study=sampled, test_share=0.4, by=rosa, at=AT, seed="s")
    sign_in(page, rosa)
    page.goto(PAGE)
    expect(page.get_by_role("heading", name="stork-7b beside people")).to_be_visible()
    check_accessibility(page)

    page.get_by_role("region", name="Confusion matrix").get_by_role("link").first.click()
    expect(page.locator(".error-item").first).to_be_visible()
    check_accessibility(page)
    page.keyboard.press("j")
    expect(page.locator(".error-item").first).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator(".error-item").nth(1)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("Tab")
    page.locator(".error-item").first.get_by_role("checkbox").check()
    chosen = page.locator(".error-item code").first.text_content() or ""
    page.get_by_role("button", name="Make a judge with these examples").click()

    expect(page.get_by_label("Chosen examples")).to_have_value(chosen)
    expect(page.get_by_label("Examples from")).to_have_value("bridges-study")
