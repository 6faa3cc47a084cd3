"""LONG²RAG: key point recall, precision and F1 of answers."""

from __future__ import annotations

from stats.ranking.answer_measures import OfAnswers


class KeyPoints(OfAnswers):
    family = "key points"
    source = "LONG²RAG, 2024"
    meanings = {
        "KPR": "share of the question’s key points that the answer contains",
        "KPP": "share of the answer’s own key points that the documents contain",
        "KPF": "harmonic mean of KPR and KPP, question by question",
    }
    questions = (("key_point", "grounded"),)
    facts = {"KPR": ("points of answers",), "KPP": ("own points",), "KPF": ("points of answers", "own points")}
    withholds = True
    sums = frozenset({"KPR"})
    corrected_as = "KPR"
    offers = {"KPR": 1, "KPP": 2, "KPF": 3}
