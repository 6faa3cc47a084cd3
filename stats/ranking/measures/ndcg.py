"""nDCG, as trec_eval has it: gains are the grades."""

from __future__ import annotations

import numpy as np

from stats.ranking.measures.ir_measures import FromIrMeasures
from stats.ranking.qrels_scoring import Bound, Ranked
from stats.ratings import FloatArray, IntArray
from stats.rounding import rounded

MOST_STEPS = 100


class Ndcg(FromIrMeasures):
    family = "nDCG"
    describes = "discounted sum of grades, over that of the best order"
    source = "Järvelin and Kekäläinen, 2002; ir-measures"
    bounded_as = "nDCG@10"
    corrected_as = "nDCG"
    ratio = "nDCG"
    offers = {"nDCG@{k}": 70}

    def bounds(self, ranked: Ranked) -> Bound:
        grades, free, known, highest = ranked.grades, ranked.free, ranked.known, ranked.highest
        discounts = 1 / np.log2(np.arange(len(grades)) + 2)
        low = float((grades * discounts).sum())
        size = self.cutoff or max(len(known) + int(free.sum()) + ranked.n_elsewhere, 1)
        ideal = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(size) + 2))])
        layers = np.arange(1, max(highest, known.max(initial=0)) + 1)
        n_known = (known[:, None] >= layers).sum(axis=0)
        gained = ((grades[:, None] >= layers) * discounts[:, None]).sum(axis=0)
        return (
            _lowest_ndcg(low, discounts[free][::-1], n_known, ideal, ranked.n_elsewhere, highest),
            _highest_ndcg(gained, discounts[free], n_known, ideal, highest),
        )


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
