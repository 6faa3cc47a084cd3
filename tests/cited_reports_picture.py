"""The picture of docs/cited-reports.md: `python tests/cited_reports_picture.py FOLDER`.

A site of its own is started in an empty folder, with the demonstration, and a report of it is opened.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.first_hour_pictures import PASSWORD, PATIENCE_MS, a_site  # noqa: E402

REPORTS = "/studies/demonstration-citations/reports/"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, a_site(Path(place)) as address, sync_playwright() as playwright:
        manage = [sys.executable, "manage.py", "load_demonstration", "--force"]
        subprocess.run(manage, cwd=ROOT, env=os.environ | {"DATA_DIR": f"{place}/data"}, check=True)
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"))
        page = browser.new_page(base_url=address, viewport={"width": 1366, "height": 640}, reduced_motion="reduce")
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"/sign-in/?next={REPORTS}")
        page.get_by_label("Username").fill("rosa")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.locator("tr:has(a)", has_text="lantern-cited").first.get_by_role("link").click()
        report = page.get_by_role("heading", name="Report", exact=True)
        expect(report).to_be_visible(timeout=PATIENCE_MS)
        page.evaluate("document.fonts.ready")
        report.evaluate("one => one.scrollIntoView()")
        page.wait_for_load_state("networkidle")
        page.screenshot(path=folder / "report.png")
        browser.close()


if __name__ == "__main__":
    main()
