"""The picture of docs/cited-reports.md: `python tests/cited_reports_picture.py FOLDER --height 640`.

A site of its own is started in an empty folder, with the demonstration, and a report of it is opened.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.pictures import Walker, take_pictures  # noqa: E402

REPORTS = "/studies/demonstration-citations/reports/"


def walk(walker: Walker) -> None:
    """Open a report, and take its picture."""
    walker.sign_in()
    walker.page.goto(REPORTS)
    walker.page.locator("tr:has(a)", has_text="lantern-cited").first.get_by_role("link").click()
    report = walker.page.get_by_role("heading", name="Report", exact=True)
    walker.picture("report", lambda: expect(report).to_be_visible(), "Report")


if __name__ == "__main__":
    take_pictures(__doc__, walk, demonstration=True)
