"""An engine at work in a thread of its own, so that it never waits while replies are written down.

The worker's own thread has the database: it puts requests in and takes replies out. The engine's thread
has the engine, and touches no table.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Generic, TypeVar

from django.db import connections
from django.utils.timezone import now

from collection.signs_of_life import CLOCKS_DIFFER
from judging.engines import PAID_REPLIES_MAY_TAKE, Engine, GradeRequest, Heard, LettingGo, Reply, Stopping

# The engine is given more when what waits for it is less than so many seconds' work, as fast as it was so far,
# and at least so many requests: what one worker holds, no other can begin.
AHEAD_SECONDS = 2.0
LEAST_AHEAD = 32
LOOK_SECONDS = 0.1
# An engine that waits for something else than its replies, a server that does not say what it is, is left behind.
ENGINE_MAY_TAKE = PAID_REPLIES_MAY_TAKE + 0.5

Read = TypeVar("Read")


class Asking(Generic[Read]):
    """Requests on their way to an engine, and its replies on their way back.

    `over` says when the engine shall begin no more, `leaving` when nobody can wait for what is under way either;
    `heard` when a reply was last stored;
    `read` makes of a reply what comes back, at once and in the engine's thread: it may call `stop`, and must touch
    no table.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        over: Callable[[], bool],
        read: Callable[[GradeRequest, Reply], Read],
        leaving: Callable[[], bool] = lambda: False,
        heard: Callable[[], Heard] | None = None,
    ) -> None:
        self._engine = engine
        self._over = over
        self._leaving = leaving
        self._heard = heard
        self._read = read
        self._requests: deque[GradeRequest] = deque()
        self._replies: deque[Read] = deque()
        self._news = threading.Event()
        self._more = threading.Event()
        self._given = 0
        self._began = time.monotonic()
        self._no_more = False
        self._stopped = False
        self._ended = False
        self._error: BaseException | None = None
        self._letting_go = LettingGo(self.at_once, seconds=ENGINE_MAY_TAKE)
        self._thread = threading.Thread(target=self._run, name="asking", daemon=True)
        self._thread.start()

    @property
    def hungry(self) -> bool:
        """Whether the engine may soon have nothing to do."""
        return not self._no_more and not self._ended and not self.stopping() and len(self._requests) < self._ahead()

    @property
    def ended(self) -> bool:
        """Whether every reply that is waited for was taken."""
        return (self._ended or self._letting_go.due()) and not self._replies

    def ask(self, requests: Iterable[GradeRequest]) -> None:
        """Put requests behind those that wait."""
        self._requests.extend(requests)
        self._more.set()

    def no_more(self) -> None:
        """Say that nothing will be asked any more: the engine ends when all is replied to."""
        self._no_more = True
        self._more.set()

    def stop(self) -> None:
        """Begin no more; replies that are under way still come for a while, unless the engine drops them."""
        self._stopped = True
        self._more.set()

    def stopping(self) -> bool:
        return self._stopped or self._over()

    def at_once(self) -> bool:
        """Whether the engine was stopped before its time: the job was paused or cancelled, or the worker ends."""
        return self._stopped or self._leaving()

    def replies(self, seconds: float) -> list[Read]:
        """Take the replies that are there, as they were read.

        Wait so long for the first, or for the engine's hunger or end.
        """
        if not self._replies and not self._ended:
            self._news.wait(seconds)
        self._news.clear()
        taken: list[Read] = []
        while self._replies:
            taken.append(self._replies.popleft())
        return taken

    def close(self) -> None:
        """Wait until the engine is still, and raise what stopped it. One that does not let go is left behind."""
        self.stop()
        while self._thread.is_alive() and not self._letting_go.due():
            self._thread.join(LOOK_SECONDS)
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        stopping = Stopping(self.stopping, self.at_once, self._heard)
        try:
            for request, reply in self._engine.grade(self._waiting(), stopping=stopping):
                self._replies.append(self._read(request, reply))
                if not self._news.is_set():
                    self._news.set()
        except BaseException as error:  # it is raised again, in the thread that waits for it
            self._error = error
        finally:
            connections.close_all()
            self._ended = True
            self._news.set()

    def _waiting(self) -> Iterator[GradeRequest]:
        """Yield requests until there will be no more, waiting for them if need be."""
        while not self.stopping():
            if not self._requests:
                if self._no_more and not self._requests:
                    return
                self._more.clear()
                if self._requests or self._no_more:
                    continue
                self._news.set()
                self._more.wait(LOOK_SECONDS)
                continue
            request = self._requests.popleft()
            self._given += 1
            if len(self._requests) < self._ahead() and not self._news.is_set():
                self._news.set()
            yield request

    def _ahead(self) -> float:
        """Return how many requests should wait for the engine."""
        return max(LEAST_AHEAD, AHEAD_SECONDS * self._given / max(time.monotonic() - self._began, 0.1))


def heard_at(*, began: datetime | None, replied: datetime | None) -> Heard:
    """Return the moments on this process's clock; those that are still to come are from before the clock went back."""
    return Heard(_here(began), _here(replied))


def _here(moment: datetime | None) -> float:
    ago = float("inf") if moment is None else (now() - moment).total_seconds()
    return time.monotonic() - ago if ago >= -CLOCKS_DIFFER.total_seconds() else float("-inf")


class Clock:
    """Says when something is due again."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.last = time.monotonic()

    def due(self) -> bool:
        return time.monotonic() - self.last >= self.seconds

    def again(self) -> None:
        self.last = time.monotonic()
