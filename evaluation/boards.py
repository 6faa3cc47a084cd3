"""Score tables of a measure, systems × topics, from one source's grades.

A measure is named as the field writes it: `coverage` of reports; `coverage@10`, `density@10`, `alpha-nDCG@10`,
`Cover@20>=3` and `KPR@10` of the first passages of a ranking; and whatever ir-measures knows, on qrels made of the
grades (a passage's label is its highest grade). `>=g` sets the grade from which something is answered; without it each
source's own threshold counts. In ir-measures' names `rel=η` (or `rel=eta`) stands for that threshold. Measures of
answers, as `answer_measures` names them, are not computed here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evaluation.answer_measures import ANSWER_GROUPS, group_of
from evaluation.measures.crux import alpha_ndcg, answerable, coverage, density, ideal_ranking
from evaluation.measures.grades import GradeTable
from evaluation.measures.long2rag import key_point_recall
from evaluation.measures.rubric import cover, qrels_from_grades
from evaluation.measures.scores import Score
from evaluation.measures.trec import evaluator, measure_cutoff, run_of, system_scores

OWN = re.compile(r"(?P<family>coverage|density|alpha-nDCG|Cover|KPR)(@(?P<k>[1-9]\d*))?(>=(?P<minimum>\d+(\.\d+)?))?")
DEFAULT_K = {"alpha-nDCG": 10, "Cover": 20}
NOT_JUDGED = "the source judged nothing of the topic"
ORACLE_NOT_JUDGED = "the source judged nothing of the oracle on the topic"
NO_REPORT = "the source judged no report of the system on the topic"

# By system and topic: the names of texts, best first.
Rankings = Mapping[str, Mapping[str, Sequence[str]]]


class BoardRefused(ValueError):
    """There is no such leaderboard; the message says why, and what there is."""


@dataclass(frozen=True)
class BoardMeasure:
    """A measure of systems. `cutoff` is None for reports and for what ir-measures cuts off itself."""

    name: str
    family: str
    cutoff: int | None = None
    minimum: float | None = None

    @property
    def of_qrels(self) -> bool:
        """Whether ir-measures computes it."""
        return self.family == "ir-measures"

    @property
    def of_answers(self) -> bool:
        """Whether it is one of `answer_measures`; its family is then its group there."""
        return self.family in ANSWER_GROUPS

    @property
    def of_reports(self) -> bool:
        """Whether it scores reports, not rankings."""
        return not self.of_qrels and self.cutoff is None

    @property
    def needs_texts(self) -> bool:
        return self.family == "density"


def parse_measure(name: str) -> BoardMeasure:
    """Return the measure of this name. Raises BoardRefused; names of ir-measures are checked when they are computed."""
    name = name.strip().replace("≥", ">=").replace(" ", "").replace("rel=eta", "rel=η")
    if not name:
        raise BoardRefused("Name a measure: coverage, Cover@20>=3, alpha-nDCG@10, nDCG@20, …")
    if group := group_of(name):
        return BoardMeasure(name, group)
    found = OWN.fullmatch(name)
    if found is None:
        return BoardMeasure(name, "ir-measures")
    family, minimum = found["family"], found["minimum"]
    cutoff = int(found["k"]) if found["k"] else DEFAULT_K.get(family)
    return BoardMeasure(name, family, cutoff, float(minimum) if minimum else None)


@dataclass(frozen=True)
class SourceGrades:
    """One source's grades by topic, texts × elements; relevance has one element.

    `threshold`: the grade from which a text answers. `graded`: whether the scale is finer than yes and no, so that a
    measure's own minimum makes sense.
    """

    tables: Mapping[str, GradeTable]
    threshold: float
    graded: bool = True

    def minimum(self, measure: BoardMeasure) -> float:
        """Return the grade from which something is answered under the measure."""
        return measure.minimum if measure.minimum is not None and self.graded else self.threshold


@dataclass(frozen=True)
class ScoredBoard:
    """A measure's scores, systems × topics, NaN where undefined.

    - `reasons`: why scores are undefined, and how many are for that reason.
    - `n_ungraded` of `n_asked`: judgments that the scores rest on (sub-questions, key points, or ranked passages) and
      that the source left without a grade or never made.
    """

    table: pd.DataFrame
    reasons: Mapping[str, int]
    n_ungraded: int
    n_asked: int

    @property
    def ungraded_share(self) -> float | None:
        return self.n_ungraded / self.n_asked if self.n_asked else None


def score_board(
    measure: BoardMeasure,
    grades: SourceGrades,
    rankings: Rankings,
    *,
    oracle: str | None = None,
    texts: Mapping[tuple[str, str], str] | None = None,
) -> ScoredBoard:
    """Score every system of the rankings on every topic of the grades.

    For a measure of reports a ranking holds the report's name alone. `oracle` is the system whose texts say what can
    be answered (Q of CRUX's eq. 3); without one that is, for rankings, whatever any judged passage of the topic
    answers, and for reports every sub-question. `texts`, by (topic, name), are needed for density. Raises BoardRefused.
    """
    if measure.of_qrels:
        return _qrels_board(measure, grades, rankings)
    if measure.needs_texts and (oracle is None or oracle not in rankings):
        raise BoardRefused("Density compares with an oracle: choose the run whose texts are the best there are.")
    cells: dict[str, list[float]] = {system: [] for system in rankings}
    reasons: Counter[str] = Counter()
    n_ungraded = n_asked = 0
    for topic, table in grades.tables.items():
        scorer = _TopicScorer(measure, table, grades.minimum(measure), topic, rankings, oracle, texts or {})
        for system, found in rankings.items():
            score, asked = scorer.score(found.get(topic, ()))
            cells[system].append(np.nan if score.value is None else score.value)
            if score.value is None:
                reasons[score.reason] += 1
            else:
                n_ungraded += score.ungraded
                n_asked += asked
    scores = pd.DataFrame.from_dict(cells, orient="index", columns=list(grades.tables), dtype=np.float64)
    return ScoredBoard(scores, dict(reasons), n_ungraded, n_asked)


class _TopicScorer:
    """Scores texts on one topic, with what all systems share computed once."""

    def __init__(
        self,
        measure: BoardMeasure,
        table: GradeTable,
        minimum: float,
        topic: str,
        rankings: Rankings,
        oracle: str | None,
        texts: Mapping[tuple[str, str], str],
    ) -> None:
        self.measure, self.table, self.minimum, self.topic, self.texts = measure, table, minimum, topic, texts
        judged = np.flatnonzero((~np.isnan(table.grades)).any(axis=1))
        self.judged = {table.passages[row] for row in judged}
        self.oracle_texts = rankings.get(oracle, {}).get(topic, ()) if oracle else ()
        self.open = self._answerable_elements()
        if measure.family == "alpha-nDCG":
            self.cutoff = measure.cutoff or DEFAULT_K[measure.family]
            rows = answerable(table.grades, threshold=minimum)
            self.answers: dict[str, list[bool]] = {
                text: row.tolist() for text, row in zip(table.passages, rows, strict=True) if text in self.judged
            }
            self.ideal = ideal_ranking(self.answers, cutoff=self.cutoff)

    def _answerable_elements(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Return Q: for reports every element, for rankings what the oracle's passages or, without one, any answer."""
        if self.measure.of_reports:
            return np.ones(len(self.table.elements), dtype=bool)
        rows = self.table.of(self.oracle_texts) if self.oracle_texts else self.table.grades
        return np.asarray(answerable(rows, threshold=self.minimum).any(axis=0))

    def score(self, ranking: Sequence[str]) -> tuple[Score, int]:
        """Return the score and of how many judgments it is made."""
        if not self.judged:
            return Score(None, NOT_JUDGED), 0
        if self.measure.of_reports and not self.judged.intersection(ranking):
            return Score(None, NO_REPORT), 0
        return SCORERS[self.measure.family](self, list(ranking)[: self.measure.cutoff])

    def coverage(self, top: list[str]) -> tuple[Score, int]:
        return coverage(self.table.of(top), self.open, threshold=self.minimum), int(self.open.sum())

    def cover(self, top: list[str]) -> tuple[Score, int]:
        return cover(self.table, top, k=len(top), minimum=self.minimum), len(self.table.elements)

    def density(self, top: list[str]) -> tuple[Score, int]:
        best = list(self.oracle_texts)[: self.measure.cutoff]
        if not self.judged.intersection(best):
            return Score(None, ORACLE_NOT_JUDGED), 0
        score = density(
            self.coverage(top)[0],
            [self.texts.get((self.topic, text), "") for text in top],
            self.coverage(best)[0],
            [self.texts.get((self.topic, text), "") for text in best],
        )
        return score, 2 * int(self.open.sum())

    def alpha_ndcg(self, top: list[str]) -> tuple[Score, int]:
        return alpha_ndcg(top, self.answers, cutoff=self.cutoff, ideal=self.ideal), len(top)

    def key_point_recall(self, top: list[str]) -> tuple[Score, int]:
        rows = self.table.of(top)
        found = answerable(rows, threshold=self.minimum).any(axis=0)
        missing = np.isnan(rows).any(axis=0)
        flags = [True if yes else None if unknown else False for yes, unknown in np.stack([found, missing], axis=1)]
        return key_point_recall(flags), len(flags)


SCORERS: dict[str, Callable[[_TopicScorer, list[str]], tuple[Score, int]]] = {
    "coverage": _TopicScorer.coverage,
    "Cover": _TopicScorer.cover,
    "density": _TopicScorer.density,
    "alpha-nDCG": _TopicScorer.alpha_ndcg,
    "KPR": _TopicScorer.key_point_recall,
}


def _qrels_board(measure: BoardMeasure, grades: SourceGrades, rankings: Rankings) -> ScoredBoard:
    name = measure.name.replace("η", f"{grades.threshold:g}")
    labels = {topic: qrels_from_grades(table) for topic, table in grades.tables.items()}
    qrels = {topic: found for topic, found in labels.items() if found}
    if not qrels:
        evaluator(name, {"topic": {"passage": 0}})
        table = pd.DataFrame(np.nan, index=list(rankings), columns=list(labels))
    else:
        runs = {
            system: {topic: run_of(ranking) for topic, ranking in found.items()} for system, found in rankings.items()
        }
        table = system_scores(name, qrels, runs).reindex(columns=list(labels))
    cutoff = measure_cutoff(name)
    n_unjudged = n_ranked = 0
    for found in rankings.values():
        for topic, judged in qrels.items():
            top = found.get(topic, ())[:cutoff]
            n_ranked += len(top)
            n_unjudged += sum(passage not in judged for passage in top)
    n_undefined = (len(labels) - len(qrels)) * len(rankings)
    return ScoredBoard(table, {NOT_JUDGED: n_undefined} if n_undefined else {}, n_unjudged, n_ranked)
