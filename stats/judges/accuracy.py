"""How often a judge says yes or no as an annotator does, averaged over annotators (LONG²RAG's accuracy of its judge).

Qi et al., LONG²RAG (Findings of EMNLP 2024), 6.2: two annotators check the judge's answer in 180 cases, and the
“average accuracy rate” is 87 %. So the agreement with each annotator is found first, each annotator counting once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stats.intervals import SHARE, Sample, effective_number, interval, jackknife_error
from stats.pattern_intervals import MOST_LEFT_OUT, SEED, Estimate, undefined
from stats.ratings import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class MeanAccuracy:
    """The mean over `n_raters` annotators, those who judged any of the items; the estimate's sample counts items."""

    estimate: Estimate
    n_raters: int

    def as_dict(self) -> dict[str, Any]:
        """Return the estimate as JSON has it, with the number of annotators."""
        return {**self.estimate.as_dict(), "n_raters": self.n_raters}


def mean_accuracy(same: BoolArray, judged: BoolArray, topics: IntArray | None) -> MeanAccuracy:
    """Return the mean over annotators of the share of their items on which the judge says the same.

    `same`, `judged`: items × annotators, whether the judge says the same and whether the annotator judged the item; a
    reply without a grade says nothing, so it is not the same. `topics`, shape (items,), are what is left out for the
    interval, else items are; an annotator without items in what remains has no say in it.
    """
    rows = np.flatnonzero(judged.any(axis=1))
    n_raters = int(judged.any(axis=0).sum())
    if not len(rows):
        return MeanAccuracy(undefined("no item was graded by people"), 0)
    drawn = np.arange(len(rows)) if topics is None else np.unique(topics[rows], return_inverse=True)[1]
    sizes = np.bincount(drawn).astype(np.float64)
    groups = _groups(len(sizes))[drawn]
    n_judged = _by_group(judged[rows], groups)
    n_same = _by_group(judged[rows] & same[rows], groups)
    value = float(_mean_share(n_same.sum(axis=0), n_judged.sum(axis=0)))
    left = _mean_share(n_same.sum(axis=0) - n_same, n_judged.sum(axis=0) - n_judged)
    sample = Sample(
        n_topics=None if topics is None else len(sizes), n_items=len(rows), effective=effective_number(sizes.tolist())
    )
    return MeanAccuracy(interval(value, jackknife_error(left.tolist()), sample, within=SHARE, n=len(rows)), n_raters)


def _groups(n: int) -> IntArray:
    """Return the group that each topic or item is left out with: a random one of a thousand where they are more."""
    if n <= MOST_LEFT_OUT:
        return np.arange(n)
    return np.random.default_rng(SEED).permutation(n) % MOST_LEFT_OUT


def _by_group(counted: BoolArray, groups: IntArray) -> FloatArray:
    """Count each annotator's items by group: groups × annotators."""
    return np.stack([np.bincount(groups, weights=column) for column in counted.T], axis=1)


def _mean_share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return the mean over the last axis of part / whole, without those whose whole is 0; NaN where all are."""
    shares = np.zeros(whole.shape)
    np.divide(part, whole, out=shares, where=whole > 0)
    n = (whole > 0).sum(axis=-1)
    return np.asarray(np.where(n > 0, shares.sum(axis=-1) / np.maximum(n, 1), np.nan))
