"""Coefficients of agreement as functions of how often each pattern of ratings occurs.

Every function takes `frequencies` of shape (replicates, patterns), numbers of items, and the
patterns, and returns values of shape (replicates,): the observed frequencies are one row, a
bootstrap a thousand. NaN where a coefficient is undefined. k is the number of grades of the scale,
whether all are used or not.

Missing ratings: an item counts with the raters who graded it; with fewer than two it says nothing
about agreement, though it still tells how often a grade is given (see each).
"""

from __future__ import annotations

import numpy as np

from stats.ratings import CountPatterns, FloatArray, Level, PairPatterns, quotient

# Less expected disagreement than this is none: one grade fills the sample, up to rounding.
NONE_EXPECTED = 1e-12


def percent_agreement(frequencies: FloatArray, patterns: CountPatterns) -> FloatArray:
    """The share of agreeing pairs of raters on an item, averaged over items with two ratings or more.

    Source: Fleiss, Measuring nominal scale agreement among many raters (1971), eq. 2; with missing
    ratings Gwet, Handbook of Inter-Rater Reliability (4th ed., 2014), section 2.5.
    """
    return weighted_agreement(frequencies, patterns, np.eye(patterns.counts.shape[1]))


def weighted_agreement(frequencies: FloatArray, patterns: CountPatterns, weights: FloatArray) -> FloatArray:
    """The mean weight (k × k, 1 on the diagonal) of the pairs of ratings on an item, averaged over items.

    Source: Gwet (2014), section 3.5.
    """
    counts = patterns.counts
    raters = counts.sum(axis=1)
    pairable = raters >= 2
    pairs = np.where(pairable, raters * (raters - 1), 1.0)
    agreeing = np.where(pairable, (counts * (counts @ weights - 1)).sum(axis=1) / pairs, 0.0)
    return quotient(frequencies @ agreeing, frequencies @ pairable.astype(np.float64))


def grade_shares(frequencies: FloatArray, patterns: CountPatterns) -> FloatArray:
    """How often each grade is given, shape (replicates, k): an item's share of raters, averaged over rated items."""
    raters = patterns.counts.sum(axis=1, keepdims=True)
    shares = patterns.counts / np.maximum(raters, 1)
    rated = frequencies @ (raters[:, 0] >= 1).astype(np.float64)
    return quotient(frequencies @ shares, rated[:, None])


def fleiss_kappa(frequencies: FloatArray, patterns: CountPatterns) -> FloatArray:
    """Fleiss' κ: agreement beyond what the shares of the grades alone would give.

    Missing ratings: Gwet's generalisation, which takes an item's grades as shares of its own raters;
    with equally many raters it is Fleiss' own. Source: Fleiss (1971); Gwet (2014), section 2.5.
    """
    by_chance = (grade_shares(frequencies, patterns) ** 2).sum(axis=1)
    return _beyond_chance(percent_agreement(frequencies, patterns), by_chance)


def randolph_kappa(frequencies: FloatArray, patterns: CountPatterns) -> FloatArray:
    """Randolph's free-marginal κ: agreement beyond 1/k.

    Source: Randolph, Free-marginal multirater kappa (2005).
    """
    observed = percent_agreement(frequencies, patterns)
    return _beyond_chance(observed, np.full_like(observed, 1 / patterns.counts.shape[1]))


def gwet_ac1(frequencies: FloatArray, patterns: CountPatterns) -> FloatArray:
    """Gwet's AC1: agreement beyond chance, where chance strikes only items that are hard to grade.

    Source: Gwet, Computing inter-rater reliability and its variance in the presence of high agreement
    (2008); missing ratings as in Gwet (2014), section 2.5.
    """
    return gwet_ac2(frequencies, patterns, np.eye(patterns.counts.shape[1]))


def gwet_ac2(frequencies: FloatArray, patterns: CountPatterns, weights: FloatArray) -> FloatArray:
    """Gwet's AC2: AC1 with partial credit, `weights` of shape (k, k). Source: Gwet (2014), section 3.5."""
    n_grades = patterns.counts.shape[1]
    shares = grade_shares(frequencies, patterns)
    by_chance = weights.sum() / (n_grades * (n_grades - 1)) * (shares * (1 - shares)).sum(axis=1)
    return _beyond_chance(weighted_agreement(frequencies, patterns, weights), by_chance)


