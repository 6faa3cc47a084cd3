"""The pictures of docs/first-hour.md: `python tests/first_hour_pictures.py FOLDER [--dark] [--width 1366]`.

A site of its own is started in an empty folder, and walked through in Chromium with the made-up files of
`tests/many_judges.py`, as a researcher would on the first day. Each step says what it took.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.many_judges import write_campaign  # noqa: E402

BIN = Path(sys.executable).parent
PASSWORD = "only for these pictures"
PATIENCE_MS = 120_000
MAKE_ROSA = (
    f"from collection.models import User; User.objects.create_user('rosa', password={PASSWORD!r}, is_researcher=True)"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--width", type=int, default=1366)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, a_site(Path(place)) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"))
        page = browser.new_page(
            base_url=address,
            viewport={"width": asked.width, "height": 768},
            color_scheme="dark" if asked.dark else "light",
            reduced_motion="reduce",
        )
        page.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        walk(page, files_in(Path(place) / "campaign"), asked.folder)
        browser.close()


def files_in(folder: Path) -> list[Path]:
    """Make the files, of which people judged every second pair and the judges all."""
    files = list(write_campaign(folder).values())
    people = next(path for path in files if path.stem == "people")
    lines = people.read_text().splitlines(keepends=True)
    people.write_text("".join(random.Random(1).sample(lines, len(lines) // 2)))
    return files


@contextmanager
def a_site(place: Path) -> Iterator[str]:
    """Start a site with an empty database and its workers, and stop it at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    environment = os.environ | {
        "DATA_DIR": str(place / "data"),
        "PORT": port,
        "BIND": "127.0.0.1",
        "DEMONSTRATION": "0",
        "PATH": f"{BIN}:{os.environ['PATH']}",
    }
    for name in ("DATABASE_URL", "CELERY_BROKER_URL"):
        environment.pop(name, None)
    manage = [sys.executable, "manage.py"]
    quiet = {"cwd": ROOT, "env": environment, "stdout": subprocess.DEVNULL}
    subprocess.run([*manage, "set_up", "--port", port, "--bind", "127.0.0.1"], check=True, **quiet)  # type: ignore[call-overload]
    subprocess.run([*manage, "shell", "-c", MAKE_ROSA], check=True, **quiet)  # type: ignore[call-overload]
    site = subprocess.Popen([BIN / "honcho", "start", "--no-prefix"], start_new_session=True, **quiet)  # type: ignore[call-overload]
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address)
        yield address
    finally:
        os.killpg(site.pid, signal.SIGINT)
        site.wait(30)


def wait_for(address: str) -> None:
    for _ in range(240):
        try:
            urlopen(f"{address}/sign-in/", timeout=5).close()
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise TimeoutError(f"No site answers at {address}.")


def walk(page: Page, files: list[Path], folder: Path) -> None:
    """Go from an empty site to filled qrels, and take a picture of each step."""
    began = time.monotonic()

    def picture(name: str, ready: Callable[[], object], at: str = "") -> None:
        nonlocal began
        ready()
        page.evaluate("document.fonts.ready")
        if at:
            page.get_by_role("heading", name=at, exact=True).first.evaluate("one => one.scrollIntoView()")
        page.wait_for_load_state("networkidle")
        sys.stdout.write(f"{name}: {time.monotonic() - began:.1f} s, {page.evaluate('innerHeight')} of ")
        sys.stdout.write(f"{page.evaluate('document.documentElement.scrollHeight')} px\n")
        page.screenshot(path=folder / f"{name}.png")
        began = time.monotonic()

    page.goto("/sign-in/?next=/collections/")
    page.get_by_label("Username").fill("rosa")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="End the tour").click()
    page.get_by_role("link", name="New collection").first.click()
    page.get_by_label("Title").fill("Campaign")
    page.get_by_label("Name").fill("campaign")
    page.get_by_role("button", name="Create collection").click()
    page.get_by_label("Files", exact=True).set_input_files(files)
    page.get_by_label("Create missing passages with only an id").check()
    picture("1-files", lambda: expect(page.get_by_role("button", name="Preview")).to_be_visible())
    page.get_by_role("button", name="Preview").click()
    bring = page.get_by_role("button", name="Import", exact=True)
    picture("2-preview", lambda: expect(bring).to_be_visible())
    bring.click()
    page.wait_for_url("**/judge-comparison/**")
    table = page.locator("table").first
    picture("3-judges", lambda: expect(table).to_be_visible())
    page.get_by_role("button", name="Compare all 33 judges").click()
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
    main()
