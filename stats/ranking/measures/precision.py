"""P@k."""

from __future__ import annotations

from stats.ranking.measures.ir_measures import FromIrMeasures


class Precision(FromIrMeasures):
    family = "P"
    describes = "share of the first k passages that are relevant"
    bounded_as = "P(rel=η)@10"
    corrected_as = "P@k"
    offers = {"P(rel=η)@{k}": 71}

    def weights(self, size: int) -> list[float]:
        return [1.0] * size

    def divisor(self, size: int) -> float:
        return size
