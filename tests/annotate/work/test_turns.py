"""Answers and tasks are computed one after the other; other views of the process are not held up."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.urls import resolve, reverse

from annotate.work import turns
from annotate.work.turns import in_turn


def test_one_request_at_a_time_is_computed() -> None:
    at_once, most = [0], [0]
    pause = threading.Event()

    @in_turn
    def view(_request: HttpRequest) -> HttpResponse:
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        pause.wait(0.01)  # lets the others in, if they can
        at_once[0] -= 1
        return HttpResponse()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: view(HttpRequest()), range(16)))

    assert most == [1]


def test_a_view_that_fails_gives_its_turn_back() -> None:
    @in_turn
    def broken(_request: HttpRequest) -> HttpResponse:
        raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            broken(HttpRequest())


@pytest.mark.parametrize(("name", "waits"), [("assignment", True), ("choice", True), ("submission", False)])
def test_the_two_views_that_everybody_asks_wait_for_their_turn(name: str, waits: bool) -> None:
    view: Any = resolve(reverse(f"annotate:{name}", args=[1])).func
    codes = []
    while view:
        codes.append(view.__code__)
        view = getattr(view, "__wrapped__", None)

    assert (in_turn(lambda _request: HttpResponse()).__code__ in codes) == waits
    assert not turns._TURN.locked()
