"""When a study will be done: a range of days, by drawing its future from the days that it had.

The stationary bootstrap of days (Politis and Romano, The stationary bootstrap, 1994), under weights of the days that
are uncertain themselves (Rubin, The Bayesian bootstrap, 1981), so that few days make a wide range. A drawn day is one
day of all assessors together: who works on the same days goes on doing so. Nobody gives more than is left for them, so
where only the slow have work left, they decide when it ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# Fewer days, or days with work among them, say too little; nor is more foreseen than so many times the days seen.
FEWEST_DAYS = 14
FEWEST_ACTIVE_DAYS = 4
FARTHEST = 4
# Who did nothing in the last of the days is taken to have stopped; and where all together did less than this share of
# their usual pace, the days before are no guide.
LATELY = 7
SLOWER = 0.7
# A run of days that are drawn together is so long on average: people work some days in a row.
RUN = 4
DRAWS = 2_000
SEED = 1994
# The quantiles that the range is made of. They are wide so that it holds in 80 % and more of simulated studies of
# steady and unsteady work: docs/studies.md has the figures.
LOW, HIGH = 0.01, 0.99


@dataclass(frozen=True)
class Completion:
    """In how many days from now the work ends: in nearly all drawn futures between `low` and `high`, half by `middle`.

    It rests on `n_days`. Without a range `reason` says why there is none.
    """

    low: float | None = None
    high: float | None = None
    middle: float | None = None
    n_days: int = 0
    reason: str = ""


def forecast_completion(by_day: npt.ArrayLike, *, left: int, left_for_each: npt.ArrayLike) -> Completion:
    """Foresee when `left` tasks are done, if people go on as they did.

    `by_day`: how many tasks each assessor submitted, shape (days, assessors), the last day the newest; `left_for_each`,
    shape (assessors,): how many of those left each may still do.
    """
    days = np.asarray(by_day, dtype=np.int64)
    most = np.asarray(left_for_each, dtype=np.int64)
    n_days = len(days)
    if left <= 0:
        return Completion(0.0, 0.0, 0.0, n_days)
    n_active = int((days.sum(axis=1) > 0).sum()) if n_days else 0
    if n_days < FEWEST_DAYS or n_active < FEWEST_ACTIVE_DAYS:
        return Completion(
            n_days=n_days,
            reason=f"a forecast takes {FEWEST_DAYS} days, and work on {FEWEST_ACTIVE_DAYS} of them",
        )
    lately = days[-LATELY:]
    if lately.sum() * n_days < SLOWER * days.sum() * len(lately):
        return Completion(n_days=n_days, reason=f"people did much less in the last {LATELY} days than before")
    days = days * (lately.sum(axis=0) > 0)
    if most[days.sum(axis=0) > 0].sum() < left:
        return Completion(n_days=n_days, reason="those who work on it have too few tasks left to finish it")
    ends = _drawn_ends(days, left, most, horizon=FARTHEST * n_days)
    low, middle, high = np.quantile(ends, [LOW, 0.5, HIGH], method="inverted_cdf")
    if not np.isfinite(high):
        return Completion(n_days=n_days, reason="at the pace so far it takes too long to say when")
    return Completion(float(low), float(high), float(middle), n_days)


def _drawn_ends(
    days: npt.NDArray[np.int64], left: int, most: npt.NDArray[np.int64], *, horizon: int
) -> npt.NDArray[np.float64]:
    """Return for each drawn future the day on which nothing is left, with its part of the last day; or infinity."""
    rng = np.random.default_rng(SEED)
    n_days = len(days)
    bounds = np.cumsum(rng.dirichlet(np.full(n_days, 1 / RUN), size=DRAWS), axis=1)
    bounds[:, -1] = 1.0

    def day_by_weight() -> npt.NDArray[np.int64]:
        found: npt.NDArray[np.int64] = (bounds < rng.random((DRAWS, 1))).sum(axis=1)
        return found

    place = day_by_weight()
    given = np.zeros((DRAWS, days.shape[1]), dtype=np.int64)
    done = np.zeros(DRAWS, dtype=np.int64)
    ends = np.full(DRAWS, np.inf)
    for day in range(horizon):
        given = np.minimum(given + days[place], most)
        total = given.sum(axis=1)
        ended = np.isinf(ends) & (total >= left)
        ends[ended] = day + (left - done[ended]) / (total - done)[ended]
        if np.isfinite(ends).all():
            break
        done = total
        place = np.where(rng.random(DRAWS) < 1 / RUN, day_by_weight(), (place + 1) % n_days)
    return ends
