"""Answers and tasks are computed one after the other in each process; its other threads stay for slow pages."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse

Reply = TypeVar("Reply", bound=HttpResponse)

_TURN = Lock()


def in_turn(view: Callable[..., Reply]) -> Callable[..., Reply]:
    """Let one request at a time into the views of this process that are decorated so.

    For views that take milliseconds and are asked by everybody at once. Threads that compute side by side only take
    the interpreter from one another, so that each of them takes longer (docs/performance.md).
    """

    @wraps(view)
    def alone(request: HttpRequest, *args: Any, **kwargs: Any) -> Reply:
        with _TURN:
            return view(request, *args, **kwargs)

    return alone
