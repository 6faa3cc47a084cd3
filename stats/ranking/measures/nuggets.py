"""The nugget scores of TREC RAG."""

from __future__ import annotations

from stats.ranking.answer_measures import OfAnswers


class Nuggets(OfAnswers):
    family = "nuggets"
    source = "TREC 2024 RAG (Pradeep et al., 2024)"
    meanings = {
        "nuggets-vital": "share of the vital nuggets that the answer contains; partly counts as half",
        "nuggets-all": "share of all nuggets that the answer contains; partly counts as half",
        "nuggets-weighted": "credit of all nuggets, of which a vital one weighs 1 and any other ½; partly counts as "
        "half",
        "nuggets-strict-vital": "share of the vital nuggets that the answer contains fully",
        "nuggets-strict-all": "share of all nuggets that the answer contains fully",
        "nuggets-strict-weighted": "weight of the nuggets that the answer contains fully: a vital one 1, any other ½",
    }
    questions = (("nugget", "support"),)
    withholds = True
    sums = frozenset(meanings)
    corrected_as = "nuggets with stated importance"
    offers = dict.fromkeys(meanings, 10)
