"""How far two ways of scoring put the systems in the same order.

Scores are interval or ratio, higher is better, of the shape (systems,). Correlations are in −1…1 and undefined, with
the reason, for fewer than four systems and where all systems score the same. Scores that are equal but for their last
bit are ties (`rounding`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from stats.intervals import NO_ERROR, SAME_IN_RESAMPLES, Sample, resampled_levels
from stats.pattern_intervals import REPLICATES, SEED, Estimate, undefined
from stats.plurals import counted
from stats.ranking.bootstrap_correlations import kendall_rows, pearson_rows, spearman_rows, tau_ap_rows
from stats.ranking.common_topics import on_common_topics
from stats.ratings import FloatArray
from stats.rounding import rounded

if TYPE_CHECKING:
    import pandas as pd

FEWEST_SYSTEMS = 4
# More replicates than this without a value, and the interval would describe the others only.
MOST_UNDEFINED = 0.05

Correlation = Literal["spearman", "kendall", "tau_ap", "pearson"]
Scores = Sequence[float] | FloatArray


def spearman(reference: Scores, other: Scores) -> Estimate:
    """Return Spearman's ρ; ties share their mean rank. As scipy.stats.spearmanr."""
    return _estimate("spearman", reference, other)


def kendall(reference: Scores, other: Scores) -> Estimate:
    """Return Kendall's τ_b, which corrects for ties on either side. As scipy.stats.kendalltau."""
    return _estimate("kendall", reference, other)


def tau_ap(reference: Scores, other: Scores) -> Estimate:
    """Return τ_AP of the order by `other`, judged by `reference`: errors at the top weigh more. Not symmetric.

    Source: Yilmaz, Aslam and Robertson, A New Rank Correlation Coefficient for Information Retrieval (SIGIR 2008).
    Ties: the mean over all ways of breaking them on both sides, which for ties in `other` is the τ_AP,a of Urbano and
    Marrero, The Treatment of Ties in AP Correlation (ICTIR 2017).
    """
    return _estimate("tau_ap", reference, other)


def pearson(reference: Scores, other: Scores) -> Estimate:
    """Return Pearson's r of the scores themselves. As scipy.stats.pearsonr."""
    return _estimate("pearson", reference, other)


def bootstrap_over_topics(
    reference: pd.DataFrame,
    other: pd.DataFrame,
    *,
    correlation: Correlation = "kendall",
    top_k: int | None = None,
    replicates: int = REPLICATES,
    seed: int = SEED,
) -> Estimate:
    """Return the correlation of two leaderboards with the middle 95 % of its values over resampled topics.

    Tables of the shape systems × topics hold one measure each, NaN where it is undefined; they are compared on the
    topics and systems that both score. The same topics are drawn for both. `top_k` compares the systems that are best
    by the reference and any that tie with the k-th, anew in each replicate. A replicate without a correlation is left
    out; more than 5 % of them, or fewer topics than an interval takes, and there is no range. Of few topics it is wider
    than 95 % of the values. The range is no confidence interval: docs/measures.md, docs/calibration.md.
    """
    [found] = several_over_topics(reference, other, [(correlation, top_k)], replicates=replicates, seed=seed)
    return found


def several_over_topics(
    reference: pd.DataFrame,
    other: pd.DataFrame,
    asked: Sequence[tuple[Correlation, int | None]],
    *,
    replicates: int = REPLICATES,
    seed: int = SEED,
) -> list[Estimate]:
    """Return several correlations of the same two leaderboards, each as `bootstrap_over_topics` does.

    `asked`: each with its `top_k`. All are of the same replicates, which are drawn once.
    """
    first, second = on_common_topics({"reference": reference, "other": other}).values()
    systems, n_topics = first.index.intersection(second.index), len(first.columns)
    tables = tuple(_array(table.loc[systems]) for table in (first, second))
    if not n_topics:
        return [undefined("There is no topic on which both score the systems.")] * len(asked)
    x, y = (mean_scores(table, np.ones((1, n_topics)))[0] for table in tables)
    points, sample = [_of(correlation, x, y, top_k) for correlation, top_k in asked], Sample(n_topics=n_topics)
    if sample.reason or all(point.value is None for point in points):
        return [replace(point, reason=point.reason or sample.reason, sample=sample) for point in points]
    weights = topic_weights(n_topics, replicates, seed)
    drawn = mean_scores(tables[0], weights), mean_scores(tables[1], weights)
    return [
        with_range(point, _resampled(correlation, *drawn, top_k), replicates, sample)
        if point.value is not None
        else replace(point, sample=sample)
        for point, (correlation, top_k) in zip(points, asked, strict=True)
    ]


