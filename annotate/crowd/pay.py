"""What an hour of work brought, in numbers alone: no Django here.

Times are in seconds and greater than 0, money in one currency. Nothing is estimated for people whose time
is not known: they are left out by the caller, who counts them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from itertools import pairwise
from math import comb
from statistics import median

FEWEST_FOR_AN_INTERVAL = 5
CONFIDENCE = 0.95
CENT = Decimal("0.01")
# A pause counts as no longer than this.
LONGEST_PAUSE = timedelta(minutes=30)


@dataclass(frozen=True)
class MedianInterval:
    """A median with the order statistics around it. `coverage` is the probability that they hold the true one."""

    median: float
    low: float | None = None
    high: float | None = None
    coverage: float | None = None


@dataclass(frozen=True)
class Elapsed:
    """How long a session lasted; `capped`: some of its pauses were longer than what they count as."""

    seconds: float
    capped: bool


def elapsed_time(began: datetime, ended: datetime, heard: Iterable[datetime]) -> Elapsed:
    """Return the time between these two, where `heard` says when the person did something.

    The times between one sign of them and the next are summed, each as `LONGEST_PAUSE` at most.
    """
    signs = [began, *sorted(at for at in heard if began < at < ended), ended]
    pauses = [after - before for before, after in pairwise(signs)]
    counted = sum((min(pause, LONGEST_PAUSE) for pause in pauses), timedelta())
    return Elapsed(counted.total_seconds(), capped=max(pauses) > LONGEST_PAUSE)


def hourly_pay(paid: Decimal, seconds: float) -> float:
    """Return what was paid for an hour."""
    return float(paid) * 3600 / seconds


def top_up(*, paid: Decimal, seconds: float, floor: Decimal) -> Decimal:
    """Return what lacks to `floor` an hour, rounded up to the cent; 0 where nothing lacks."""
    owed = floor * Decimal(str(seconds)) / 3600 - paid
    return max(Decimal("0.00"), owed.quantize(CENT, rounding=ROUND_CEILING))


def median_with_interval(values: Sequence[float]) -> MedianInterval | None:
    """Return the median, from five values on with a distribution-free interval; None for no values.

    The interval is the narrowest symmetric pair of order statistics x(k), x(n+1-k) whose coverage, 1 - 2
    P(Bin(n, 1/2) < k), is at least 95 %; where even the extremes (k = 1) cover less, as for n = 5 with 93.75 %,
    it is the extremes. Source: H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed. (2003), section 7.1.
    """
    if not values:
        return None
    ordered = sorted(values)
    n = len(ordered)
    if n < FEWEST_FOR_AN_INTERVAL:
        return MedianInterval(median(ordered))
    k = max((k for k in range(1, (n + 1) // 2 + 1) if coverage_of(n, k) >= CONFIDENCE), default=1)
    return MedianInterval(median(ordered), ordered[k - 1], ordered[n - k], coverage_of(n, k))


def coverage_of(n: int, k: int) -> float:
    """Return the probability that the k-th smallest and the k-th largest of n hold the median between them."""
    return 1 - 2 * sum(comb(n, i) for i in range(k)) / float(2**n)
