"""Hundreds of hostile texts in every field of every table, seen on every page in Chromium: none does anything.

A page is opened with the Content-Security-Policy in force, where a refusal is a fault too, for something asked to run;
and without it, where escaping stands alone. Both times nothing runs, asks another host or becomes markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.utils.datastructures import MultiValueDict
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Error, Page, Response, Route
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.attacks.hostile_text import FIELDS, HostileText, text_fields
from tests.attacks.hostile_world import Visit, a_full_world, visits
from tests.attacks.mutations import FULL
from tests.attacks.payloads import SINKS, corpus
from tests.attacks.world import World
from tests.browser import SignIn

MARK = re.compile(r"zq[0-9a-f]{6}q")
ROUNDS = 8 if FULL else 1
# The short form opens one in so many.
EVERY = 1 if FULL else 9
# JSON, tables and archives: no browser shows them as a page.
NO_PAGES = re.compile(r"\A/(api/v1/|favicon)|bundle/|export/|/file/|requests/|\.(csv|jsonl?|<slug:table_format>)\Z")
HIT = "window.hit = (mark) => console.error(`HIT ${mark}`)"

# What of a page is markup though it holds a mark, and what it shows. Attributes that name an address of ours, or hold
# a text, may hold a mark; nothing else of a tag may.
LOOK = """() => {
  const markup = [], shown = [document.title];
  const mark = /zq[0-9a-f]{6}q/;
  const texts = new Set(['value', 'title', 'alt', 'placeholder', 'content', 'label', 'for', 'id', 'name', 'datetime']);
  const addresses = new Set(['href', 'action', 'src', 'formaction', 'hx-get', 'hx-post', 'hx-push-url']);
  const walk = (root) => {
    for (const node of root.querySelectorAll('*')) {
      if (mark.test(node.localName)) markup.push(node.localName);
      for (const {name, value} of node.attributes) {
        if (mark.test(name)) markup.push(`${node.localName} ${name}`);
        if (!mark.test(value)) continue;
        shown.push(value);
        const told = texts.has(name) || name.startsWith('aria-') || name.startsWith('data-') && !name.includes('hx');
        const ours = addresses.has(name) && (/^(mailto:|[?#])/.test(value) || (() => {
          try { return new URL(value, location.href).origin === location.origin && !/[<>"`]/.test(value); }
          catch { return false; }
        })());
        if (!told && !ours) markup.push(`${node.localName} ${name}=${value.slice(0, 200)}`);
      }
      const runs = node.localName === 'style' || node.localName === 'script' && node.type !== 'application/json';
      if (runs && mark.test(node.textContent)) markup.push(`<${node.localName}>${node.textContent.slice(0, 200)}`);
      if (['iframe', 'object', 'embed', 'base', 'marquee', 'frameset'].includes(node.localName)) {
        markup.push(node.localName);
      }
      if (node.localName === 'template') walk(node.content);
      if (node.localName === 'textarea' || node.localName === 'input') shown.push(node.value);
    }
  };
  walk(document);
  return {markup, shown: document.documentElement.textContent + '\\n' + shown.join('\\n')};
}"""


class Watched:
    """A browser's context that remembers whatever a payload did in it."""

    def __init__(self, browser: Browser, server: LiveServer, *, with_policy: bool) -> None:
        self.home = server.url
        self.context: BrowserContext = browser.new_context(base_url=server.url, bypass_csp=not with_policy)
        self.context.set_default_timeout(120_000)
        self.context.add_init_script(HIT)
        self.context.route(lambda url: not url.startswith((f"{self.home}/", "data:", "blob:")), self._other_host)
        self.deeds: list[str] = []
        self.page: Page = self.context.new_page()
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.deeds.append(f"error: {error}"))
        self.page.on("dialog", self._asked)
        self.context.on("page", lambda page: self.deeds.append("opened a window") if page is not self.page else None)

    def open(self, path: str) -> tuple[int, str, dict[str, Any]]:
        """Go there. Returns the status, the kind of document, and what `LOOK` finds."""
        self.deeds.clear()
        response = self._gone_to(path)
        assert response is not None
        kind = response.headers.get("content-type", "").partition(";")[0]
        return response.status, kind, self.look()

    def _gone_to(self, path: str) -> Response | None:
        """Go there, again where the page before goes on by itself meanwhile."""
        try:
            return self.page.goto(path, wait_until="load")
        except Error as error:
            if "interrupted by another navigation" not in str(error):
                raise
        self.page.wait_for_load_state()
        return self.page.goto(path, wait_until="load")

    def rest(self) -> None:
        """Leave a download behind: Chromium opens a page of its own after it, which would stop the next one."""
        for _ in range(10):
            try:
                self.page.goto("about:blank")
            except Error:
                continue
            return

    def look(self) -> dict[str, Any]:
        """Return what `LOOK` finds, of the page after this one where it goes on by itself."""
        for _ in range(10):
            self.page.wait_for_load_state()
            try:
                found: dict[str, Any] = self.page.evaluate(LOOK)
            except Error as error:
                if "navigation" not in str(error):
                    raise
            else:
                return found
        raise AssertionError(f"{self.page.url} does not come to rest")

    def _other_host(self, route: Route) -> None:
        self.deeds.append(f"asked for {route.request.url}")
        route.abort()

    def _asked(self, dialog: Dialog) -> None:
        self.deeds.append(f"dialogue: {dialog.message}")
        dialog.dismiss()

    def _said(self, line: ConsoleMessage) -> None:
        if line.type == "error" and "Failed to load resource: the server responded" not in line.text:
            self.deeds.append(line.text)


@pytest.fixture
def asked_for(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names by which views ask for something in a request's address or body, since it was last cleared."""
    names: set[str] = set()

    def remembering(method: Callable[..., Any]) -> Callable[..., Any]:
        def ask(self: Any, key: Any, *more: Any) -> Any:
            names.add(str(key))
            return method(self, key, *more)

        return ask

    for name in ("__getitem__", "getlist", "__contains__"):
        monkeypatch.setattr(MultiValueDict, name, remembering(getattr(MultiValueDict, name)), raising=False)
    return names


@pytest.fixture
def full_world(transactional_db: None, settings: Settings, tmp_path: Any) -> World:
    settings.MEDIA_ROOT = tmp_path / "media"
    return a_full_world()


# --- The corpus and the list of fields ------------------------------------------------------------


def test_there_are_hundreds_of_payloads_and_each_has_a_mark() -> None:
    payloads = corpus()

    assert len(payloads) >= 300
    assert all("MARK" in payload.text for payload in payloads)


def test_every_text_field_is_in_the_list_and_no_other() -> None:
    assert {table: set(fields) for table, fields in FIELDS.items()} == text_fields()


@pytest.mark.browser
def test_payloads_run_where_nothing_stops_them(browser: Browser) -> None:
    """So that a page on which nothing ran was attacked with something."""
    running = [payload for payload in corpus() if payload.sink]
    tried = running if FULL else running[::12]
    context = browser.new_context()
    context.add_init_script(HIT)
    seen: list[str] = []
    body = ""

    def answer(route: Route) -> None:
        if route.request.url == "http://page.test/":
            route.fulfill(content_type="text/html", body=body)
        else:
            seen.append(route.request.url)
            route.abort()

    def dismiss(dialog: Dialog) -> None:
        seen.append(dialog.message)
        with suppress(Error):  # its page may be gone already
            dialog.dismiss()

    def did(mark: str) -> bool:
        return any(mark in text for text in seen)

    context.route("**/*", answer)
    page = context.new_page()
    page.on("console", lambda line: seen.append(line.text))
    page.on("dialog", dismiss)
    idle = []
    for number, payload in enumerate(tried):
        mark = f"zq{number:06x}q"
        seen.clear()
        body = f"<!doctype html>{SINKS[payload.sink].format(payload.marked(mark))}"
        if not any(ran(page, partial(did, mark)) for _ in range(2)):  # a busy machine may be too slow for the first try
            idle.append(payload)
    context.close()

    assert len(running) >= 150
    assert idle == []


def ran(page: Page, did: Callable[[], bool]) -> bool:
    with suppress(Error):  # it went elsewhere at once
        page.goto("http://page.test/", timeout=20_000)
    for attempt in range(50):
        if did():
            return True
        if attempt % 10 == 1:
            with suppress(Error):
                page.evaluate("document.querySelector('#link')?.click()")
        page.wait_for_timeout(20)
    return False


# --- Every page -----------------------------------------------------------------------------------


def chosen(world: World, number: int) -> Iterator[Visit]:
    """Yield the round's visits: in each, every address shows another of its things."""
    pages = [found for address, found in visits(world) if found and not NO_PAGES.search(address)]
    for found in pages[::EVERY]:
        for role in dict.fromkeys(visit.role for visit in found):
            theirs = [visit for visit in found if visit.role == role]
            yield theirs[number % len(theirs)]


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("part", range(4 if FULL else 1))
def test_no_text_does_anything_on_any_page(
    part: int,
    full_world: World,
    browser: Browser,
    live_server: LiveServer,
    sign_in: SignIn,
    asked_for: set[str],
    record_property: Callable[[str, object], None],
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("texts longer than their column are refused here; what pages do with them is the same")
    hostile = HostileText(start=part / 4)
    faults: list[str] = []
    shown: set[str] = set()
    opened = 0
    for number in range(part, ROUNDS, 4):
        hostile.fill()
        for user in full_world.people.values():
            if user:
                user.refresh_from_db()
        roles = {
            role: Watched(browser, live_server, with_policy=(number + number // 4) % 2 == 0)
            for role in ("anonymous", *SIGNED_IN)
        }
        for role in SIGNED_IN:
            user = full_world.people[role]
            assert user is not None
            sign_in(roles[role].page, user)
        for visit in chosen(full_world, number):
            asked_for.clear()
            opened += 1
            faults += faults_of(visit, visit.path, roles[visit.role], hostile, shown)
            names = sorted(asked_for - {"csrfmiddlewaretoken"})[:12]
            if names and number < 4:
                query = urlencode({name: hostile.some("the address") for name in names})
                faults += faults_of(visit, f"{visit.path}?{query}", roles[visit.role], hostile, shown)
        for watched in roles.values():
            watched.context.close()

    record_property("pages opened", opened)
    record_property("fields filled", len(hostile.covered()))
    record_property("fields seen as text", sorted({hostile.said[mark][0] for mark in shown}))
    assert faults == []
    assert len({hostile.said[mark][0] for mark in shown}) >= (50 if FULL else 15), "few fields were seen as text"
    if FULL:
        # Quotes are cut from texts, which hold payloads; the few without a known place have payloads of their own.
        held = {field: n for field, n in hostile.covered().items() if not field.endswith(".quote")}
        assert {field: n for field, n in held.items() if n < len(hostile.payloads) / 4} == {}


SIGNED_IN = ("rosa", "ada", "admin")


def faults_of(visit: Visit, path: str, watched: Watched, hostile: HostileText, shown: set[str]) -> list[str]:
    """Open the page and return what went wrong. Adds the marks of texts that it showed letter by letter."""
    try:
        status, kind, found = watched.open(path)
    except Error as error:
        if "Download is starting" not in str(error):
            return [f"{visit}: {error}"]
        watched.rest()
        return []
    if status >= 500:
        return [f"{visit}: {status}"]
    if kind not in ("text/html", "image/svg+xml"):
        return list(watched.deeds)
    text = normal(found["shown"])
    for mark in set(MARK.findall(text)):
        if mark in hostile.said and normal(hostile.said[mark][2]) in text:
            shown.add(mark)
    return [f"{visit.role} at {path[:200]}: {fault}" for fault in (*watched.deeds, *found["markup"])]


def normal(text: str) -> str:
    """Return the text as an HTML parser leaves it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


# --- Forms ----------------------------------------------------------------------------------------

# Puts a text into everything of a form that can be filled or chosen, and sends it as a click would.
SEND = """([number, texts]) => {
  const form = document.querySelectorAll('form[method=post]')[number];
  let next = 0;
  for (const field of form.elements) {
    if (!field.name || field.name === 'csrfmiddlewaretoken' || field.type === 'file') continue;
    const text = texts[next++ % texts.length];
    for (const name of ['required', 'pattern', 'maxlength', 'min', 'max', 'step']) field.removeAttribute(name);
    if (field.localName === 'select') field.append(new Option(text, text, true, true));
    if (['radio', 'checkbox'].includes(field.type)) field.checked = true;
    if (['number', 'date', 'email', 'url', 'password', 'datetime-local'].includes(field.type)) field.type = 'text';
    if (field.localName !== 'button') field.value = text;
  }
  form.noValidate = true;
  setTimeout(() => form.requestSubmit());
}"""
FILLED = """() => [...document.querySelectorAll('form[method=post]')].map((form) =>
  form.querySelector('textarea, input[type=text], input:not([type]), select') !== null)"""


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="two hundred forms: make nightly")
def test_nothing_that_a_form_sends_does_anything_on_the_page_that_answers(
    full_world: World, browser: Browser, live_server: LiveServer, sign_in: SignIn
) -> None:
    hostile = HostileText()
    faults: list[str] = []
    sent = 0
    for role in ("rosa", "ada"):
        watched = Watched(browser, live_server, with_policy=False)
        user = full_world.people[role]
        assert user is not None
        sign_in(watched.page, user)
        for visit in [visit for visit in chosen(full_world, 0) if visit.role == role]:
            try:
                watched.open(visit.path)
            except Error:
                continue
            for number, filled in enumerate(watched.page.evaluate(FILLED)):
                if not filled:
                    continue
                status, _, _ = watched.open(visit.path)
                if status != 200 or watched.page.locator("form[method=post]").count() <= number:
                    break
                sent += 1
                texts = [hostile.some("a form") for _ in range(12)]
                with watched.page.expect_response(lambda answer: answer.request.method == "POST") as answered:
                    watched.page.evaluate(SEND, [number, texts])
                watched.page.wait_for_timeout(50)
                if answered.value.status >= 500:
                    faults.append(f"{role} at {visit.path}, form {number}: {answered.value.status}")
                found = watched.look()
                deeds = [deed for deed in watched.deeds if "Response Status Error Code" not in deed]
                faults += [f"{role} at {visit.path}, form {number}: {fault}" for fault in (*deeds, *found["markup"])]
        watched.context.close()

    assert faults == []
    assert sent >= 30
