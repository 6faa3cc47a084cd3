"""How low and how high a measure could be, whatever the grades of what has no label.

A passage without a label counts as not relevant. What a system's score on a topic could be if the passages of a set had
any grade from 0 to the highest is bounded here for each measure: the lower bound is reached, and so is the upper one
but of nDCG, which lies at or below it. A bound of P@k, DCG@k, RR and Success@k is the score with none, or all, of the
unlabelled relevant (Moffat and Zobel, Rank-Biased Precision, TOIS 2008, section 3, call their distance the residual).
R@k, AP and nDCG divide by what is relevant in the whole topic: they are lowest where what a system ranks low, and all
that it does not rank, is relevant. A mean's bounds are the means of the bounds, since topics have nothing in common.

Gains of nDCG and DCG are the grades, as trec_eval has them; a negative grade gains nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stats.measures.score_bounds import ScoreBounds
from stats.measures.trec import UnknownMeasure, parsed_measure
from stats.ranking.qrels_scoring import Labels, QrelsMeasure
from stats.ranking.sampled_labels import Rankings
from stats.ratings import BoolArray, FloatArray, IntArray
from stats.rounding import rounded

if TYPE_CHECKING:
    pass

FAMILIES = ("P", "R", "RR", "Success", "AP", "nDCG", "DCG")
Bound = tuple[float, float]
MOST_STEPS = 100


def check_bounded(measure: QrelsMeasure) -> None:
    """Raise UnknownMeasure for a measure whose bounds are not known."""
    named = {} if measure.family == "DCG" else parsed_measure(measure.name.removesuffix("@oracle")).params
    usual = set(named) <= {"rel", "cutoff"} and (measure.relevant is None or measure.relevant >= 1)
    if measure.family not in FAMILIES or measure.at_oracle or not usual:
        listed = ", ".join(("P(rel=η)@10", "R(rel=η)@100", "RR", "Success@5", "AP(rel=η)", "nDCG@10", "DCG@10"))
        raise UnknownMeasure(f"The bounds of “{measure.name}” are not known. Choose from measures such as {listed}.")


def bound_scores(
    measure: QrelsMeasure, labels: Labels, rankings: Rankings, unlabelled: Mapping[str, Set[str]], *, highest: int
) -> ScoreBounds:
    """Return the bounds of every system's score on every topic of the labels. Raises UnknownMeasure.

    `unlabelled` has by topic the passages that may have any grade from 0 to the `highest`; whatever else has no label
    is not relevant.
    """
    import pandas as pd

    check_bounded(measure)
    cells: dict[str, list[Bound]] = {system: [] for system in rankings}
    for topic, known in labels.items():
        of_topic = _Topic.of(measure, known, unlabelled.get(topic, frozenset()), highest)
        for system, found in rankings.items():
            cells[system].append(of_topic.bounds(found.get(topic, ())[: measure.cutoff]))
    low, high = (
        pd.DataFrame.from_dict(
            {system: [bound[side] for bound in row] for system, row in cells.items()},
            orient="index",
            columns=list(labels),
            dtype=np.float64,
        )
        for side in (0, 1)
    )
    return ScoreBounds(low, high)


@dataclass(frozen=True)
class _Topic:
    """A topic's labels and passages without one, as a measure sees them."""

    measure: QrelsMeasure
    known: Mapping[str, int]
    unlabelled: Set[str]
    highest: int

    @classmethod
    def of(cls, measure: QrelsMeasure, known: Mapping[str, int], unlabelled: Set[str], highest: int) -> _Topic:
        return cls(measure, known, unlabelled - known.keys(), highest)

    def bounds(self, top: Sequence[str]) -> Bound:
        """Return the lowest and the highest score of a ranking that is cut already."""
        family, least = self.measure.family, self.measure.relevant or 1
        grades = np.array([max(self.known.get(docno, 0), 0) for docno in top], dtype=np.int64)
        free = np.array([docno in self.unlabelled for docno in top], dtype=bool)
        if family in ("nDCG", "DCG"):
            return self._of_gains(grades, free)
        relevant = grades >= least
        if self.highest < least:
            free = np.zeros(len(top), dtype=bool)
        n_known = sum(grade >= least for grade in self.known.values())
        n_elsewhere = len(self.unlabelled) - int(free.sum()) if self.highest >= least else 0
        either = relevant | free
        match family:
            case "P":
                assert self.measure.cutoff
                return relevant.sum() / self.measure.cutoff, either.sum() / self.measure.cutoff
            case "Success":
                return float(relevant.any()), float(either.any())
            case "RR":
                return _reciprocal_rank(relevant), _reciprocal_rank(either)
            case "R":
                return (
                    _share(relevant.sum(), n_known + n_elsewhere),
                    _share(either.sum(), n_known + int(free.sum())),
                )
        return _average_precision(relevant, free, n_known, n_elsewhere)

    def _of_gains(self, grades: IntArray, free: BoolArray) -> Bound:
        discounts = 1 / np.log2(np.arange(len(grades)) + 2)
        low = float((grades * discounts).sum())
        if self.measure.family == "DCG":
            return low, low + float(self.highest * discounts[free].sum())
        size = self.measure.cutoff or max(len(self.known) + len(self.unlabelled), 1)
        ideal = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(size) + 2))])
        known = np.array([max(grade, 0) for grade in self.known.values()], dtype=np.int64)
        layers = np.arange(1, max(self.highest, known.max(initial=0)) + 1)
        n_known = (known[:, None] >= layers).sum(axis=0)
        gained = ((grades[:, None] >= layers) * discounts[:, None]).sum(axis=0)
        n_elsewhere = len(self.unlabelled) - int(free.sum())
        return (
            _lowest_ndcg(low, discounts[free][::-1], n_known, ideal, n_elsewhere, self.highest),
            _highest_ndcg(gained, discounts[free], n_known, ideal, self.highest),
        )


