"""CLAPNQ: grades of answers."""

from __future__ import annotations

from collections.abc import Set
from typing import Literal

from stats.intervals import SHARE, UNBOUNDED, Range
from stats.ranking.answer_measures import OfAnswers
from stats.ranking.measure_names import Asked


class Ratings(OfAnswers):
    family = "ratings"
    source = "CLAPNQ, 2024, section 5"
    meanings = {
        "natural": "mean grade: fluent and natural",
        "appropriate": "mean grade, over answerable questions: answers what is asked",
        "faithful": "mean grade, over answerable questions: fully supported by the passage",
        "F+A": "harmonic mean of one rater’s faithful and appropriate, averaged over answerable questions",
        "unknown": "share of answers that say they do not know. More is not better",
        "incoherent": "share of answers that are irrelevant or incoherent. More is worse",
    }
    leaves_out = True
    sums = frozenset(meanings)
    corrected_as = "ratings"
    offers = dict.fromkeys(meanings, 20)

    @property
    def needs(self) -> tuple[Asked, ...]:
        return (("answer_evaluation", self.criteria[0]),)

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria that it is made of."""
        return ("faithful", "appropriate") if self.name == "F+A" else (self.name,)

    @property
    def of_answerable(self) -> bool:
        """Whether it is over answerable questions alone."""
        return self.name in ("appropriate", "faithful", "F+A")

    @property
    def direction(self) -> Literal["more", "less", ""]:
        return "less" if self.name == "incoherent" else "" if self.name == "unknown" else "more"

    @property
    def within(self) -> Range:
        return SHARE if self.name in ("unknown", "incoherent") else UNBOUNDED

    def judged_by(self, judged: Set[Asked]) -> bool:
        return all(("answer_evaluation", criterion) in judged for criterion in self.criteria)
