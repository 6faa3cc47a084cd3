"""Several people's grades made into one per item.

Ratings have the shape items × raters; NaN where a rater gave no grade. Grades are numbers of the scale: nominal is
enough for the majority, the median needs an ordinal scale, the mean an interval scale. What cannot be decided is NaN
and counted, never a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from stats.ratings import MISSING, BoolArray, CodeArray, FloatArray, IntArray
from stats.votes import NOBODY, Ties, most_given


@dataclass(frozen=True)
class Aggregate:
    """One grade per item, shape (items,), NaN where there is none; and why there is none, by count.

    - `n_too_few`: items with fewer ratings than required.
    - `n_tied`: items whose ratings tied, however the tie was settled. With the rule "undecided" they are NaN.
    """

    grades: FloatArray
    n_too_few: int
    n_tied: int


def majority(ratings: FloatArray, *, ties: Ties, fewest_raters: int = 1) -> Aggregate:
    """Return the grade given most often (the plurality). Level: nominal; the tie rule takes the order of the grades."""
    values = np.unique(ratings[~np.isnan(ratings)])
    counts = np.stack([(ratings == value).sum(axis=1) for value in values] or [np.zeros(len(ratings))], axis=1)
    found, tied = most_given(counts, ties=ties)
    grades = np.append(values, np.nan)[np.where(found == NOBODY, len(values), found)]
    return _settled(ratings, grades, tied, ties, fewest_raters)


def median(ratings: FloatArray, *, ties: Ties, fewest_raters: int = 1) -> Aggregate:
    """Return the median grade. Level: ordinal. An even number of ratings with two different middles is a tie."""
    if not ratings.shape[1]:
        return _settled(ratings, np.full(len(ratings), np.nan), np.zeros(len(ratings), dtype=bool), ties, fewest_raters)
    ordered = np.sort(ratings, axis=1)  # NaN last
    n = (~np.isnan(ratings)).sum(axis=1)
    rows, last = np.arange(len(ratings)), ratings.shape[1] - 1
    low = ordered[rows, np.clip((n - 1) // 2, 0, last)]
    high = ordered[rows, np.clip(n // 2, 0, last)]
    return _settled(ratings, high if ties == "higher" else low, low != high, ties, fewest_raters)


def mean(ratings: FloatArray, *, fewest_raters: int = 1) -> Aggregate:
    """Return the mean grade, which need not be a grade of the scale. Level: interval. There are no ties."""
    known = ~np.isnan(ratings)
    n = known.sum(axis=1)
    means = np.divide(
        np.where(known, ratings, 0.0).sum(axis=1), n, out=np.full(len(ratings), np.nan), where=n > 0, dtype=np.float64
    )
    return _settled(ratings, means, np.zeros(len(ratings), dtype=bool), "lower", fewest_raters)


def _settled(ratings: FloatArray, grades: FloatArray, tied: BoolArray, ties: Ties, fewest_raters: int) -> Aggregate:
    if fewest_raters < 1:
        raise ValueError(f"At least one rater is needed for a grade, not {fewest_raters}.")
    too_few = (~np.isnan(ratings)).sum(axis=1) < fewest_raters
    tied = tied & ~too_few
    missing = too_few | tied if ties == "undecided" else too_few
    return Aggregate(np.where(missing, np.nan, grades), int(too_few.sum()), int(tied.sum()))


@dataclass(frozen=True)
class DawidSkene:
    """What the grades say about the items and the raters, if raters err independently given the true grade.

    - `posteriors`: items × grades, P(true grade | ratings).
    - `prevalence`: (grades,), the share of each true grade.
    - `confusion`: raters × true × given, P(rater gives | true grade); rows sum to 1, NaN where a rater graded no item
      that may have that true grade.
    - `log_likelihood`: after each iteration; it never falls.
    - `converged`: whether it rose by less than the tolerance at the end.
    """

    posteriors: FloatArray
    prevalence: FloatArray
    confusion: FloatArray
    log_likelihood: tuple[float, ...]
    converged: bool

    def grades(self, *, ties: Ties) -> Aggregate:
        """Return the most probable grade of each item, as its place on the scale from 0."""
        best = self.posteriors.max(axis=1, keepdims=True)
        top = np.isclose(self.posteriors, best, rtol=0, atol=1e-9)
        lowest, highest = top.argmax(axis=1), top.shape[1] - 1 - top[:, ::-1].argmax(axis=1)
        tied = top.sum(axis=1) > 1
        chosen = np.where(tied & (ties == "undecided"), np.nan, highest if ties == "higher" else lowest)
        return Aggregate(chosen.astype(np.float64), 0, int(tied.sum()))


def dawid_skene(
    items: Sequence[int] | IntArray,
    raters: Sequence[int] | IntArray,
    grades: Sequence[int] | IntArray,
    *,
    n_grades: int,
    times: FloatArray | None = None,
    tolerance: float = 1e-8,
    most_iterations: int = 1_000,
) -> DawidSkene:
    """Estimate true grades and each rater's errors together by EM.

    `times`, shape (items,), says how often each item stands for one rated alike; without it once.

    The three sequences have the shape (ratings,) and count from 0: which item, which rater, which grade; missing
    ratings are simply not there, and a rater may grade an item more than once. Every item needs a rating. Level:
    nominal. Starts from each item's shares of grades, as the paper does; no smoothing, so what a rater never did has
    probability 0. Raters who share an error look right: it never replaces gold labels.

    Source: Dawid and Skene, Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm (Applied
    Statistics 28, 1979), eq. 2.3–2.5 and 3.1.
    """
    item, rater, grade = (np.asarray(column, dtype=np.int64) for column in (items, raters, grades))
    if not len(item):
        raise ValueError("There is no rating to estimate from.")
    n_items, n_raters = int(item.max()) + 1, int(rater.max()) + 1
    votes = np.bincount(item * n_grades + grade, minlength=n_items * n_grades).reshape(n_items, n_grades)
    if not votes.sum(axis=1).all():
        raise ValueError(f"Item {int(votes.sum(axis=1).argmin())} has no rating.")
    posteriors = votes / votes.sum(axis=1, keepdims=True)
    how_often = np.ones(n_items) if times is None else times
    seen = rater * n_grades + grade
    history: list[float] = []
    converged = False
    while not converged and len(history) < most_iterations:
        prevalence = how_often @ posteriors / how_often.sum()
        confusion = _confusion(posteriors * how_often[:, None], item, seen, n_raters)
        joint = _log_joint(prevalence, confusion, item, seen, n_items)
        peak = joint.max(axis=1, keepdims=True)
        likelihood = np.exp(joint - peak)
        history.append(float(how_often @ (peak[:, 0] + np.log(likelihood.sum(axis=1)))))
        posteriors = likelihood / likelihood.sum(axis=1, keepdims=True)
        converged = len(history) > 1 and history[-1] - history[-2] < tolerance
    return DawidSkene(posteriors, prevalence, confusion, tuple(history), converged)


def dawid_skene_of_codes(codes: CodeArray, *, n_grades: int) -> DawidSkene:
    """Return the same of codes, items × raters, MISSING where a rater gave none; every item needs one.

    Items that everybody rated alike are one to the model, so the cost hardly depends on how many there are.
    """
    distinct, which, times = np.unique(_row_keys(codes, n_grades), return_inverse=True, return_counts=True)
    first = np.empty(len(distinct), dtype=np.int64)
    first[which[::-1]] = np.arange(len(codes))[::-1]
    patterns = codes[first]
    item, rater = np.nonzero(patterns != MISSING)
    grades = patterns[item, rater].astype(np.int64)
    found = dawid_skene(item, rater, grades, n_grades=n_grades, times=times.astype(np.float64))
    return replace(found, posteriors=found.posteriors[which])


def _row_keys(codes: CodeArray, n_grades: int) -> IntArray:
    """Return a number for each row that equal rows share, and no others."""
    keys = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        if keys.max(initial=0) >= np.iinfo(np.int64).max // (2 * (n_grades + 1)):
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
        keys = keys * (n_grades + 1) + column + 1
    return keys


def _confusion(posteriors: FloatArray, item: IntArray, seen: IntArray, n_raters: int) -> FloatArray:
    """Return raters × true × given from the expected counts (eq. 2.3)."""
    n_grades = posteriors.shape[1]
    counts = np.stack(
        [
            np.bincount(seen, weights=posteriors[item, true], minlength=n_raters * n_grades).reshape(n_raters, n_grades)
            for true in range(n_grades)
        ],
        axis=1,
    )
    totals = counts.sum(axis=2, keepdims=True)
    shares: FloatArray = np.divide(counts, totals, out=np.full(counts.shape, np.nan), where=totals > 0)
    return shares


def _log_joint(
    prevalence: FloatArray, confusion: FloatArray, item: IntArray, seen: IntArray, n_items: int
) -> FloatArray:
    """Return log P(true grade, ratings) of the shape items × grades (the terms of eq. 2.5)."""
    with np.errstate(divide="ignore"):
        joint = np.tile(np.log(prevalence), (n_items, 1))
        errors = np.log(confusion)
    for true in range(len(prevalence)):
        # No item can have a true grade of which a rater's errors are unknown: its prevalence among them is 0.
        of_ratings = np.nan_to_num(errors[:, true, :].ravel()[seen], nan=-np.inf, neginf=-np.inf)
        joint[:, true] += np.bincount(item, weights=of_ratings, minlength=n_items)
    return joint
