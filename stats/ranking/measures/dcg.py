"""DCG@k, which ir-measures lacks: the numerator of trec_eval's nDCG."""

from __future__ import annotations

from stats.intervals import UNBOUNDED
from stats.ranking.qrels_scoring import QrelsMeasure, discount


class Dcg(QrelsMeasure):
    family = "DCG"
    options = r"@(?P<k>[1-9]\d*|oracle)"
    describes = "sum of grades over log2(place + 1)"
    source = "Järvelin and Kekäläinen, 2002"
    range = UNBOUNDED
    bounded_as = "DCG@10"
    corrected_as = "DCG@k"
    offers = {"DCG@{k}": 72}
    offers_to = "sample"

    def weights(self, size: int) -> list[float]:
        return [discount(place) for place in range(size)]
