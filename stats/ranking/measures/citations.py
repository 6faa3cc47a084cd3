"""How well citations support sentences."""

from __future__ import annotations

from stats.ranking.answer_measures import OfAnswers


class Citations(OfAnswers):
    family = "citations"
    source = "TREC 2024 RAG; ARGUE, SIGIR 2024"
    meanings = {
        "citation-precision": "mean support of the judged citations: full 1, partial ½",
        "citation-recall": "mean over all sentences of the support of their best judged citation; 0 where a sentence "
        "cites nothing",
        "citation-support": "share of the judged citations that support their sentence fully",
        "sentence-support": "share of the sentences, with a citation or in need of one, that each judged citation "
        "supports fully",
        "citation-precision(first)": "mean support of the judged first citations: full 1, partial ½",
        "citation-recall(first)": "mean over all sentences of the support of their first citation; 0 where a sentence "
        "cites nothing",
    }
    questions = (("citation_support", "citation_support"),)
    leaves_out = True
    sums = frozenset({"citation-precision", "citation-support"})
    corrected_as = "precision and support of citations"
    offers = dict.fromkeys(meanings, 11)
