"""nDCG, as trec_eval has it: gains are the grades."""

from __future__ import annotations

from stats.ranking.measures.ir_measures import FromIrMeasures


class Ndcg(FromIrMeasures):
    family = "nDCG"
    describes = "discounted sum of grades, over that of the best order"
    source = "Järvelin and Kekäläinen, 2002; ir-measures"
    bounded_as = "nDCG@10"
    corrected_as = "nDCG"
    ratio = "nDCG"
    offers = {"nDCG@{k}": 70}