def agreement_weights(level: Level, numbers: FloatArray) -> FloatArray:
    """The credit of each pair of grades under AC2, shape (k, k): 1 for the same grade, 0 for the furthest.

    `numbers` are the grades, shape (k,), lowest first. Nominal: none for different grades. Ordinal:
    1 − C(d+1, 2) / C(k, 2) with d the steps between them. Interval: 1 − squared distance. Ratio: 1 −
    squared distance over squared sum. Source: Gwet (2014), section 3.5.
    """
    n_grades = len(numbers)
    if level == "nominal" or n_grades < 2:
        return np.eye(n_grades)
    if level == "ordinal":
        steps = np.abs(np.subtract.outer(np.arange(n_grades), np.arange(n_grades)))
        distances = steps * (steps + 1) / 2.0
    else:
        distances = squared_differences(level, numbers)
    return np.asarray(1 - distances / distances.max())


def squared_differences(level: Level, numbers: FloatArray) -> FloatArray:
    """Krippendorff's δ² between grades, shape (k, k), for the levels where it does not depend on the data."""
    difference = np.subtract.outer(numbers, numbers)
    if level == "nominal":
        return (~np.eye(len(numbers), dtype=bool)).astype(np.float64)
    if level == "ratio":
        total = np.add.outer(numbers, numbers)
        difference = np.divide(difference, total, out=np.zeros_like(difference), where=total != 0)
    return np.asarray(difference**2)


def krippendorff_alpha(
    frequencies: FloatArray, patterns: CountPatterns, level: Level, numbers: FloatArray
) -> FloatArray:
    """Krippendorff's α: 1 − observed over expected disagreement.

    `numbers` are the grades, shape (k,), lowest first; on the nominal and ordinal levels only their
    identity and order count. Items with one rating drop out. Source: Krippendorff, Computing
    Krippendorff's alpha-reliability (2011).
    """
    raters = patterns.counts.sum(axis=1)
    pairable = raters >= 2
    counts, raters, frequencies = patterns.counts[pairable], raters[pairable], frequencies[:, pairable]
    given = frequencies @ counts
    total = given.sum(axis=1)
    if level == "ordinal":
        # δ² is the squared distance of the grades' mid-ranks, so ordinal α is interval α on mid-ranks.
        ranks = quotient(np.cumsum(given, axis=1) - given / 2, total[:, None]) - 0.5
        sums, squares = ranks @ counts.T, ranks**2 @ counts.T
        observed = (frequencies * 2 * (raters * squares - sums**2) / (raters - 1)).sum(axis=1)
        expected = 2 * (total * (given * ranks**2).sum(axis=1) - (given * ranks).sum(axis=1) ** 2)
    else:
        differences = squared_differences(level, numbers)
        observed = frequencies @ ((counts * (counts @ differences)).sum(axis=1) / (raters - 1))
        expected = ((given @ differences) * given).sum(axis=1)
    one_grade = given.max(axis=1, initial=0) >= total - NONE_EXPECTED
    return np.where(one_grade, np.nan, 1 - quotient((total - 1) * observed, expected))


def cohen_kappa(frequencies: FloatArray, patterns: PairPatterns, differences: FloatArray) -> FloatArray:
    """Cohen's κ of two raters: 1 − observed over expected disagreement.

    `differences` of shape (k, k) says how far apart two grades are: see `pair_differences`. Items that
    one of the two did not grade are left out. Source: Cohen, A coefficient of agreement for nominal
    scales (1960); Weighted kappa (1968).
    """
    total = frequencies.sum(axis=1)
    grades = np.arange(patterns.n_grades)
    first = frequencies @ (patterns.first[:, None] == grades).astype(np.float64)
    second = frequencies @ (patterns.second[:, None] == grades).astype(np.float64)
    observed = frequencies @ differences[patterns.first, patterns.second] / np.maximum(total, 1)
    expected = ((first @ differences) * second).sum(axis=1) / np.maximum(total, 1) ** 2
    return np.where(expected < NONE_EXPECTED * differences.max(initial=1), np.nan, 1 - quotient(observed, expected))


def pair_differences(weighting: str, numbers: FloatArray) -> FloatArray:
    """The disagreement that Cohen's κ sees between grades, shape (k, k).

    `plain`: 1 between any two; `linear`: their distance; `quadratic`: its square. The scale of the
    weights cancels out.
    """
    if weighting == "plain":
        return squared_differences("nominal", numbers)
    distance: FloatArray = np.abs(np.subtract.outer(numbers, numbers))
    return distance if weighting == "linear" else distance**2


def _beyond_chance(observed: FloatArray, by_chance: FloatArray) -> FloatArray:
    return np.where(1 - by_chance < NONE_EXPECTED, np.nan, quotient(observed - by_chance, 1 - by_chance))
