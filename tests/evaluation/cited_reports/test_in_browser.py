"""A cited report in a browser: told apart without colour, in light and dark, on a laptop and a phone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from collection.models import Study, User
from evaluation.cited_reports.reading import read_reports
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.evaluation.cited_reports.test_views import cited

__all__ = ["cited"]
pytestmark = pytest.mark.browser


def test_a_report_by_support(open_page: Callable[..., Page], sign_in: SignIn, cited: Study, rosa: User) -> None:
    [row] = read_reports(cited).rows
    for width, height, scheme in ((1366, 768, "light"), (390, 844, "dark")):
        page = open_page(color_scheme=scheme, viewport={"width": width, "height": height})
        sign_in(page, rosa)

        page.goto(f"/studies/{cited.name}/reports/{row.pk}/")

        expect(page.locator("#sentence-2 .sign"), scheme).to_have_text("✕")
        expect(page.locator(".support-legend li"), scheme).to_have_count(4)
        check_accessibility(page)
        check_no_sideways_scroll(page)
        if folder := os.environ.get("SCREENSHOTS"):
            page.screenshot(path=Path(folder) / f"cited-report-{width}-{scheme}.png", full_page=True)
        page.locator(".support-chip").first.click()
        expect(page, scheme).to_have_url(re.compile("#document-1$"))
        expect(page.locator("#document-1"), scheme).to_be_visible()
