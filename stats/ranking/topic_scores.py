"""Scores of texts on one topic by a table of grades: what measures of texts and elements have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stats.measures.crux import answerable, ideal_ranking, oracle_answers
from stats.measures.grades import GradeTable
from stats.measures.scores import Score
from stats.ranking.measure_names import SystemMeasure
from stats.ranking.oracle_contexts import Oracle, TokenCounts
from stats.ranking.qrels_scoring import NO_CONTEXT, NOT_JUDGED
from stats.ranking.unjudged import judged_share
from stats.ratings import BoolArray, FloatArray

NO_REPORT = "the source has no judgment of a report of the system on the topic"


class OfElements(SystemMeasure):
    """A measure of a table of grades, texts × sub-questions or key points, topic by topic."""

    def score_top(self, topic: TopicScorer, top: list[str]) -> tuple[Score, int]:
        """Return the score of these texts on the topic, and of how many judgments it is made."""
        raise NotImplementedError


@dataclass(frozen=True)
class TopicScorer:
    """Scores texts on one topic, with what all systems share computed once. `minimum`: the grade that answers."""

    measure: OfElements
    table: GradeTable
    minimum: float
    topic: str
    oracle: Oracle | None
    tokens: TokenCounts

    @cached_property
    def judged(self) -> set[str]:
        """The texts with any grade."""
        return {self.table.passages[row] for row in np.flatnonzero((~np.isnan(self.table.grades)).any(axis=1))}

    @cached_property
    def context(self) -> list[str]:
        """The oracle's passages."""
        return list(self.oracle.contexts.get(self.topic, ())) if self.oracle else []

    @cached_property
    def cutoff(self) -> int | None:
        return len(self.context) if self.measure.at_oracle else self.measure.cutoff

    @cached_property
    def open(self) -> BoolArray:
        """Q: what the oracle's passages or, without them, any passage answers; for reports else every element.

        For reports the oracle's passages are judged apart, under a criterion of their own.
        """
        if self.measure.of_reports:
            elements = self.table.elements
            return self.oracle.answered(self.topic, elements) if self.oracle else np.ones(len(elements), dtype=bool)
        rows = self.table.of(self.context) if self.context else self.table.grades
        return oracle_answers(rows, threshold=self.minimum)

    @cached_property
    def answers(self) -> dict[str, list[bool]]:
        """Which elements each judged text answers."""
        rows = answerable(self.table.grades, threshold=self.minimum)
        return {text: row.tolist() for text, row in zip(self.table.passages, rows, strict=True) if text in self.judged}

    @cached_property
    def ideal(self) -> list[str]:
        """The texts in α-nDCG's best order."""
        return ideal_ranking(self.answers, cutoff=self.cutoff or 0)

    @property
    def n_unanswerable(self) -> int:
        """How many of the topic's sub-questions the measure leaves out, as nothing answers them."""
        return int((~self.open).sum()) if self.judged and self.measure.leaves_out_unanswerable else 0

    def score(self, ranking: Sequence[str]) -> tuple[Score, int]:
        """Return the score and of how many judgments it is made."""
        if not self.judged:
            return Score(None, NOT_JUDGED), 0
        if self.measure.of_reports and not self.judged.intersection(ranking):
            return Score(None, NO_REPORT), 0
        if self.measure.needs_oracle and not self.context:
            return Score(None, NO_CONTEXT), 0
        return self.measure.score_top(self, list(ranking)[: self.cutoff])

    def judged_share(self, ranking: Sequence[str], asked: FloatArray | None) -> float:
        """Return the share of the grades of the first passages, or of the report, that are there; NaN where none is."""
        top = list(ranking)[: self.cutoff]
        if not self.judged or (self.measure.of_reports and not self.judged.intersection(top)):
            return float("nan")
        if not self.measure.of_reports:
            return judged_share(self.table, top, asked=asked)
        return float((~np.isnan(self.table.of(top)[:, self.open])).mean()) if self.open.any() else float("nan")
