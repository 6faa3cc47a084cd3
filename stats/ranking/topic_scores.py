"""Scores of texts on one topic under CRUX's, RUBRIC's and LONG²RAG's measures, from a table of grades."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from stats.measures.crux import alpha_ndcg, answerable, coverage, density, ideal_ranking, oracle_answers
from stats.measures.grades import GradeTable
from stats.measures.long2rag import key_point_recall
from stats.measures.rubric import cover
from stats.measures.scores import Score
from stats.ranking.measure_names import SystemMeasure
from stats.ranking.oracle_contexts import Oracle, TokenCounts
from stats.ranking.qrels_scoring import NO_CONTEXT, NOT_JUDGED
from stats.ranking.unjudged import judged_share
from stats.ratings import BoolArray, FloatArray

ORACLE_NOT_JUDGED = "the source has no judgments of the oracle on the topic"
NO_REPORT = "the source has no judgment of a report of the system on the topic"


class TopicScorer:
    """Scores texts on one topic, with what all systems share computed once."""

    def __init__(
        self,
        measure: SystemMeasure,
        table: GradeTable,
        minimum: float,
        topic: str,
        oracle: Oracle | None,
        tokens: TokenCounts | None,
    ) -> None:
        self.measure, self.table, self.minimum, self.topic = measure, table, minimum, topic
        self.oracle, self.tokens = oracle, tokens or TokenCounts(measure.tokenizer)
        judged = np.flatnonzero((~np.isnan(table.grades)).any(axis=1))
        self.judged = {table.passages[row] for row in judged}
        self.context = list(oracle.contexts.get(topic, ())) if oracle else []
        self.cutoff = len(self.context) if measure.at_oracle else measure.cutoff
        self.open = self._answerable_elements()
        if measure.family == "alpha-nDCG":
            rows = answerable(table.grades, threshold=minimum)
            self.answers: dict[str, list[bool]] = {
                text: row.tolist() for text, row in zip(table.passages, rows, strict=True) if text in self.judged
            }
            self.ideal = ideal_ranking(self.answers, cutoff=self.cutoff or 0)

    def _answerable_elements(self) -> BoolArray:
        """Return Q: what the oracle's passages or, without them, any passage answers; for reports else every element.

        For reports the oracle's passages are judged apart, under a criterion of their own.
        """
        if self.measure.of_reports:
            elements = self.table.elements
            return self.oracle.answered(self.topic, elements) if self.oracle else np.ones(len(elements), dtype=bool)
        rows = self.table.of(self.context) if self.context else self.table.grades
        return oracle_answers(rows, threshold=self.minimum)

    @property
    def n_unanswerable(self) -> int:
        """How many of the topic's sub-questions the measure leaves out, as nothing answers them."""
        left_out = int((~self.open).sum())
        return left_out if self.judged and self.measure.family in ("coverage", "density") else 0

    def score(self, ranking: Sequence[str]) -> tuple[Score, int]:
        """Return the score and of how many judgments it is made."""
        if not self.judged:
            return Score(None, NOT_JUDGED), 0
        if self.measure.of_reports and not self.judged.intersection(ranking):
            return Score(None, NO_REPORT), 0
        if self.measure.needs_oracle and not self.context:
            return Score(None, NO_CONTEXT), 0
        return SCORERS[self.measure.family](self, list(ranking)[: self.cutoff])

    def judged_share(self, ranking: Sequence[str], asked: FloatArray | None) -> float:
        """Return the share of the grades of the first passages, or of the report, that are there; NaN where none is."""
        top = list(ranking)[: self.cutoff]
        if not self.judged or (self.measure.of_reports and not self.judged.intersection(top)):
            return float("nan")
        if not self.measure.of_reports:
            return judged_share(self.table, top, asked=asked)
        return float((~np.isnan(self.table.of(top)[:, self.open])).mean()) if self.open.any() else float("nan")

    def coverage(self, top: list[str]) -> tuple[Score, int]:
        return coverage(self.table.of(top), self.open, threshold=self.minimum), int(self.open.sum())

    def cover(self, top: list[str]) -> tuple[Score, int]:
        return cover(self.table, top, k=len(top), minimum=self.minimum), len(self.table.elements)

    def density(self, top: list[str]) -> tuple[Score, int]:
        """Against the whole of Z*, whatever the cutoff. It answers all of Q, which is made of what it answers."""
        if not self.measure.of_reports and not self.judged.intersection(self.context):
            return Score(None, ORACLE_NOT_JUDGED), 0
        of_reports = self.measure.of_reports
        counts = self.tokens.of_report(self.topic, top) if of_reports else self.tokens.of_context(top)
        covered, n_asked = self.coverage(top)
        everything = Score(1.0 if self.open.any() else 0.0)
        against = self.tokens.of_context(self.context)
        return density(covered, counts, everything, against, tokenizer=self.tokens.tokenizer), n_asked

    def alpha_ndcg(self, top: list[str]) -> tuple[Score, int]:
        return alpha_ndcg(top, self.answers, cutoff=self.cutoff or 0, ideal=self.ideal), len(top)

    def key_point_recall(self, top: list[str]) -> tuple[Score, int]:
        rows = self.table.of(top)
        found = answerable(rows, threshold=self.minimum).any(axis=0)
        missing = np.isnan(rows).any(axis=0)
        flags = [True if yes else None if unknown else False for yes, unknown in np.stack([found, missing], axis=1)]
        return key_point_recall(flags), len(flags)


SCORERS: dict[str, Callable[[TopicScorer, list[str]], tuple[Score, int]]] = {
    "coverage": TopicScorer.coverage,
    "Cover": TopicScorer.cover,
    "density": TopicScorer.density,
    "alpha-nDCG": TopicScorer.alpha_ndcg,
    "KPR": TopicScorer.key_point_recall,
}
