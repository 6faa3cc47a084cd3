"""Standard errors and intervals from what each item adds to an estimate's deviation (its influence, φ).

Independent items: √Σφ². Items in topics, which are not independent: √(C/(C−1) Σ_c (Σ_{i∈c} φ_i − mean)²) with C topics.
Influences have the shape (items,) and sum to about 0; `topics` numbers the topic of each item, None where items are
independent.

Sources: Huber, The behavior of maximum likelihood estimates under nonstandard conditions (1967); for topics Liang and
Zeger, Longitudinal data analysis using generalized linear models (1986).
"""

from __future__ import annotations

import numpy as np

from stats.intervals import SHARE, UNBOUNDED, Estimate, Range, Sample, interval
from stats.ratings import BoolArray, FloatArray, IntArray


def standard_error(influence: FloatArray, topics: IntArray | None, *, labelled: BoolArray | None = None) -> float:
    """Return the standard error; 0 for a single topic.

    `labelled` says which items people labelled, where an estimate rests on labels: topics with labels and topics
    without are two strata, for five labelled topics among fifty have the spread of five.
    """
    if topics is None:
        return float(np.sqrt(influence @ influence))
    return float(np.sqrt(covariance(influence[:, None], topics, labelled=labelled)[0, 0]))


def covariance(influences: FloatArray, topics: IntArray | None, *, labelled: BoolArray | None = None) -> FloatArray:
    """Return the covariances of several estimates, shape (estimates, estimates), from shape (items, estimates)."""
    if topics is None:
        return influences.T @ influences
    _, places = np.unique(topics, return_inverse=True)
    sums = np.stack([np.bincount(places, weights=column) for column in influences.T], axis=1)
    has_labels = np.ones(len(sums), dtype=bool) if labelled is None else labelled_topics(topics, labelled)
    found = np.zeros((influences.shape[1],) * 2)
    for kind in (has_labels, ~has_labels):
        if (n := int(kind.sum())) > 1:
            apart = sums[kind] - sums[kind].mean(axis=0)
            found += n / (n - 1) * apart.T @ apart
    return found


def labelled_topics(topics: IntArray, labelled: BoolArray) -> BoolArray:
    """Return which topics, in the order of their numbers, have labels."""
    numbers, places = np.unique(topics, return_inverse=True)
    return np.asarray(np.bincount(places, weights=labelled, minlength=len(numbers)) > 0)


def t_interval(
    value: float,
    influence: FloatArray,
    topics: IntArray | None,
    *,
    freedom: int,
    within: Range = UNBOUNDED,
    n: int | None = None,
    unit: str = "items",
) -> Estimate:
    """Return the interval with so many degrees of freedom, with topics at most their number − 1.

    `n` counts the items that the value rests on, by default `freedom` + 1; `within` is what values it can take.
    """
    sample = _sample(topics, freedom, freedom + 1 if n is None else n, unit)
    return interval(value, standard_error(influence, topics), sample, within=within)


def share_interval(
    value: float,
    influence: FloatArray,
    topics: IntArray | None,
    *,
    freedom: int,
    like: float,
    n: int,
    unit: str = "items",
) -> Estimate:
    """Return Wilson's interval for a share, with the number of independent items that would have its standard error.

    That number comes from `like`, a share of the same size that cannot leave 0…1, and is `n` where that is 0 or 1.
    """
    error, sample = standard_error(influence, topics), _sample(topics, freedom, n, unit)
    return interval(min(max(value, 0.0), 1.0), error, sample, within=SHARE, spread=like * (1 - like), n=n)


def _sample(topics: IntArray | None, freedom: int, n: int, unit: str) -> Sample:
    n_topics = None if topics is None else len(np.unique(topics))
    effective = freedom + 1 if n_topics is None else min(freedom + 1, n_topics)
    return Sample(n_topics, n, effective, unit)


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
