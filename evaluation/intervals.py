"""Intervals from patterns: the bootstrap over items, over topics where there are any, and the jackknife.

Drawing n items with replacement and counting their patterns is drawing once from a multinomial
distribution over the patterns, so a replicate costs as much as there are patterns, whatever n.
Labels within a topic are not independent: where items belong to topics, topics are drawn.

Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993): percentile intervals, chapter
13; BCa, chapter 14; jackknife standard error, chapter 11.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from evaluation.ratings import CountPatterns, FloatArray, PairPatterns

REPLICATES = 1_000
SEED = 1971
CELLS_AT_ONCE = 4_000_000
# With fewer units than this BCa's corrections are noise, and plain percentiles are taken.
FEWEST_UNITS_FOR_BCA = 20
# A jackknife over more units than this costs more than it tells.
MOST_UNITS = 5_000

Statistic = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval and standard error, or the reason why there is none.

    `low`, `high` and `se` are None where a value exists but nothing can be said of its spread.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return `{"value", "low", "high"}`, or `{"value": None, "reason"}`."""
        if self.value is None:
            return {"value": None, "reason": self.reason}
        return {"value": self.value, "low": self.low, "high": self.high}


def undefined(reason: str) -> Estimate:
    """Return the estimate that is none, and why."""
    return Estimate(None, reason=reason)


def resamples(
    patterns: CountPatterns | PairPatterns, *, replicates: int = REPLICATES, seed: int = SEED
) -> Iterator[FloatArray]:
    """Yield bootstrap frequencies in blocks, each of shape (some replicates, patterns).

    The same patterns and seed give the same draws.
    """
    rng = np.random.default_rng(seed)
    n_patterns = len(patterns.frequencies)
    n_units = n_patterns if patterns.by_topic is None else patterns.by_topic.shape[0]
    block = max(1, CELLS_AT_ONCE // max(n_patterns, n_units))
    for start in range(0, replicates, block):
        size = min(block, replicates - start)
        if patterns.by_topic is None:
            n = int(patterns.frequencies.sum())
            yield rng.multinomial(n, patterns.frequencies / n, size=size).astype(np.float64)
        else:
            topics = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=size)
            yield topics.astype(np.float64) @ patterns.by_topic


def estimate(
    statistics: Mapping[str, Statistic],
    patterns: CountPatterns | PairPatterns,
    *,
    values: Mapping[str, float] | None = None,
    replicates: int = REPLICATES,
    seed: int = SEED,
) -> dict[str, Estimate]:
    """Estimate several statistics over the same draws.

    A statistic maps frequencies of shape (replicates, patterns) to values of shape (replicates,), NaN
    where it is undefined. `values` are point values from elsewhere, taken in place of our own.
    """
    observed = {
        name: (values or {}).get(name, float(statistic(patterns.frequencies[None, :])[0]))
        for name, statistic in statistics.items()
    }
    if number_of_units(patterns) < 2:
        return {name: Estimate(value) for name, value in observed.items()}
    draws: dict[str, list[FloatArray]] = {name: [] for name in statistics}
    for frequencies in resamples(patterns, replicates=replicates, seed=seed):
        for name, statistic in statistics.items():
            draws[name].append(statistic(frequencies))
    jackknifed = jackknife(statistics, patterns)
    corrected = number_of_units(patterns) >= FEWEST_UNITS_FOR_BCA
    return {
        name: _interval(value, np.concatenate(draws[name]), jackknifed.get(name), corrected=corrected)
        for name, value in observed.items()
    }


def number_of_units(patterns: CountPatterns | PairPatterns) -> int:
    """Return how many items, or topics where there are any, a resample draws."""
    return int(patterns.frequencies.sum() if patterns.by_topic is None else patterns.by_topic.shape[0])


@dataclass(frozen=True)
class LeftOneOut:
    """A statistic with each unit left out in turn: `values`, and how many units each stands for."""

    values: FloatArray
    times: FloatArray

    @property
    def se(self) -> float | None:
        """The jackknife standard error; None where a value is undefined."""
        n = self.times.sum()
        if n < 2 or not np.isfinite(self.values).all():
            return None
        deviations = self.values - (self.times @ self.values) / n
        return float(np.sqrt((n - 1) / n * (self.times @ deviations**2)))

    @property
    def acceleration(self) -> float:
        """How fast the spread grows with the value, for BCa; 0 where it cannot be told."""
        if not np.isfinite(self.values).all():
            return 0.0
        deviations = (self.times @ self.values) / self.times.sum() - self.values
        spread = (self.times @ deviations**2) ** 1.5
        return float(self.times @ deviations**3 / (6 * spread)) if spread > 0 else 0.0


def jackknife(statistics: Mapping[str, Statistic], patterns: CountPatterns | PairPatterns) -> dict[str, LeftOneOut]:
    """Leave each item out in turn, or each topic; items of one pattern are left out once, for all of them."""
    frequencies = patterns.frequencies
    if patterns.by_topic is None:
        units, times = np.eye(len(frequencies)), frequencies
    else:
        units = patterns.by_topic if isinstance(patterns.by_topic, np.ndarray) else patterns.by_topic.toarray()
        times = np.ones(len(units))
    if len(units) > MOST_UNITS:
        return {}
    left = frequencies - units
    return {name: LeftOneOut(statistic(left), times) for name, statistic in statistics.items()}


def _interval(value: float, draws: FloatArray, left_out: LeftOneOut | None, *, corrected: bool) -> Estimate:
    """The interval of the draws (BCa if corrected, else percentiles), widened to hold the value if need be."""
    se = None if left_out is None else left_out.se
    defined = draws[np.isfinite(draws)]
    if len(defined) < len(draws) / 2:
        return Estimate(value, se=se)
    levels = (0.025, 0.975)
    if corrected:
        levels = (
            bca_levels(value, defined, 0.0)
            if left_out is None
            else bca_levels(value, defined, left_out.acceleration, n_units=float(left_out.times.sum()))
        )
    low, high = np.quantile(defined, levels)
    return Estimate(value, min(float(low), value), max(float(high), value), se)


def bca_levels(
    value: float, draws: FloatArray, acceleration: float, *, n_units: float = math.inf
) -> tuple[float, float]:
    """Return which quantiles of the draws bound the 95 % BCa interval. Without skew, from many units: .025 and .975.

    Of few units drawn the quantiles lie further out, for the bootstrap's spread is too narrow by
    √((n−1)/n) and its tails are the normal's: the expanded percentiles of Hesterberg (2015), What
    Teachers Should Know About the Bootstrap, The American Statistician 69(4).
    """
    normal = NormalDist()
    reach = normal.inv_cdf(0.975)
    if math.isfinite(n_units):
        from scipy.special import stdtrit  # where needed: a web process that serves assessors stays lean

        reach = math.sqrt(n_units / (n_units - 1)) * float(stdtrit(n_units - 1, 0.975))
    below = float(((draws < value).mean() + (draws <= value).mean()) / 2)
    shift = normal.inv_cdf(min(max(below, 1 / len(draws)), 1 - 1 / len(draws)))
    levels = []
    for z in (-reach, reach):
        slope = 1 - acceleration * (shift + z)
        levels.append(normal.cdf(shift + (shift + z) / slope) if slope > 0 else normal.cdf(z))
    return levels[0], levels[1]
