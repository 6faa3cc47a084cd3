"""How far two ways of scoring put the systems in the same order.

Scores are interval or ratio, higher is better, of the shape (systems,). Correlations are in −1…1 and undefined, with
the reason, for fewer than four systems and where all systems score the same. Scores are compared as they are: round
them first where a printed leaderboard's ties are meant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from scipy import stats

from evaluation.intervals import REPLICATES, SEED, Estimate, undefined
from evaluation.ratings import FloatArray
from evaluation.resampled_correlations import kendall_rows, spearman_rows, tau_ap_rows

FEWEST_SYSTEMS = 4
# More replicates than this without a value, and the interval would describe the others only.
MOST_UNDEFINED = 0.05

Correlation = Literal["spearman", "kendall", "tau_ap"]
Scores = Sequence[float] | FloatArray


def spearman(reference: Scores, other: Scores) -> Estimate:
    """Return Spearman's ρ; ties share their mean rank. Source: scipy.stats.spearmanr."""
    return _estimate(_spearman, reference, other)


def kendall(reference: Scores, other: Scores) -> Estimate:
    """Return Kendall's τ_b, which corrects for ties on either side. Source: scipy.stats.kendalltau."""
    return _estimate(_kendall, reference, other)


def tau_ap(reference: Scores, other: Scores) -> Estimate:
    """Return τ_AP of the order by `other`, judged by `reference`: errors at the top weigh more. Not symmetric.

    Source: Yilmaz, Aslam and Robertson, A New Rank Correlation Coefficient for Information Retrieval (SIGIR 2008).
    Ties: the mean over all ways of breaking them on both sides, which for ties in `other` is the τ_AP,a of Urbano and
    Marrero, The Treatment of Ties in AP Correlation (ICTIR 2017).
    """
    return _estimate(_tau_ap, reference, other)


def top_k_kendall(reference: Scores, other: Scores, *, k: int) -> Estimate:
    """Return Kendall's τ_b among the k systems that are best by `reference`, and any that tie with the k-th."""
    x, y = _paired(reference, other)
    return kendall(*_top(x, y, k))


