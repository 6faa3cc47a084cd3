"""Agreement grade by grade and assessor by assessor, and which items people dispute most.

Source of the agreement on a grade: Spitzer and Fleiss, A re-analysis of the reliability of psychiatric diagnosis
(British Journal of Psychiatry 125, 1974): given that one person gives the grade, how often another does.
"""

from __future__ import annotations

import numpy as np

from stats.pattern_intervals import Estimate, estimate_share, undefined
from stats.ratings import (
    MISSING,
    CountPatterns,
    FloatArray,
    Ratings,
    count_patterns,
    grades_of,
    pairs_of_codes,
    quotient,
)

NEVER_GIVEN = "nobody gave it to an item that another assessor judged"
NOBODY_ELSE = "no other assessor judged the same items"


def agreement_by_grade(ratings: Ratings) -> list[Estimate]:
    """Return for each grade of the scale the agreement on it, with intervals over items or topics."""
    patterns = count_patterns(ratings)
    if not len(patterns.frequencies):
        return [undefined(NEVER_GIVEN)] * len(ratings.scale)
    raters = patterns.counts.sum(axis=1)
    return [_agreement_on(patterns, given, raters) for given in patterns.counts.T]


def _agreement_on(patterns: CountPatterns, given: FloatArray, raters: FloatArray) -> Estimate:
    others = given * (raters - 1)
    if not others.any():
        return undefined(NEVER_GIVEN)
    return estimate_share(patterns, of=given * (given - 1), among=others)


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
    return estimate_share(patterns, of=patterns.first == patterns.second, among=np.ones(len(patterns.first)))


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
    return quotient(total, n_pairs)
