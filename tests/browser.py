"""Chromium for tests: pages that fail a test when they log an error, break the policy or leave the host.

    @pytest.mark.browser
    def test_ada_sees_her_work(page, sign_in, ada):
        sign_in(page, ada)

        page.goto("/work/")

        expect(page.get_by_role("heading", name="My work")).to_be_visible()
        check_accessibility(page)

Where there is no Chromium these tests skip and say so; with CI set that is an error.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from collection.models import User

SignIn = Callable[[Page, User], None]

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# A page is waited for this long, in ms: a busy machine is slow, and a click answers before the next page is there.
# So a test asks with `expect(…)`, which waits, and never with `is_visible()` and its like, which do not.
PATIENCE = 20_000
expect.set_options(timeout=PATIENCE)

# Short waits of a page, such as the moment before it goes on to the next question, take a twentieth of their time. The
# seconds between two looks at what goes on elsewhere are one: sooner, a look would meet the page on its way to another.
HURRIED = """
    const wait = window.setTimeout;
    window.setTimeout = (run, ms = 0, ...rest) => wait(run, ms < 1000 ? ms / 20 : ms < 5000 ? 1000 : ms, ...rest);
"""

# Chromium reports these as errors of the page; here they are what a page is made to live with.
EXPECTED_CONSOLE_ERRORS = ["status of 422", "net::ERR_INTERNET_DISCONNECTED"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests that wait for other processes a second try in continuous integration; the report names those.

    They are those in a browser, and the slow ones, which start workers and servers and kill them.
    """
    if os.environ.get("CI"):
        for item in items:
            if item.get_closest_marker("browser") or item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.flaky(reruns=1))


def _chromium() -> str:
    # The shell has no windows to draw: a third less processor time.
    path = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if path and Path(path).exists():
        return path
    message = "no Chromium: install it (Debian: apt-get install chromium-headless-shell) or set CHROMIUM to its path"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = _chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def expected_console_errors() -> list[str]:
    """Parts of console errors that this test provokes; a test appends to it."""
    return list(EXPECTED_CONSOLE_ERRORS)


@pytest.fixture
def complaints() -> list[str]:
    """What the pages of this test logged and asked for and should not have. It fails if any are left."""
    return []


@pytest.fixture
def other_hosts() -> list[str]:
    """Addresses, such as http://127.0.0.1:8100, that this test's pages may ask too; a test appends to it."""
    return []


@pytest.fixture
def open_page(
    request: pytest.FixtureRequest,
    browser: Browser,
    live_server: LiveServer,
    complaints: list[str],
    expected_console_errors: list[str],
    other_hosts: list[str],
) -> Iterator[Callable[..., Page]]:
    """Open a page with the options of a browser context: `open_page(color_scheme="dark")`.

    Two pages are two browsers: each has its own cookies.
    """
    contexts: list[BrowserContext] = []

    def open_page(**options: Any) -> Page:
        context = browser.new_context(base_url=live_server.url, **options)
        context.set_default_timeout(PATIENCE)
        if request.node.get_closest_marker("by_hand"):
            context.add_init_script("try { localStorage.setItem('assize:goes-on', 'off') } catch {}")
        if not request.node.get_closest_marker("in_real_time"):
            context.add_init_script(HURRIED)
        contexts.append(context)
        context.on("page", lambda page: _listen(page, live_server.url, other_hosts, complaints))
        return context.new_page()

    yield open_page

    for context in contexts:
        context.close()
    unexpected = [text for text in complaints if not any(part in text for part in expected_console_errors)]
    assert not unexpected, "the page complained:\n" + "\n".join(unexpected)


def _listen(page: Page, host: str, other_hosts: list[str], complaints: list[str]) -> None:
    def check_host(url: str) -> None:
        known = url.startswith(tuple(f"{one}/" for one in [host, *other_hosts]))
        if urlsplit(url).scheme not in {"data", "blob", "about"} and not known:
            complaints.append(f"asked another host for {url}")

    page.on("request", lambda request: check_host(request.url))
    page.on("websocket", lambda socket: complaints.append(f"opened a web socket to {socket.url}"))
    page.on("pageerror", lambda error: complaints.append(f"uncaught error on {page.url}: {error}"))
    page.on(
        "console",
        lambda line: complaints.append(f"console on {page.url}: {line.text}") if line.type == "error" else None,
    )


def close_new_guidelines(page: Page) -> None:
    """Close the guidelines, which open by themselves before somebody's first task; where they did not, nothing happens.

    The page of the task is live.
    """
    if page.locator("#guidelines[open]").count():
        page.keyboard.press("Escape")
        expect(page.locator("#guidelines[open]")).to_have_count(0)


@pytest.fixture
def page(open_page: Callable[..., Page]) -> Page:
    """A laptop."""
    return open_page(viewport={"width": 1280, "height": 800})


@pytest.fixture
def phone(open_page: Callable[..., Page]) -> Page:
    return open_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)


@pytest.fixture
def sign_in(live_server: LiveServer) -> SignIn:
    """Give a page the session of a user, without the sign-in form."""

    def sign_in(page: Page, user: User) -> None:
        client = Client()
        client.force_login(user)
        name = settings.SESSION_COOKIE_NAME
        page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": live_server.url}])

    return sign_in


# What of axe-core's rules another colour scheme may break.
OF_COLOURS = ["color-contrast", "link-in-text-block"]


def check_accessibility(page: Page, within: str = "html", rules: Sequence[str] = ()) -> None:
    """Fail with axe-core's findings about the page, or about the part that the selector names; by all rules, or these.

    One rule of those that axe-core calls experimental is among them: names hold what is written on the button, so that
    whoever speaks to a computer can say what they see. No rule reads the sheets, so axe-core does not fetch what these
    import, nor write it into the page, which the policy forbids.
    """
    page.wait_for_load_state()
    page.evaluate(AXE_FILE_PATH.read_text(encoding="utf-8"))  # through the debugger, which no policy forbids
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    only = {"type": "rule", "values": list(rules)} if rules else {"type": "tag", "values": tags}
    result = page.evaluate(
        """async ([within, runOnly]) => {
            // A colour on its way to another is neither.
            while (document.getAnimations().some((one) => one instanceof CSSTransition))
                await new Promise(requestAnimationFrame);
            return axe.run(within, {
                resultTypes: ['violations'], runOnly, preload: false,
                rules: runOnly.type === 'tag' ? {'label-content-name-mismatch': {enabled: true}} : {},
            });
        }""",
        [within, only],
    )
    findings = [_as_text(violation, node) for violation in result["violations"] for node in violation["nodes"]]
    assert not findings, f"axe-core on {page.url}:\n" + "\n".join(findings)


def _as_text(violation: dict[str, Any], node: dict[str, Any]) -> str:
    """Return what is wrong, where, and how to mend it."""
    title = f"{violation['impact']}: {violation['help']} ({violation['id']})"
    return f"{title}\n    {node['html']}\n    {node['failureSummary']}"


def chart_on(page: Page, heading: str) -> Locator:
    """Return the chart of this heading once it is drawn, in the width that the page shows."""
    page.locator(".chart").first.scroll_into_view_if_needed()
    return page.get_by_role("group", name=re.compile(heading)).locator("visible=true").and_(page.locator("svg"))


def check_no_sideways_scroll(page: Page) -> None:
    """Fail when the page is wider than its window: then a phone has to scroll to read every line."""
    page.wait_for_load_state()
    excess = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert excess <= 0, f"{page.url} is {excess} px wider than its window"
