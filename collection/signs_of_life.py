"""Whether something that works was heard of lately: the one rule for leases, heartbeats and the like."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType

# By so much the clocks of machines may differ.
CLOCKS_DIFFER = timedelta(seconds=5)
BEAT_SECONDS = 1.0
# A worker that says nothing for so long is gone; one that never began may have much before it.
PATIENCE = timedelta(seconds=10)
LONG_PATIENCE = timedelta(seconds=60)


def lately(at: datetime, length: timedelta) -> tuple[datetime, datetime]:
    """Return between which moments lies what is at most so long ago.

    A moment that is still to come was noted before the clock went back: nobody knows how long ago that is.
    """
    return at - length, at + CLOCKS_DIFFER


def heard_of(*moments: datetime | None, at: datetime, patience: timedelta) -> bool:
    """Whether one of these signs of life was given lately."""
    first, last = lately(at, patience)
    return any(first <= moment <= last for moment in moments if moment is not None)


class Beat:
    """Says, in a file, that a worker is at something and how many bytes of it were read.

    A row would not do: while an import is running, SQLite lets nobody else write.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.read = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_saying, name="beat", daemon=True)

    def advance(self, read: int) -> None:
        self.read += read

    def bytes_read(self) -> int | None:
        """Return how far the worker has read; None: none has begun."""
        try:
            return int(self.path.read_text() or 0)
        except FileNotFoundError:
            return None

    def last_sign(self) -> datetime | None:
        """Return when the worker was last heard of."""
        try:
            return datetime.fromtimestamp(self.path.stat().st_mtime).astimezone()
        except FileNotFoundError:
            return None

    def __enter__(self) -> Beat:
        self.path.write_text("0")
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        self.path.unlink(missing_ok=True)

    def _keep_saying(self) -> None:
        while not self._over.wait(BEAT_SECONDS):
            self.path.write_text(str(self.read))
