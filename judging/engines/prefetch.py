"""Requests on their way to an engine that works step by step, and must not stand still until the next one comes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import Generic, Self, TypeVar

T = TypeVar("T")


class Feed(Generic[T]):
    """Takes things from a source that may make us wait, in a thread of its own. Used in a `with`.

    As many wait here as were wanted last; the source is not emptied beyond that.
    """

    def __init__(self, source: Iterable[T]) -> None:
        self.first: T | None = None
        self._source = source
        self._here: deque[T] = deque()
        self._wanted = 1
        self._exhausted = False
        self._closed = False
        self._error: BaseException | None = None
        self._changed = threading.Condition()

    def __enter__(self) -> Self:
        threading.Thread(target=self._run, name="feed", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        # The source may wait for whoever closes this, so it is not waited for: the thread ends with what comes next.
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def ended(self) -> bool:
        """Whether everything was taken that will ever come."""
        return self._exhausted and not self._here and self._error is None

    def take(self, most: int, *, seconds: float) -> list[T]:
        """Return up to so many that are here, in order; wait so long for the first. Raises what the source raised."""
        with self._changed:
            self._wanted = max(most, 1)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._here or self._exhausted, seconds)
            taken = [self._here.popleft() for _ in range(min(most, len(self._here)))]
            if self._error is not None and not taken:
                raise self._error
            return taken

    def _run(self) -> None:
        try:
            for one in self._source:
                with self._changed:
                    self.first = self.first or one
                    self._here.append(one)
                    self._changed.notify_all()
                    self._changed.wait_for(lambda: self._closed or len(self._here) < self._wanted)
                    if self._closed:
                        return
        except BaseException as error:  # it is raised again, in the thread that takes
            self._error = error
        finally:
            with self._changed:
                self._exhausted = True
                self._changed.notify_all()
