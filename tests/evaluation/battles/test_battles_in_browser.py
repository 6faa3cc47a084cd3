"""The page of battles in a browser: its chart, on a phone, and without complaints."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from collection.models import Study, User
from tests.annotate.work.test_grades_in_view import picture
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.evaluation.battles.test_battles import PAGE, fought, study

__all__ = ["fought", "study"]

pytestmark = pytest.mark.browser


def test_the_page_shows_who_is_better_and_who_beats_whom(
    page: Page, phone: Page, sign_in: SignIn, fought: Study, rosa: User
) -> None:
    sign_in(page, rosa)
    page.goto(PAGE)

    expect(page.locator("table").first).to_contain_text("alder-1")
    page.locator("figure").first.scroll_into_view_if_needed()
    expect(page.locator("figure svg:visible").first).to_be_visible()
    check_accessibility(page)
    page.set_viewport_size({"width": 1366, "height": 2200})
    picture(page, "battles-1366")

    sign_in(phone, rosa)
    phone.goto(PAGE)
    check_no_sideways_scroll(phone)
    phone.emulate_media(color_scheme="dark")
    picture(phone, "battles-390")
