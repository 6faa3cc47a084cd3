"""The pictures of docs/first-hour.md: `python tests/first_hour_pictures.py FOLDER [--dark] [--width 1366]`.

A site of its own is started in an empty folder, and walked through in Chromium with the made-up files of
`tests/many_judges.py`, as a researcher would on the first day. Each step says what it took.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.many_judges import write_campaign  # noqa: E402
from tests.pictures import Walker, take_pictures  # noqa: E402


def files_in(folder: Path) -> list[Path]:
    """Make the files, of which people judged every second pair and the judges all."""
    files = list(write_campaign(folder).values())
    people = next(path for path in files if path.stem == "people")
    lines = people.read_text().splitlines(keepends=True)
    people.write_text("".join(random.Random(1).sample(lines, len(lines) // 2)))
    return files


def walk(walker: Walker) -> None:
    """Go from an empty site to filled qrels, and take a picture of each step."""
    page, picture = walker.page, walker.picture
    walker.sign_in()
    page.get_by_role("link", name="New collection").first.click()
    page.get_by_label("Title").fill("Campaign")
    page.get_by_label("Name").fill("campaign")
    page.get_by_role("button", name="Create collection").click()
    page.get_by_label("Files", exact=True).set_input_files(files_in(walker.place / "campaign"))
    page.get_by_label("Create missing passages with only an id").check()
    picture("1-files", lambda: expect(page.get_by_role("button", name="Preview")).to_be_visible())
    page.get_by_role("button", name="Preview").click()
    bring = page.get_by_role("button", name="Import", exact=True)
    picture("2-preview", lambda: expect(bring).to_be_visible())
    bring.click()
    page.wait_for_url("**/judge-comparison/**")
    table = page.locator("table").first
    picture("3-judges", lambda: expect(table).to_be_visible())
    picture("4-all-judges", lambda: expect(page.get_by_text("Of 33 judges")).to_be_visible(), "Judges")
    study = "/studies/campaign-qrels"
    for name, address in {
        "5-errors": f"{study}/errors/?criterion=relevance&rater=opal-70b-plain",
        "6-leaderboard": f"{study}/leaderboard/?measure=nDCG%4010",
        "7-labels": f"{study}/calibration/?criterion=relevance&judge=opal-70b-plain",
        "8-filled-qrels": f"{study}/filled-qrels/?criterion=relevance&judge=opal-70b-plain",
        "9-study": f"{study}/",
    }.items():
        page.goto(address)
        picture(name, lambda: expect(page.locator("main table, main img, main svg").first).to_be_visible())


if __name__ == "__main__":
    take_pictures(__doc__, walk)
