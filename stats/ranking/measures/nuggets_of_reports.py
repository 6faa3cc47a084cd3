"""ARGUE: what a report answers rightly, and its F1 with how well its sentences are supported."""

from __future__ import annotations

from collections.abc import Set

from stats.ranking.answer_measures import OfAnswers
from stats.ranking.measure_names import Asked

SUPPORT = ("citation_support", "citation_support")
# A rater's first one of these says which nuggets a report answers.
ANSWERED = (("sentence_nugget", "answers"), ("nugget", "support"), ("answerability", "answerability"))


class NuggetsOfReports(OfAnswers):
    family = "nuggets of reports"
    source = "ARGUE, SIGIR 2024; Auto-ARGUE, 2025"
    meanings = {
        "argue-nugget-coverage": "share of the topic’s nuggets that the report answers rightly",
        "argue-nugget-coverage-weighted": "share of the topic’s nuggets that the report answers rightly; a vital one "
        "counts 2, any other 1",
        "argue-f1": "harmonic mean of sentence support and nugget coverage, report by report",
        "argue-f1-weighted": "harmonic mean of sentence support and weighted nugget coverage, report by report",
    }
    leaves_out = withholds = first_question_counts = True
    offers = dict.fromkeys(meanings, 12)

    @property
    def needs(self) -> tuple[Asked, ...]:
        return ANSWERED if "coverage" in self.name else (SUPPORT,)

    def judged_by(self, judged: Set[Asked]) -> bool:
        """What whole reports answer is ARGUE’s where citations are judged too."""
        if "coverage" in self.name and ANSWERED[0] in judged:
            return True
        return SUPPORT in judged and not judged.isdisjoint(ANSWERED)
