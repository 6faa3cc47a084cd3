"""Pictures for the documentation: a site of its own in an empty folder, walked through in Chromium."""

from __future__ import annotations

import argparse
import os
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
BIN = Path(sys.executable).parent
PASSWORD = "only for these pictures"
PATIENCE_MS = 120_000
MAKE_ROSA = (
    f"from collection.models import User; User.objects.create_user('rosa', password={PASSWORD!r}, is_researcher=True)"
)

Walk = Callable[["Walker"], None]


class Walker:
    """Somebody who walks through the site and takes pictures. `place` is a folder for what they bring."""

    def __init__(self, page: Page, place: Path, folder: Path) -> None:
        self.page, self.place, self.folder = page, place, folder
        self._began = time.monotonic()

    def sign_in(self) -> None:
        """Sign in as rosa, who then stands before her collections, without the tour."""
        self.page.goto("/sign-in/?next=/collections/")
        self.page.get_by_label("Username").fill("rosa")
        self.page.get_by_label("Password", exact=True).fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.get_by_role("button", name="End the tour").click()

    def picture(self, name: str, ready: Callable[[], object], at: str = "") -> None:
        """Take a picture once the page is ready, from this heading on, and say how long it took and how long it is."""
        page = self.page
        ready()
        page.evaluate("document.fonts.ready")
        if at:
            page.get_by_role("heading", name=at, exact=True).first.evaluate("one => one.scrollIntoView()")
        page.wait_for_load_state("networkidle")
        sys.stdout.write(f"{name}: {time.monotonic() - self._began:.1f} s, {page.evaluate('innerHeight')} of ")
        sys.stdout.write(f"{page.evaluate('document.documentElement.scrollHeight')} px\n")
        page.screenshot(path=self.folder / f"{name}.png")
        self._began = time.monotonic()


def take_pictures(description: str | None, walk: Walk, *, demonstration: bool = False) -> None:
    """Start a site, with the demonstration or empty, walk through it as the command line says, and stop it."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--width", type=int, default=1366)
    parser.add_argument("--height", type=int, default=768)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=PATIENCE_MS)
    with tempfile.TemporaryDirectory() as place, a_site(Path(place)) as address, sync_playwright() as playwright:
        if demonstration:
            manage = [sys.executable, "manage.py", "load_demonstration", "--force"]
            subprocess.run(manage, cwd=ROOT, env=os.environ | {"DATA_DIR": f"{place}/data"}, check=True)
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"))
        page = browser.new_page(
            base_url=address,
            viewport={"width": asked.width, "height": asked.height},
            color_scheme="dark" if asked.dark else "light",
            reduced_motion="reduce",
        )
        page.set_default_timeout(PATIENCE_MS)
        walk(Walker(page, Path(place), asked.folder))
        browser.close()


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
