"""Rank correlations as functions of how often each pair of values occurs.

As in `coefficients`: `frequencies` has shape (replicates, patterns), values come back with shape
(replicates,), NaN where one side is constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from stats.pattern_intervals import SIGNED, Estimate, Statistic, estimate, undefined
from stats.plurals import counted
from stats.ratings import FloatArray, IntArray, PairPatterns
from stats.rounding import rounded

# Fewer points than these make a correlation that says nothing.
FEWEST_POINTS = 4
# Kendall's τ compares patterns with one another; more than these are left to scipy, without an interval.
MOST_PATTERNS = 1_000
LARGEST_LIBRARY_SAMPLE = 200_000

FLAT = "one side is the same throughout, so there is no order to compare"


def spearman(frequencies: FloatArray, patterns: PairPatterns) -> FloatArray:
    """Spearman's ρ: Pearson's correlation of the mid-ranks.

    Source: Spearman, The proof and measurement of association between two things (1904).
    """
    total = frequencies.sum(axis=1, keepdims=True)
    ranks = []
    for side in (patterns.first, patterns.second):
        places = (side[:, None] == np.arange(patterns.n_grades)).astype(np.float64)
        given = frequencies @ places
        mid_ranks = (np.cumsum(given, axis=1) - given / 2) / np.maximum(total, 1) - 0.5
        ranks.append(mid_ranks[:, side])
    a, b = ranks
    shared = (frequencies * a * b).sum(axis=1)
    spread = (frequencies * a**2).sum(axis=1) * (frequencies * b**2).sum(axis=1)
    flat = ~(spread > 1e-18 * np.maximum(total[:, 0], 1) ** 2)
    return np.where(flat, np.nan, shared / np.sqrt(np.where(flat, 1.0, spread)))


def kendall(frequencies: FloatArray, patterns: PairPatterns) -> FloatArray:
    """Kendall's τ_b: concordant minus discordant pairs, corrected for ties on either side.

    Source: Kendall, The treatment of ties in ranking problems (1945).
    """
    a = np.sign(np.subtract.outer(patterns.first, patterns.first)).astype(np.float64)
    b = np.sign(np.subtract.outer(patterns.second, patterns.second)).astype(np.float64)
    score = ((frequencies @ (a * b)) * frequencies).sum(axis=1)
    untied = ((frequencies @ a**2) * frequencies).sum(axis=1) * ((frequencies @ b**2) * frequencies).sum(axis=1)
    return np.where(untied > 0, score / np.sqrt(np.where(untied > 0, untied, 1.0)), np.nan)


def rank_correlations(patterns: PairPatterns, *, unit: str = "items") -> dict[str, Estimate]:
    """Return `spearman` and `kendall` of the pairs, each with its interval or the reason why there is none."""
    n_points = int(patterns.frequencies.sum())
    if n_points < FEWEST_POINTS:
        return dict.fromkeys(
            ("spearman", "kendall"),
            undefined(f"{counted(n_points, 'points')}; a correlation needs 4 at least"),
        )
    if len(set(patterns.first)) < 2 or len(set(patterns.second)) < 2:
        return dict.fromkeys(("spearman", "kendall"), undefined(FLAT))
    statistics: dict[str, Statistic] = {"spearman": partial(spearman, patterns=patterns)}
    if len(patterns.frequencies) <= MOST_PATTERNS:
        statistics["kendall"] = partial(kendall, patterns=patterns)
    values = library_correlations(patterns)
    estimates = estimate(statistics, patterns, within=SIGNED, values=values, unit=unit)
    if "kendall" not in estimates:
        estimates["kendall"] = (
            Estimate(values["kendall"]) if "kendall" in values else undefined(f"{n_points:,} points are too many")
        )
    return estimates


def library_correlations(patterns: PairPatterns) -> Mapping[str, float]:
    """Return scipy's values, where the sample is small enough to be written out."""
    if patterns.frequencies.sum() > LARGEST_LIBRARY_SAMPLE:
        return {}
    from scipy.stats import kendalltau, spearmanr

    times = patterns.frequencies.astype(np.int64)
    first, second = np.repeat(patterns.first, times), np.repeat(patterns.second, times)
    return {
        "spearman": float(spearmanr(first, second).statistic),
        "kendall": float(kendalltau(first, second, variant="b").statistic),
    }


def pairs_of_values(first: FloatArray, second: FloatArray, topics: IntArray | None) -> PairPatterns:
    """Return two columns of values as patterns, by the ranks of the rounded values. No value is NaN."""
    values, places = np.unique(rounded(np.concatenate([first, second])), return_inverse=True)
    points = np.stack([places[: len(first)], places[len(first) :]], axis=1)
    pairs, which, times = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    by_topic: Any = None
    if topics is not None:
        numbers, topics = np.unique(topics, return_inverse=True)
        by_topic = np.zeros((len(numbers), len(pairs)))
        np.add.at(by_topic, (topics, which.ravel()), 1)
    return PairPatterns(pairs[:, 0], pairs[:, 1], len(values), times.astype(np.float64), by_topic)
