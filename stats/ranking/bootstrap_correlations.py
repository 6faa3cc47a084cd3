"""Rank correlations of many pairs of score vectors at once, for the bootstrap.

The same coefficients as `rank_correlation`'s, from comparisons of every two systems, so that a thousand replicates cost
a few array operations. Scores have the shape replicates × systems; `counted`, of the same shape, says which systems
count in a replicate (both have a score; among the top k). NaN where a replicate has no correlation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stats.ratings import BoolArray, FloatArray, quotient

CELLS_AT_ONCE = 4_000_000


def kendall_rows(x: FloatArray, y: FloatArray, counted: BoolArray) -> FloatArray:
    """Return Kendall's τ_b of each row, shape (replicates,)."""
    return _in_parts(_kendall, x, y, counted)


def spearman_rows(x: FloatArray, y: FloatArray, counted: BoolArray) -> FloatArray:
    """Return Spearman's ρ of each row, shape (replicates,)."""
    return _in_parts(_spearman, x, y, counted)


def pearson_rows(x: FloatArray, y: FloatArray, counted: BoolArray) -> FloatArray:
    """Return Pearson's r of each row, shape (replicates,)."""
    a, b = (_centred(np.where(counted, scores, 0.0), counted) for scores in (x, y))
    return quotient((a * b).sum(axis=1), np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1)))


def tau_ap_rows(x: FloatArray, y: FloatArray, counted: BoolArray) -> FloatArray:
    """Return τ_AP of each row, shape (replicates,), `x` being the reference. Ties as in `rank_correlation.tau_ap`."""
    return _in_parts(_tau_ap, x, y, counted)


Rows = Callable[[FloatArray, FloatArray, BoolArray], FloatArray]


def _in_parts(function: Rows, x: FloatArray, y: FloatArray, counted: BoolArray) -> FloatArray:
    """Compute it in parts whose comparisons fit into little memory."""
    n_rows, n_systems = x.shape
    step = max(1, CELLS_AT_ONCE // max(1, n_systems**2))
    parts = [
        function(x[start : start + step], y[start : start + step], counted[start : start + step])
        for start in range(0, n_rows, step)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def _signs(scores: FloatArray, both: BoolArray) -> FloatArray:
    """Return +1 where the row's system is above the column's, shape replicates × systems × systems."""
    known = np.nan_to_num(scores)
    return np.where(both, np.sign(known[:, :, None] - known[:, None, :]), 0.0)


def _both(counted: BoolArray) -> BoolArray:
    return np.asarray(counted[:, :, None] & counted[:, None, :])


def _kendall(x: FloatArray, y: FloatArray, counted: BoolArray) -> FloatArray:
    both = _both(counted)
    a, b = _signs(x, both), _signs(y, both)
    # Each pair is there twice. Divided one by the other, as scipy does, so that both round alike.
    untied_a, untied_b = ((signs != 0).sum(axis=(1, 2)) / 2 for signs in (a, b))
    return quotient(quotient((a * b).sum(axis=(1, 2)) / 2, np.sqrt(untied_a)), np.sqrt(untied_b))


def _spearman(x: FloatArray, y: FloatArray, counted: BoolArray) -> FloatArray:
    both = _both(counted)
    # A mid-rank is a constant plus half the difference of those below and those above.
    a, b = (_centred(_signs(scores, both).sum(axis=2), counted) for scores in (x, y))
    return quotient((a * b).sum(axis=1), np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1)))


def _centred(ranks: FloatArray, counted: BoolArray) -> FloatArray:
    n = np.maximum(counted.sum(axis=1, keepdims=True), 1)
    return np.where(counted, ranks - np.where(counted, ranks, 0.0).sum(axis=1, keepdims=True) / n, 0.0)


def _tau_ap(x: FloatArray, y: FloatArray, counted: BoolArray) -> FloatArray:
    """Average, over the ranks by y from the second on, the expected share of those above that x puts above too.

    A system that ties with t − 1 others below a systems stands at ranks a + 1 to a + t equally often; of the systems
    above it that it ties with, half are right whichever way the tie is broken.
    """
    both = _both(counted)
    a, b = _signs(x, both), _signs(y, both)
    n = counted.sum(axis=1)
    above = b < 0
    n_above = above.sum(axis=2)
    n_tied = ((b == 0) & both).sum(axis=2)
    # Of each system's column partners, the share that the reference puts above it too.
    right = ((a < 0) + 0.5 * ((a == 0) & both)) * above
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, x.shape[1] + 1))])
    inverse_ranks = harmonic[np.maximum(n_above + n_tied - 1, 0)] - harmonic[np.maximum(n_above - 1, 0)]
    within_tie = np.where(n_above > 0, n_tied - n_above * inverse_ranks, n_tied - 1) / 2
    shares = quotient(right.sum(axis=2) * inverse_ranks + within_tie, n_tied)
    values = quotient(2 * np.where(counted, shares, 0.0).sum(axis=1), n - 1) - 1
    constant = ((a == 0).all(axis=(1, 2))) | ((b == 0).all(axis=(1, 2)))
    return np.where(constant, np.nan, values)
