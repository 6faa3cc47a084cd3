"""What showing a judge's grade to assessors does to their labels, arm by arm of a randomised suggestion design.

Each assignment drew an arm: *none* (the judge's grade is never shown), *after* (the own grade first, then the judge's),
*verify* (the judge's words are marked), *post_edit* (the judge's grade is filled in). Figures of an arm are means over
its labels, each weighing 1 / the probability of its arm (Hájek's ratio estimator: Särndal, Swensson and Wretman, Model
Assisted Survey Sampling, 1992, section 5.7); effects are differences from *none*. Topics are left out in turn, and
intervals follow the one rule of `stats.intervals`.

Grades may be of any level; a label *follows* the judge where both grades are the same. Seconds are of activity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from stats.intervals import (
    DIFFERENCE_OF_SHARES,
    SHARE,
    UNBOUNDED,
    Estimate,
    Range,
    Sample,
    effective_number,
    interval,
    jackknife_error,
    undefined,
)
from stats.ratings import BoolArray, FloatArray, IntArray

ARMS = ("none", "after", "verify", "post_edit")
NONE, AFTER, VERIFY, POST_EDIT = range(len(ARMS))
# A share that differs from 1 by less is 1 but for rounding.
NOTHING_LEFT = 1e-9


@dataclass(frozen=True)
class SuggestedLabels:
    """Labels of people on items that one judge graded, in an order that means nothing. All arrays: one entry a label.

    - `arms`: the number of the label's arm in `ARMS`; `weights`: 1 / the probability with which it was drawn;
    - `grades`: as they stand now; `first`: before the judge's grade was shown (NaN in verify and post_edit);
    - `judge`: the judge's grade of the same item; `seconds`: active time, NaN where it is not known;
    - `items`, `raters`, `topics`: any numbers that tell them apart.
    """

    arms: IntArray
    weights: FloatArray
    grades: FloatArray
    first: FloatArray
    judge: FloatArray
    seconds: FloatArray
    items: IntArray
    raters: IntArray
    topics: IntArray

    def of(self, rows: BoolArray) -> SuggestedLabels:
        """Return these of the labels."""
        return replace(self, **{name: getattr(self, name)[rows] for name in self.__dataclass_fields__})

    def n_of(self, arm: int) -> int:
        """Return how many labels the arm has."""
        return int((self.arms == arm).sum())

    @property
    def follow(self) -> FloatArray:
        """1 where the label is the judge's grade, else 0."""
        return np.asarray(self.grades == self.judge, dtype=np.float64)


def share_following(labels: SuggestedLabels, arm: int) -> Estimate:
    """Return the share of the arm's labels that are the judge's grade."""
    return _mean(labels, labels.follow, arm, within=SHARE)


def shift(labels: SuggestedLabels, arm: int) -> Estimate:
    """Return by how much larger the share of labels that are the judge's grade is in the arm than in *none*."""
    return _difference(labels, labels.follow, arm, within=DIFFERENCE_OF_SHARES)


def pull(labels: SuggestedLabels, arm: int) -> Estimate:
    """Return the share of labels that would not be the judge's grade without the suggestion and are with it.

    (follow in the arm − follow in none) / (1 − follow in none): 0 where the suggestion does nothing, 1 where everybody
    takes it over, negative where people turn away from it. Epidemiology's relative risk reduction, of disagreement.
    """
    return _effect(labels, labels.follow, arm, _pulled, within=UNBOUNDED)


def _pulled(at: float, none: float) -> float:
    return (at - none) / (1 - none) if 1 - none > NOTHING_LEFT else np.nan


def distance_moved(labels: SuggestedLabels, arm: int) -> Estimate:
    """Return by how many units of the scale labels are nearer to the judge's grade in the arm than in *none*."""
    return _difference(labels, -np.abs(labels.grades - labels.judge), arm, within=UNBOUNDED)


def seconds_saved(labels: SuggestedLabels, arm: int) -> Estimate:
    """Return by how many active seconds a label takes less in the arm than in *none*, over labels with a known time."""
    timed = labels.of(np.isfinite(labels.seconds))
    return _difference(timed, -timed.seconds, arm, within=UNBOUNDED)


def mean_seconds(labels: SuggestedLabels, arm: int) -> Estimate:
    """Return the mean active seconds of the arm's labels."""
    timed = labels.of(np.isfinite(labels.seconds))
    return _mean(timed, timed.seconds, arm, within=UNBOUNDED)


def turned(labels: SuggestedLabels) -> Estimate:
    """Return the share of the *after* arm's first grades that differed from the judge's and were changed into it.

    It is seen on one and the same label, so it needs no comparison with *none*.
    """
    apart = labels.of((labels.arms == AFTER) & np.isfinite(labels.first) & (labels.first != labels.judge))
    return _mean(apart, apart.follow, AFTER, within=SHARE)


