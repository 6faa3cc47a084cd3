"""Agreement grade by grade and assessor by assessor, and which items people dispute most.

Source of the agreement on a grade: Spitzer and Fleiss, A re-analysis of the reliability of psychiatric diagnosis
(British Journal of Psychiatry 125, 1974): given that one person gives the grade, how often another does.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from evaluation.intervals import Estimate, Statistic, estimate, undefined
from evaluation.ratings import (
    MISSING,
    CountPatterns,
    FloatArray,
    PairPatterns,
    Ratings,
    count_patterns,
    grades_of,
    pairs_of_codes,
)

NEVER_GIVEN = "nobody gave it to an item that another person judged"
NOBODY_ELSE = "nobody else judged the same items"


def agreement_by_grade(ratings: Ratings) -> list[Estimate]:
    """Return for each grade of the scale the agreement on it, with intervals over items or topics."""
    patterns = count_patterns(ratings)
    if not len(patterns.frequencies):
        return [undefined(NEVER_GIVEN)] * len(ratings.scale)
    statistics: dict[str, Statistic] = {
        str(grade): partial(_specific, patterns=patterns, grade=grade) for grade in range(len(ratings.scale))
    }
    defined = {
        name: statistic
        for name, statistic in statistics.items()
        if np.isfinite(statistic(patterns.frequencies[None, :])[0])
    }
    found = estimate(defined, patterns) if defined else {}
    return [found.get(name, undefined(NEVER_GIVEN)) for name in statistics]


def _specific(frequencies: FloatArray, patterns: CountPatterns, grade: int) -> FloatArray:
    given, raters = patterns.counts[:, grade], patterns.counts.sum(axis=1)
    return _share(frequencies, given * (given - 1), given * (raters - 1))


def agreement_by_rater(ratings: Ratings) -> list[Estimate]:
    """Return for each rater how often others who judged the same item gave the same grade; each pair counts once."""
    return [_with_the_others(ratings, rater) for rater in range(ratings.codes.shape[1])]


def _with_the_others(ratings: Ratings, rater: int) -> Estimate:
    others = [column for column in range(ratings.codes.shape[1]) if column != rater]
    if not others:
        return undefined(NOBODY_ELSE)
    own = np.tile(ratings.codes[:, rater], len(others))
    theirs = np.concatenate([ratings.codes[:, column] for column in others])
    topics = None if ratings.topics is None else np.tile(ratings.topics, len(others))
    patterns = pairs_of_codes(own, theirs, len(ratings.scale), topics)
    if not len(patterns.frequencies):
        return undefined(NOBODY_ELSE)
    return estimate({"same": partial(_same, patterns=patterns)}, patterns)["same"]


def _same(frequencies: FloatArray, patterns: PairPatterns) -> FloatArray:
    return _share(frequencies, patterns.first == patterns.second, np.ones(len(patterns.first)))


def _share(frequencies: FloatArray, of: FloatArray, among: FloatArray) -> FloatArray:
    part, whole = frequencies @ np.asarray(of, float), frequencies @ np.asarray(among, float)
    shares = np.full(len(whole), np.nan)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares


def dispute(ratings: Ratings) -> FloatArray:
    """Return for each item how far its people are apart, shape (items,); NaN with fewer than two of them.

    On a nominal scale the share of pairs that differ, else the mean distance of a pair: in steps of the scale for
    ordinal grades, in units of the grades for others.
    """
    values = grades_of(ratings.codes, ratings.numbers)
    if ratings.level in ("nominal", "ordinal"):
        values = np.where(ratings.codes == MISSING, np.nan, ratings.codes)
    total, n_pairs = np.zeros(len(values)), np.zeros(len(values))
    for first in range(values.shape[1]):
        for second in range(first + 1, values.shape[1]):
            apart = np.abs(values[:, first] - values[:, second])
            if ratings.level == "nominal":
                apart = np.where(np.isfinite(apart), apart > 0, np.nan)
            total += np.nan_to_num(apart)
            n_pairs += np.isfinite(apart)
    distances = np.full(len(values), np.nan)
    np.divide(total, n_pairs, out=distances, where=n_pairs > 0)
    return distances
