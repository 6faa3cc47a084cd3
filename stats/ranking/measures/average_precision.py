"""AP."""

from __future__ import annotations

from stats.ranking.measures.ir_measures import FromIrMeasures


class AveragePrecision(FromIrMeasures):
    family = "AP"
    describes = "mean, over all relevant passages, of the precision at their places"
    bounded_as = "AP(rel=η)"
    corrected_as = "AP"
    ratio = "AP"
    of_all_relevant = True
    offers = {"AP(rel=η)": 74}