def agreement_of_pairs(labels: SuggestedLabels, arm: int) -> Estimate:
    """Return the share of pairs of labels of one item, both of the arm, that are the same grade."""
    mine = labels.of(labels.arms == arm)
    pairs = _pairs(mine, mine)
    return _share_of_pairs(mine, mine, pairs[:, pairs[0] < pairs[1]])


def agreement_with_the_unaided(labels: SuggestedLabels, arm: int) -> Estimate:
    """Return how often the arm's labels are what other people said of the item who had not seen the judge's grade.

    Those are labels of *none*, and first grades of *after*: the reference that no suggestion has touched.
    """
    mine = labels.of(labels.arms == arm)
    unaided = unaided_labels(labels)
    return _share_of_pairs(mine, unaided, _pairs(mine, unaided))


def unaided_labels(labels: SuggestedLabels) -> SuggestedLabels:
    """Return the labels as people gave them before they saw the judge's grade; others are left out."""
    return replace(labels, grades=labels.first).of(np.isfinite(labels.first))


# --- Pairs of labels of one item ----------------------------------------------------------------


def _pairs(mine: SuggestedLabels, others: SuggestedLabels) -> IntArray:
    """Return the rows of `mine` and of `others` that are of one item and of two people, shape (2, pairs)."""
    order = np.argsort(others.items, kind="stable")
    items = others.items[order]
    first, last = np.searchsorted(items, mine.items, "left"), np.searchsorted(items, mine.items, "right")
    n = last - first
    one = np.repeat(np.arange(len(mine.items)), n)
    offsets = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    other = order[np.repeat(first, n) + offsets]
    pairs = np.stack([one, other])
    return np.asarray(pairs[:, mine.raters[one] != others.raters[other]], dtype=np.int64)


def _share_of_pairs(mine: SuggestedLabels, others: SuggestedLabels, pairs: IntArray) -> Estimate:
    one, other = pairs
    if not len(one):
        return undefined("no two people judged the same item so")
    same = (mine.grades[one] == others.grades[other]).astype(np.float64)
    weights = mine.weights[one] * others.weights[other]
    sums = _by_topic(mine.topics[one], weights * same, weights)
    n_items = len(np.unique(mine.items[one]))
    return _estimate(sums, lambda at: at[0] / at[1], _sample(sums[:, 1], n_items), within=SHARE)


# --- Means by arm, each topic left out in turn ----------------------------------------------------


def _mean(labels: SuggestedLabels, values: FloatArray, arm: int, *, within: Range) -> Estimate:
    rows = labels.arms == arm
    if not rows.any():
        return undefined("no labels")
    weights = labels.weights[rows]
    sums = _by_topic(labels.topics[rows], weights * values[rows], weights)
    return _estimate(sums, lambda at: at[0] / at[1], _sample(sums[:, 1], int(rows.sum()), "labels"), within=within)


def _difference(labels: SuggestedLabels, values: FloatArray, arm: int, *, within: Range) -> Estimate:
    return _effect(labels, values, arm, lambda at, none: at - none, within=within)


def _effect(
    labels: SuggestedLabels,
    values: FloatArray,
    arm: int,
    figure: Callable[[float, float], float],
    *,
    within: Range,
) -> Estimate:
    """Return a figure of the mean in the arm and the mean in *none*, as sure as the smaller of the two lets it be."""
    mine, none = labels.arms == arm, labels.arms == NONE
    if not mine.any() or not none.any():
        return undefined("no labels without a suggestion to compare with" if mine.any() else "no labels")
    weights = labels.weights
    columns = (weights * values * mine, weights * mine, weights * values * none, weights * none)
    sums = _by_topic(labels.topics, *columns)
    n = min(int(mine.sum()), int(none.sum()))
    sizes = np.bincount(np.unique(labels.topics, return_inverse=True)[1], weights=mine | none).astype(np.float64)

    def of(at: FloatArray) -> float:
        if at[1] <= 0 or at[3] <= 0:
            return np.nan
        return figure(at[0] / at[1], at[2] / at[3])

    return _estimate(sums, of, _sample(sizes, n, "labels"), within=within)


def _by_topic(topics: IntArray, *columns: FloatArray) -> FloatArray:
    """Return the columns' sums by topic, shape (topics, columns)."""
    of, places = np.unique(topics, return_inverse=True)
    return np.stack([np.bincount(places, weights=column, minlength=len(of)) for column in columns], axis=1)


def _sample(sizes: FloatArray, n_items: int, unit: str = "items") -> Sample:
    sizes = sizes[sizes > 0]
    return Sample(len(sizes), n_items, effective_number(sizes.tolist()), unit)


def _estimate(sums: FloatArray, figure: Callable[[FloatArray], float], sample: Sample, *, within: Range) -> Estimate:
    total = sums.sum(axis=0)
    value = figure(total)
    if not np.isfinite(value):
        return undefined("everybody agrees with the judge without a suggestion, so nobody can be pulled towards it")
    left = [figure(total - one) for one in sums] if len(sums) > 1 else []
    return interval(float(value), jackknife_error(left), sample, within=within)
