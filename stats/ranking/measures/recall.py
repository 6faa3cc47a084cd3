"""R@k."""

from __future__ import annotations

from stats.ranking.measures.ir_measures import FromIrMeasures


class Recall(FromIrMeasures):
    family = "R"
    describes = "share of the relevant passages that are among the first k"
    bounded_as = "R(rel=η)@100"
    of_all_relevant = True
    offers = {"R(rel=η)@{deepest}": 73}
    offers_to = "all"
