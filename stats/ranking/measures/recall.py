"""R@k."""

from __future__ import annotations

from stats.ranking.measures.ir_measures import FromIrMeasures
from stats.ranking.qrels_scoring import Bound, Ranked


class Recall(FromIrMeasures):
    """Lowest where what a system does not rank is relevant, and highest where all that it ranks is."""

    family = "R"
    describes = "share of the relevant passages that are among the first k"
    bounded_as = "R(rel=η)@100"
    of_all_relevant = True
    offers = {"R(rel=η)@{deepest}": 73}
    offers_to = "all"

    def bounds(self, ranked: Ranked) -> Bound:
        relevant, free, n_known, n_elsewhere = ranked.relevant_from(self.relevant or 1)
        n, n_free = int(relevant.sum()), int(free.sum())
        return _share(n, n_known + n_elsewhere), _share(n + n_free, n_known + n_free)


def _share(n: int, of: int) -> float:
    return n / of if of else 0.0
