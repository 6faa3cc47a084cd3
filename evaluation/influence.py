"""Standard errors and intervals from what each item adds to an estimate's deviation (its influence, φ).

Independent items: √Σφ². Items in topics, which are not independent: √(C/(C−1) Σ_c (Σ_{i∈c} φ_i − mean)²) with C topics.
Influences have the shape (items,) and sum to about 0; `topics` numbers the topic of each item, None where items are
independent.

Sources: Huber, The behavior of maximum likelihood estimates under nonstandard conditions (1967); for topics Liang and
Zeger, Longitudinal data analysis using generalized linear models (1986).
"""

from __future__ import annotations

import numpy as np

from evaluation.intervals import Estimate
from evaluation.ratings import FloatArray, IntArray

ONE_ITEM = "one item only, which has no spread"
ONE_TOPIC = "one topic only, which has no spread"


def standard_error(influence: FloatArray, topics: IntArray | None) -> float:
    """Return the standard error; 0 for a single topic."""
    if topics is None:
        return float(np.sqrt(influence @ influence))
    _, parts = sums_by_topic(influence, topics)
    if len(parts) < 2:
        return 0.0
    return float(np.sqrt(len(parts) / (len(parts) - 1) * ((parts - parts.mean()) ** 2).sum()))


def sums_by_topic(influence: FloatArray, topics: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the topics' numbers and the sum of influences of each, shape (topics,)."""
    numbers, places = np.unique(topics, return_inverse=True)
    return numbers.astype(np.int64), np.bincount(places, weights=influence).astype(np.float64)


def t_interval(value: float, influence: FloatArray, topics: IntArray | None, *, freedom: int) -> Estimate:
    """Return the t-interval with so many degrees of freedom, with topics at most their number − 1."""
    freedom, reason = _freedom(topics, freedom)
    if freedom < 1:
        return Estimate(value, reason=reason)
    error = standard_error(influence, topics)
    half = _quantile(freedom) * error
    return Estimate(value, value - half, value + half, error)


def share_interval(
    value: float, influence: FloatArray, topics: IntArray | None, *, freedom: int, like: float, n: int
) -> Estimate:
    """Return Wilson's interval for a share, with the number of independent items that would have its standard error.

    That number comes from `like`, a share of the same size that cannot leave 0…1, and is `n` where that is 0 or 1. A
    t-interval is too short for small shares: its middle lies too near to 0. Sources: Wilson, Probable inference (1927);
    for other designs than simple ones Kott, A note on Wilson coverage intervals for proportions estimated from complex
    samples (2017).
    """
    value = float(np.clip(value, 0, 1))
    freedom, reason = _freedom(topics, freedom)
    if freedom < 1:
        return Estimate(value, reason=reason)
    error, quantile = standard_error(influence, topics), _quantile(freedom)
    spread = like * (1 - like)
    stretch = quantile**2 / (spread / error**2 if spread > 0 and error > 0 else n)
    centre = (value + stretch / 2) / (1 + stretch)
    half = float(np.hypot(quantile * error, stretch / 2)) / (1 + stretch)
    return Estimate(value, min(value, max(centre - half, 0.0)), max(value, min(centre + half, 1.0)), error)


def _freedom(topics: IntArray | None, freedom: int) -> tuple[int, str]:
    return (freedom, ONE_ITEM) if topics is None else (min(freedom, len(np.unique(topics)) - 1), ONE_TOPIC)


def _quantile(freedom: int) -> float:
    from scipy.stats import t

    return float(t.ppf(0.975, freedom))


def unbiased(n: int) -> float:
    """By what a standard deviation over n is multiplied to be one over n − 1."""
    return float(np.sqrt(n / (n - 1))) if n > 1 else 1.0


def left_out(weights: FloatArray) -> FloatArray:
    """Return by how much a weighted mean moves with each item's deviation if the item is left out.

    `weights` sum to 1 over the items of a mean; the move is w/(1 − w), so that an item which draws the mean to itself
    does not hide its spread. Source: the HC3 of MacKinnon and White, Some heteroskedasticity-consistent covariance
    matrix estimators with improved finite sample properties (1985).
    """
    return np.asarray(weights / np.maximum(1 - weights, np.finfo(float).eps))
