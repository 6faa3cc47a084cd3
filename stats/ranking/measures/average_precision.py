"""AP."""

from __future__ import annotations

import numpy as np

from stats.ranking.measures.ir_measures import FromIrMeasures
from stats.ranking.qrels_scoring import Bound, Ranked
from stats.ratings import BoolArray, FloatArray, IntArray


class AveragePrecision(FromIrMeasures):
    family = "AP"
    describes = "mean, over all relevant passages, of the precision at their places"
    bounded_as = "AP(rel=η)"
    corrected_as = "AP"
    ratio = "AP"
    of_all_relevant = True
    offers = {"AP(rel=η)": 74}

    def bounds(self, ranked: Ranked) -> Bound:
        return _average_precision(*ranked.relevant_from(self.relevant or 1))


def _average_precision(relevant: BoolArray, free: BoolArray, n_known: int, n_elsewhere: int) -> Bound:
    """Return the bounds of AP: the least where the last of the free are relevant, the most where the first are.

    For any number of them a relevant passage further up never makes the sum of precisions less.
    """
    inverse = 1 / np.arange(1, len(relevant) + 1)
    before: IntArray = np.cumsum(relevant) - relevant
    known = float(((before + 1) * inverse)[relevant].sum())
    # Taken from the top: all the free above are relevant too; those known below move up by one.
    freed_before: IntArray = np.cumsum(free) - free
    known_below = _sum_below(inverse * relevant)
    added = ((before + freed_before + 1) * inverse + known_below)[free]
    sums = known + np.concatenate([[0.0], np.cumsum(added)])
    n_relevant = n_known + np.arange(len(sums))
    high = float(np.divide(sums, n_relevant, out=np.zeros(len(sums)), where=n_relevant > 0).max())
    # Taken from the bottom: none of the free above is relevant; those below are.
    below = _sum_below(inverse * (relevant | free))
    added = ((before + 1) * inverse + below)[free][::-1]
    sums = known + np.concatenate([[0.0], np.cumsum(added)])
    n_relevant = n_known + n_elsewhere + np.arange(len(sums))
    low = np.divide(sums, n_relevant, out=np.zeros(len(sums)), where=n_relevant > 0)
    return float(low.min()), high


def _sum_below(values: FloatArray) -> FloatArray:
    """Return for each place the sum of the values below it."""
    return np.asarray(values.sum() - np.cumsum(values), dtype=np.float64)