def with_range(point: Estimate, values: FloatArray, replicates: int, sample: Sample) -> Estimate:
    """Return the correlation with the middle of those of its replicates."""
    if len(values) < (1 - MOST_UNDEFINED) * replicates:
        return replace(point, reason="too many resamples of its topics have no correlation", sample=sample)
    low, high = np.quantile(values, resampled_levels(sample.n_drawn))
    if high - low < NO_ERROR:
        return replace(point, reason=SAME_IN_RESAMPLES, sample=sample)
    return replace(point, low=float(low), high=float(high), sample=sample, resampled=True)


def _resampled(correlation: Correlation, x: FloatArray, y: FloatArray, top_k: int | None) -> FloatArray:
    """Return the correlations of the replicates (replicates × systems) that have one."""
    counted = np.ones(x.shape, dtype=bool)
    if top_k is not None:
        counted = x >= np.sort(x, axis=1)[:, [-min(top_k, x.shape[1])]]
    enough = counted.sum(axis=1) >= FEWEST_SYSTEMS
    found = RESAMPLED[correlation](x[enough], y[enough], counted[enough])
    return np.asarray(np.clip(found[~np.isnan(found)], -1.0, 1.0))


@lru_cache(maxsize=4)
def topic_weights(n_topics: int, replicates: int = REPLICATES, seed: int = SEED) -> FloatArray:
    """Return how often each topic is drawn with replacement, replicates × topics: the same draws for every source."""
    drawn = np.random.default_rng(seed).multinomial(n_topics, np.full(n_topics, 1 / n_topics), replicates)
    weights = drawn.astype(np.float64)
    weights.flags.writeable = False
    return weights


def mean_scores(table: FloatArray, weights: FloatArray) -> FloatArray:
    """Return systems' means over weighted topics, rounded so that ties are ties, of the shape replicates × systems.

    `table` has the shape systems × topics without NaN, `weights` replicates × topics.
    """
    return rounded(weights @ table.T / weights.sum(axis=1, keepdims=True))


def _array(table: pd.DataFrame) -> FloatArray:
    return table.to_numpy(dtype=np.float64)


def correlation_of(correlation: Correlation, x: Scores, y: Scores, *, top_k: int | None = None) -> Estimate:
    """Return the correlation of two score vectors, of the systems best by `x` alone where `top_k` says how many."""
    return _of(correlation, np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64), top_k)


def _of(correlation: Correlation, x: FloatArray, y: FloatArray, top_k: int | None) -> Estimate:
    x, y = _paired(x, y)
    if top_k is not None:
        x, y = _top(x, y, top_k)
    return _estimate(correlation, x, y)


def _top(x: FloatArray, y: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}.")
    chosen = np.flatnonzero(x >= np.sort(x)[-min(k, len(x))]) if len(x) else np.empty(0, dtype=np.int64)
    return x[chosen], y[chosen]


def _paired(reference: Scores, other: Scores) -> tuple[FloatArray, FloatArray]:
    """Return both as arrays without the systems that lack a score on either side, rounded so that ties are ties."""
    x, y = rounded(reference), rounded(other)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"Each system needs one score on either side; the shapes are {x.shape} and {y.shape}.")
    both = ~(np.isnan(x) | np.isnan(y))
    return x[both], y[both]


def _estimate(correlation: Correlation, reference: Scores, other: Scores) -> Estimate:
    x, y = _paired(reference, other)
    if len(x) < FEWEST_SYSTEMS:
        return undefined(
            f"A correlation of {counted(len(x), 'systems')} says nothing; at least {FEWEST_SYSTEMS} are needed."
        )
    if (x == x[0]).all() or (y == y[0]).all():
        return undefined("All systems have the same score on one side.")
    [value] = RESAMPLED[correlation](x[None], y[None], np.ones((1, len(x)), dtype=bool)).tolist()
    return Estimate(min(max(value, -1.0), 1.0))


RESAMPLED = {"spearman": spearman_rows, "kendall": kendall_rows, "tau_ap": tau_ap_rows, "pearson": pearson_rows}
