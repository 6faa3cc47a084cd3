"""Whether something that works was heard of lately: the one rule for leases, heartbeats and the like."""

from __future__ import annotations

from datetime import datetime, timedelta

# By so much the clocks of machines may differ.
CLOCKS_DIFFER = timedelta(seconds=5)


def lately(at: datetime, length: timedelta) -> tuple[datetime, datetime]:
    """Return between which moments lies what is at most so long ago.

    A moment that is still to come was noted before the clock went back: nobody knows how long ago that is.
    """
    return at - length, at + CLOCKS_DIFFER


def heard_of(*moments: datetime | None, at: datetime, patience: timedelta) -> bool:
    """Whether one of these signs of life was given lately."""
    first, last = lately(at, patience)
    return any(first <= moment <= last for moment in moments if moment is not None)
