"""How many prompts to send in one request: more while answers come fast, fewer when they take long."""

from __future__ import annotations

import threading

FAST_SECONDS = 1.0
SLOW_SECONDS = 4.0


class RequestSize:
    """Begins with one prompt and doubles. A request that takes long would be lost as a whole, and delays a stop."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.size = 1
        self._lock = threading.Lock()

    def learn(self, size: int, seconds: float) -> None:
        """Take in that a request of so many prompts took so long."""
        if seconds > SLOW_SECONDS:
            self.slow_down(size)
        elif seconds < FAST_SECONDS:
            with self._lock:
                if size >= self.size:
                    self.size = min(self.most, self.size * 2)

    def slow_down(self, size: int) -> None:
        """Take in that so many prompts were too many."""
        with self._lock:
            self.size = max(1, min(self.size, size // 2))
