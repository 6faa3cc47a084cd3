"""CLAPNQ: answers held against references."""

from __future__ import annotations

from collections.abc import Set
from typing import Literal

from stats.intervals import SHARE, UNBOUNDED, Range
from stats.ranking.answer_measures import OfAnswers
from stats.ranking.measure_names import Asked


class Texts(OfAnswers):
    family = "texts"
    source = "CLAPNQ, 2024, section 4; Lin, 2004"
    meanings = {
        "ROUGE-L": "ROUGE-L F1 with the best-matching reference",
        "ROUGE-1-recall": "share of the reference’s words that the answer contains, for the reference with the best "
        "ROUGE-1 F1",
        "ROUGE-L-passage": "ROUGE-L F1 with the passage and its title: how extractive the answer is. More is not "
        "better",
        "length": "characters of the answers to answerable questions. More is not better",
    }
    of_texts_too = True
    offers = dict.fromkeys(meanings, 31)

    @property
    def direction(self) -> Literal["more", "less", ""]:
        return "" if self.name in ("ROUGE-L-passage", "length") else "more"

    @property
    def within(self) -> Range:
        return UNBOUNDED if self.name == "length" else SHARE

    def judged_by(self, judged: Set[Asked]) -> bool:
        """Where answers were judged or written, references are at hand."""
        return any(kind in ("answer_evaluation", "written_answer") for kind, _ in judged)
