"""RUBRIC: systems by how well a topic's rubric questions are addressed in what they return.

Source: Farzi and Dietz, TREMA-UNH at TREC: RAG Systems and RUBRIC-style Evaluation (2024), section 6.3. Grades are
ordinal, 0–5, of the shape passages × questions; NaN is ungraded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stats.measures.grades import GradeTable
from stats.measures.scores import Score, Setting
from stats.ratings import BoolArray
from stats.rounding import rounded


def cover(table: GradeTable, ranking: Sequence[str], *, k: int = 20, minimum: float = 4) -> Score:
    """Return Cover@k ≥ g: the share of a topic's questions that the top k passages answer at grade g or better.

    `ranking` lists passages, best first; `minimum` is g. Every question of the table counts, answerable or not; an
    empty ranking covers 0. `ungraded` counts the questions that nothing answers and at least one grade is missing for.
    """
    settings: dict[str, Setting] = {"k": k, "minimum": minimum}
    if not table.elements:
        return Score(None, "The rubric has no questions.", settings=settings)
    top = table.of(ranking[:k])
    answered = (top >= minimum).any(axis=0)
    ungraded = int((~answered & np.isnan(top).any(axis=0)).sum())
    return Score(float(answered.mean()), ungraded=ungraded, settings=settings)


def qrels_from_grades(table: GradeTable) -> dict[str, int]:
    """Return the label of each passage: its highest grade on any question (section 6.3.2).

    A passage without any readable grade has no label: it is a hole, not a 0.
    """
    graded: BoolArray = ~np.asarray(np.isnan(table.grades).all(axis=1))
    best = np.nanmax(table.grades[graded], axis=1) if graded.any() else np.empty(0)
    names = [passage for passage, known in zip(table.passages, graded, strict=True) if known]
    return {passage: int(grade) for passage, grade in zip(names, best, strict=True)}


@dataclass(frozen=True)
class LeaderboardMarks:
    """How a measure spreads over the systems, in its own unit. Percentiles interpolate linearly.

    A percentile is None where what lies above it is less than one system: a quarter of 3, or 15 % of 6. The mark would
    say again which is the best.
    """

    minimum: float
    median: float
    maximum: float
    percentile_75: float | None
    percentile_85: float | None

    def above(self, scores: Mapping[str, float], *, percentile: int) -> list[str]:
        """Return the systems above the 75th or the 85th percentile, best first, ties by name."""
        mark = {75: self.percentile_75, 85: self.percentile_85}[percentile]
        if mark is None:
            return []
        above = [name for name, score in scores.items() if rounded(score) > rounded(mark)]
        return sorted(above, key=lambda name: (-scores[name], name))


def leaderboard_marks(scores: Mapping[str, float]) -> LeaderboardMarks | None:
    """Return minimum, median, maximum and percentiles of the systems' mean scores; None without systems."""
    if not scores:
        return None
    marks = {percentile: float(np.percentile(list(scores.values()), percentile)) for percentile in (0, 50, 100, 75, 85)}
    told = {percentile: len(scores) * (100 - percentile) >= 100 for percentile in (75, 85)}
    return LeaderboardMarks(marks[0], marks[50], marks[100], *(marks[one] if told[one] else None for one in told))