def _top(x: FloatArray, y: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    if k < 1:
        raise ValueError(f"The top {k} systems are none; k is at least 1.")
    chosen = np.flatnonzero(x >= np.sort(x)[-min(k, len(x))]) if len(x) else np.empty(0, dtype=np.int64)
    return x[chosen], y[chosen]


def bootstrap_over_topics(
    reference: pd.DataFrame,
    other: pd.DataFrame,
    *,
    correlation: Correlation = "kendall",
    top_k: int | None = None,
    replicates: int = REPLICATES,
    seed: int = SEED,
) -> Estimate:
    """Return the correlation of two leaderboards with its 95 % percentile interval from resampled topics.

    Tables of the shape systems × topics hold one measure each; only systems and topics of both count, and NaN (a
    topic where the measure is undefined) is left out of its system's mean. The same topics are drawn for both tables.
    `top_k` compares the systems that are best by the reference, anew in each replicate. A replicate without a
    correlation is left out; more than 5 % of them, and there is no interval.
    """
    systems = reference.index.intersection(other.index)
    topics = reference.columns.intersection(other.columns)
    tables = tuple(_array(table.loc[systems, topics]) for table in (reference, other))
    observed = tuple(mean_scores(table, np.ones((1, len(topics))))[0] for table in tables)
    point = _of(correlation, observed[0], observed[1], top_k)
    if point.value is None or len(topics) < 2:
        return point
    weights = np.random.default_rng(seed).multinomial(len(topics), np.full(len(topics), 1 / len(topics)), replicates)
    drawn = [mean_scores(table, weights.astype(np.float64)) for table in tables]
    values = _resampled(correlation, drawn[0], drawn[1], top_k)
    if len(values) < (1 - MOST_UNDEFINED) * replicates:
        return Estimate(point.value, reason="Too many bootstrap replicates have no correlation for an interval.")
    low, high = np.percentile(values, [2.5, 97.5])
    return Estimate(point.value, float(low), float(high), float(np.std(values, ddof=1)))


def _resampled(correlation: Correlation, x: FloatArray, y: FloatArray, top_k: int | None) -> FloatArray:
    """Return the correlations of the replicates (replicates × systems) that have one."""
    counted = ~(np.isnan(x) | np.isnan(y))
    if top_k is not None:
        known = np.where(counted, x, -np.inf)
        counted &= known >= np.sort(known, axis=1)[:, [-min(top_k, x.shape[1])]]
    enough = counted.sum(axis=1) >= FEWEST_SYSTEMS
    found = RESAMPLED[correlation](x[enough], y[enough], counted[enough])
    return np.asarray(np.clip(found[~np.isnan(found)], -1.0, 1.0))


def mean_scores(table: FloatArray, weights: FloatArray) -> FloatArray:
    """Return systems' means over weighted topics, of the shape replicates × systems.

    `table` has the shape systems × topics, `weights` replicates × topics. NaN where a system has no score at all.
    """
    known = ~np.isnan(table)
    totals = weights @ np.where(known, table, 0.0).T
    counts = weights @ known.T.astype(np.float64)
    return np.divide(totals, counts, out=np.full_like(totals, np.nan), where=counts > 0)


def _array(table: pd.DataFrame) -> FloatArray:
    return table.to_numpy(dtype=np.float64)


def _of(correlation: Correlation, x: FloatArray, y: FloatArray, top_k: int | None) -> Estimate:
    x, y = _paired(x, y)
    if top_k is not None:
        x, y = _top(x, y, top_k)
    return _estimate(_FUNCTIONS[correlation], x, y)


def _paired(reference: Scores, other: Scores) -> tuple[FloatArray, FloatArray]:
    """Return both as arrays without the systems that lack a score on either side."""
    x, y = np.asarray(reference, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"Each system has one score on either side; the shapes are {x.shape} and {y.shape}.")
    both = ~(np.isnan(x) | np.isnan(y))
    return x[both], y[both]


def _estimate(function: Callable[[FloatArray, FloatArray], float], reference: Scores, other: Scores) -> Estimate:
    x, y = _paired(reference, other)
    if len(x) < FEWEST_SYSTEMS:
        return undefined(f"A correlation of {len(x)} systems says nothing; at least {FEWEST_SYSTEMS} are needed.")
    if (x == x[0]).all() or (y == y[0]).all():
        return undefined("All systems score the same on one side.")
    return Estimate(function(x, y))


def _spearman(x: FloatArray, y: FloatArray) -> float:
    return float(stats.spearmanr(x, y).statistic)


def _kendall(x: FloatArray, y: FloatArray) -> float:
    return float(stats.kendalltau(x, y).statistic)


def _tau_ap(x: FloatArray, y: FloatArray) -> float:
    """Average, over the ranks by y from the second on, the expected share of those above that x puts above too.

    A system that ties with t − 1 others below a systems stands at ranks a + 1 to a + t equally often; of the systems
    above it that it ties with, half are right whichever way the tie is broken.
    """
    right = np.where(x[:, None] < x, 1.0, np.where(x[:, None] == x, 0.5, 0.0))
    above = y > y[:, None]
    n_above, n_tied = above.sum(axis=1), (y == y[:, None]).sum(axis=1)
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, len(x)))])
    inverse_ranks = harmonic[n_above + n_tied - 1] - harmonic[np.maximum(n_above - 1, 0)]
    within_tie = np.where(n_above > 0, n_tied - n_above * inverse_ranks, n_tied - 1) / 2
    shares = ((right * above).sum(axis=1) * inverse_ranks + within_tie) / n_tied
    return float(2 * shares.sum() / (len(x) - 1) - 1)


RESAMPLED = {"spearman": spearman_rows, "kendall": kendall_rows, "tau_ap": tau_ap_rows}
_FUNCTIONS: dict[Correlation, Callable[[FloatArray, FloatArray], float]] = {
    "spearman": _spearman,
    "kendall": _kendall,
    "tau_ap": _tau_ap,
}
