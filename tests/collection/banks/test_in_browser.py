"""Rosa reads a nugget bank, on a laptop and on a phone in the dark, in Chromium."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from collection.models import NuggetBank, User
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.collection.banks.test_views import PAGE
from tests.collection.banks.test_views import bank as bank_of_two_versions

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
bank = bank_of_two_versions


def test_a_bank_is_read_by_version_and_topic(
    open_page: Callable[..., Page], sign_in: SignIn, rosa: User, bank: NuggetBank
) -> None:
    for width, height, scheme in ((1366, 768, "light"), (390, 844, "dark")):
        page = open_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        sign_in(page, rosa)

        page.goto("/collections/bridges/")
        page.get_by_role("link", name="Nugget banks").click()
        page.get_by_role("link", name="spring").click()
        expect(page.get_by_role("heading", name="Changes since version 1"), scheme).to_be_visible()
        check_accessibility(page)
        check_no_sideways_scroll(page)
        if folder := os.environ.get("PICTURES"):
            page.screenshot(path=Path(folder) / f"bank-{width}.png", full_page=True)

        page.get_by_label("Version", exact=True).select_option("1")
        page.get_by_role("button", name="Show").press("Enter")
        expect(page, scheme).to_have_url(re.compile(re.escape(PAGE) + r"\?.*version=1"))
        expect(page.get_by_text("Version 1: 4 nuggets"), scheme).to_be_visible()
