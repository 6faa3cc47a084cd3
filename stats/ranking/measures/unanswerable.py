"""CLAPNQ: whether an answer to an unanswerable question says so."""

from __future__ import annotations

from stats.ranking.answer_measures import OfAnswers


class Unanswerable(OfAnswers):
    family = "unanswerable"
    source = "CLAPNQ, 2024, section 4"
    meanings = {"unanswerable": "share of unanswerable questions whose answer says so"}
    questions = (("answer_evaluation", "unknown"),)
    of_texts_too = True
    offers = {"unanswerable": 21}
