"""When simulated studies show that a promise is broken, and how many of them are drawn.

An interval promises to hold the truth in 93 to 97 of 100 studies, or in 93 at least. It is broken where one that keeps
its promise would hold it as rarely, or as often, in less than one of 200 simulations of this size (exact binomial).
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor

LEAST, MOST = 0.93, 0.97
CHANCE = 0.005


def broken(held: int, n: int, *, least: float = LEAST, most: float = MOST) -> bool:
    """Tell whether intervals that held the truth in so many of n studies hold it less or more often than promised."""
    from scipy.stats import binom

    if not n:
        return False
    return bool(binom.cdf(held, n, least) < CHANCE or binom.sf(held - 1, n, most) < CHANCE)


def processes() -> ProcessPoolExecutor:
    """Return as many processes as there are processors that this one may use."""
    return ProcessPoolExecutor(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
