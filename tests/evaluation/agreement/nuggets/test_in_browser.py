"""Agreement on nuggets in a browser: pairs side by side, in light and dark, on a laptop and a phone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from collection.models import Collection, User
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.evaluation.agreement.nuggets.test_nugget_agreement import banks

__all__ = ["banks"]
pytestmark = pytest.mark.browser


def test_pairs_side_by_side(open_page: Callable[..., Page], sign_in: SignIn, banks: Collection, rosa: User) -> None:
    for width, height, scheme in ((1366, 768, "light"), (390, 844, "dark")):
        page = open_page(color_scheme=scheme, viewport={"width": width, "height": height})
        sign_in(page, rosa)

        page.goto(f"/collections/{banks.name}/banks/")
        page.get_by_role("link", name="Agreement on nuggets").click()

        expect(page.locator(".answer"), scheme).to_contain_text("2 matched pairs of 3 nuggets")
        rows = page.get_by_role("region", name="Matched nuggets side by side").locator("tbody tr")
        expect(rows, scheme).to_have_count(4)
        check_accessibility(page)
        check_no_sideways_scroll(page)
        if folder := os.environ.get("SCREENSHOTS"):
            page.screenshot(path=Path(folder) / f"nugget-agreement-{width}-{scheme}.png", full_page=True)
