"""Replies on their way into the tables, while the worker goes on with what comes next.

A database server takes about as long to write a batch as a worker takes to read the items of the next one and
to fill their prompts, and its driver waits without holding the interpreter up: so the two are done at once.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from typing import Any

from django.db import connection, connections

from judging.grading.completions import ReadReply

Batch = list[ReadReply]


class Storing:
    """Writes batches, one at a time and in order, in a thread and on a connection of its own."""

    def __init__(self, write: Callable[[Batch], object]) -> None:
        self._write = write
        self._thread: Executor = InThisThread() if _must_stay_here() else ThreadPoolExecutor(1, "storing")
        self._batch: Batch = []
        self._written: Future[object] | None = None

    def __enter__(self) -> Storing:
        return self

    def __exit__(self, *_: object) -> None:
        if isinstance(self._thread, ThreadPoolExecutor):
            self._thread.submit(connections.close_all)
        self._thread.shutdown()

    @property
    def under_way(self) -> bool:
        """Whether a batch was begun that nobody took back."""
        return self._written is not None

    def begin(self, batch: Batch) -> None:
        """Begin to write the batch. The one before was taken back."""
        assert not self.under_way
        self._batch, self._written = batch, self._thread.submit(self._write, batch)

    def written_within(self, seconds: float) -> bool:
        """Whether a batch is under way and is written, or was tried, at most so many seconds from now."""
        return self._written is not None and bool(wait([self._written], seconds).done)

    def take_back(self) -> tuple[Batch, BaseException | None]:
        """Wait for the batch under way, and return it with what went wrong. No batch, if none is under way."""
        if self._written is None:
            return [], None
        error = self._written.exception()
        batch, self._batch, self._written = self._batch, [], None
        return batch, error


class InThisThread(Executor):
    """Calls at once what is submitted."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def _must_stay_here() -> bool:
    """Whether this thread has to write itself.

    In a transaction of the caller's, another connection would not see its rows, and would wait for its locks for
    ever. On SQLite the work is ours, not a server's: a second thread would only take turns with the first.
    """
    return connection.in_atomic_block or connection.vendor == "sqlite"
