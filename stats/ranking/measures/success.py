"""Success@k and RR: where the first relevant passage stands."""

from __future__ import annotations

from stats.ranking.measures.ir_measures import FromIrMeasures


class ReciprocalRank(FromIrMeasures):
    family = "RR"
    describes = "one over the place of the first relevant passage"
    bounded_as = "RR"
    offers = {"RR(rel=η)@{k}": 75}
    offers_to = "all"


class Success(FromIrMeasures):
    family = "Success"
    describes = "whether any of the first k passages is relevant"
    bounded_as = "Success@5"
