"""CRUX's coverage, of a context or a report."""

from __future__ import annotations

from stats.measures.crux import coverage
from stats.measures.scores import Score
from stats.ranking.measure_names import Asked
from stats.ranking.topic_scores import OfElements, TopicScorer


class OfSubQuestions(OfElements):
    """A measure of the sub-questions that can be answered: of passages by their rating, of reports by answerability."""

    leaves_out_unanswerable = True
    source = "CRUX, 2025"

    @property
    def needs(self) -> tuple[Asked, ...]:
        return (("answerability" if self.of_reports else "rating", ""),)


class Coverage(OfSubQuestions):
    family = "coverage"
    describes = "share of the sub-questions that can be answered which the first passages, or the report, answer"
    sums = frozenset({"coverage"})
    corrected_as = "coverage of reports"
    offers = {"coverage": 0, "coverage@10": 61, "coverage@oracle": 91}

    def score_top(self, topic: TopicScorer, top: list[str]) -> tuple[Score, int]:
        score = coverage(topic.table.of(top), topic.open, threshold=topic.minimum)
        return score, int(topic.open.sum())
