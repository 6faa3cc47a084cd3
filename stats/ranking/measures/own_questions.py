"""Reports under a researcher's own question: the mean grade, and the share of grades that count as positive."""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Literal, Self

from stats.intervals import SHARE, UNBOUNDED, Range
from stats.ranking.answer_measures import OfAnswers
from stats.ranking.measure_names import Asked

# What is asked of raters, whatever the question's name: a report, its sentences or its citations, without elements.
OF_REPORTS = "own question about reports"
NAMED = re.compile(r"(?P<what>mean|share)\((?P<criterion>[a-z][a-z0-9_-]*)\)")


class OwnQuestion(OfAnswers):
    """`mean(toxicity)`: grades of a report under this criterion, or of its sentences or citations."""

    family = "own questions"
    source = "a researcher's own question"
    meanings = {
        "mean(c)": "mean grade of a report, or of its sentences or citations, under the criterion c of an own question",
        "share(c)": "share of these grades that are positive: at least the criterion’s threshold",
    }
    leaves_out = True

    @classmethod
    def parse(cls, name: str) -> Self | None:
        return cls(name) if NAMED.fullmatch(name) else None

    @property
    def criterion(self) -> str:
        return str(NAMED.fullmatch(self.name)["criterion"])  # type: ignore[index]  # `parse` has seen it

    @property
    def of_positives(self) -> bool:
        """Whether it is the share of positive grades, not their mean."""
        return self.name.startswith("share")

    @property
    def needs(self) -> tuple[Asked, ...]:
        return ((OF_REPORTS, self.criterion),)

    @property
    def meaning(self) -> str:
        return self.meanings["share(c)" if self.of_positives else "mean(c)"]

    @property
    def direction(self) -> Literal["more", "less", ""]:
        return ""  # nobody but the researcher knows whether more is better

    @property
    def within(self) -> Range:
        return SHARE if self.of_positives else UNBOUNDED

    def judged_by(self, judged: Set[Asked]) -> bool:
        return (OF_REPORTS, self.criterion) in judged