def _share(n: int, of: int) -> float:
    return float(n / of) if of else 0.0


def _reciprocal_rank(relevant: BoolArray) -> float:
    places = np.flatnonzero(relevant)
    return 1 / (1 + int(places[0])) if len(places) else 0.0


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


def _lowest_ndcg(
    gained: float, last: FloatArray, n_known: IntArray, ideal: FloatArray, n_elsewhere: int, highest: int
) -> float:
    """Return the least nDCG. `last`: the discounts of the free places, from the bottom.

    As a function of the grades nDCG is a linear over a convex function, so it is least where each is 0 or the highest;
    of as many relevant ones the last gain least.
    """
    n = np.arange(len(last) + 1)
    gains = gained + highest * np.concatenate([[0.0], np.cumsum(last)])
    most = len(ideal) - 1
    ideals = np.zeros(len(n))
    for layer, of_layer in enumerate(n_known.tolist(), start=1):
        added = n + n_elsewhere if layer <= highest else 0
        ideals += ideal[np.minimum(of_layer + added, most)]
    return float(np.divide(gains, ideals, out=np.zeros(len(n)), where=ideals > 0).min())


def _highest_ndcg(gained: FloatArray, first: FloatArray, n_known: IntArray, ideal: FloatArray, highest: int) -> float:
    """Return a bound of the most nDCG. `gained` by layer, `first`: the discounts of the free places, from the top.

    Gain and ideal gain are sums over layers (grade ≥ 1, ≥ 2, …) of passages that reach it. In each layer as many of the
    free may reach it as make the ratio largest, as if they need not reach the layer below: so this is a bound. The
    largest ratio is found as Dinkelbach does (On Nonlinear Fractional Programming, Management Science 13, 1967).
    """
    most = len(ideal) - 1
    taken = np.concatenate([[0.0], np.cumsum(first)])
    n = np.arange(len(taken))
    gains = gained[:, None] + np.where(np.arange(1, len(gained) + 1)[:, None] <= highest, taken, 0.0)
    ideals = ideal[np.minimum(n_known[:, None] + n, most)]
    ratio, layers = 0.0, np.arange(len(gained))
    for _ in range(MOST_STEPS):
        best = (gains - ratio * ideals).argmax(axis=1)
        of_all = float(ideals[layers, best].sum())
        found = float(gains[layers, best].sum()) / of_all if of_all else 0.0
        if rounded(found) <= rounded(ratio):
            break
        ratio = found
    return min(max(ratio, found), 1.0) if len(gained) else 0.0
