"""What a task weighs on its way: requests and bytes, as the site serves its files, first to a browser that has none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.template.autoreload import reset_loaders
from playwright.sync_api import Locator, Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from collection.models import Study, User
from tests.annotate.work.test_grades_in_view import (
    ON_THE_TEXT,
    OTHERS,
    Work,
    battle,
    in_studies_of_their_own,
    open_at,
    relevance,
)
from tests.browser import SignIn
from tests.static_files import COLLECTED

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MOST_BYTES = 50_000
MOST_REQUESTS = 12


class Meter:
    """A WSGI application that notes what is asked of another, with the bytes of each reply, headers included."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self.application = application

    asked: list[tuple[str, int]] = []

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            length = int(dict(headers).get("Content-Length", 0))
            n_bytes = length + len(status) + sum(len(name) + len(value) + 4 for name, value in headers)
            self.asked.append((f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}", n_bytes))
            return start_response(status, headers, *rest)

        return self.application(environ, start)


@pytest.fixture
def live_server(collected_once: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    """The site with its static files as `make run` collects them."""
    settings.STORAGES = COLLECTED
    settings.STATIC_ROOT = collected_once
    monkeypatch.setattr("django.contrib.staticfiles.handlers.StaticFilesHandler", Meter)
    monkeypatch.setattr(Meter, "asked", [])
    reset_loaders()  # pages that are kept name the files of other tests
    server = LiveServer("localhost")
    yield server
    server.stop()
    reset_loaders()


def weight_of(page: Page, visit: Callable[[], object]) -> tuple[int, int]:
    """How many requests this takes, and bytes."""
    page.wait_for_load_state("networkidle")
    Meter.asked.clear()
    visit()
    page.wait_for_load_state("networkidle")
    return len(Meter.asked), sum(n_bytes for _, n_bytes in Meter.asked)


def test_a_task_of_each_type_is_light(open_page: Callable[..., Page], sign_in: SignIn, rosa: User, ada: User) -> None:
    works: list[Work] = [*ON_THE_TEXT, *OTHERS, battle]
    for work, assignment in zip(works, in_studies_of_their_own(works, rosa, ada), strict=True):
        page = open_page()
        sign_in(page, ada)

        cold, n_bytes = weight_of(page, partial(open_at, page, assignment))
        warm, _ = weight_of(page, partial(open_at, page, assignment))

        print(f"{work.__name__}: {cold} requests, {n_bytes} bytes; warm {warm}")  # noqa: T201
        assert cold <= MOST_REQUESTS, work.__name__
        assert n_bytes <= MOST_BYTES, work.__name__
        assert warm == 1, work.__name__
        page.context.close()


def answer(page: Page, there: Locator) -> None:
    """Answer the task, and wait for what comes next."""
    page.keyboard.press("1")
    expect(there).to_be_visible()


def test_an_answer_is_one_request(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    """It submits the task too, and its reply brings the pages of the tasks ahead."""
    sign_in(page, ada)
    open_at(page, relevance(study, ada))
    for n in range(3):
        here = page.locator("#assignment").get_attribute("data-assignment")
        there = page.locator(f"#assignment.live:not([data-assignment='{here}'])")

        asked, _ = weight_of(page, partial(answer, page, there))

        if n:  # the first comes before the service worker that shows what comes along
            assert asked == 1, Meter.asked
