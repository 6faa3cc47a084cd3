"""Success@k and RR: where the first relevant passage stands."""

from __future__ import annotations

import numpy as np

from stats.ranking.measures.ir_measures import FromIrMeasures
from stats.ranking.qrels_scoring import Bound, Ranked
from stats.ratings import BoolArray


class OfTheFirst(FromIrMeasures):
    """A measure of the place of the first relevant passage."""

    def of_relevant(self, relevant: BoolArray) -> float:
        """Return the score of a ranking with these relevant."""
        raise NotImplementedError

    def bounds(self, ranked: Ranked) -> Bound:
        relevant, free, _, _ = ranked.relevant_from(self.relevant or 1)
        return self.of_relevant(relevant), self.of_relevant(relevant | free)


class ReciprocalRank(OfTheFirst):
    family = "RR"
    describes = "one over the place of the first relevant passage"
    bounded_as = "RR"
    offers = {"RR(rel=η)@{k}": 75}
    offers_to = "all"

    def of_relevant(self, relevant: BoolArray) -> float:
        places = np.flatnonzero(relevant)
        return 1 / (1 + int(places[0])) if len(places) else 0.0


class Success(OfTheFirst):
    family = "Success"
    describes = "whether any of the first k passages is relevant"
    bounded_as = "Success@5"

    def of_relevant(self, relevant: BoolArray) -> float:
        return float(relevant.any())
