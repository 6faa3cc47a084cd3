"""Measures of answers: what those in `stats/ranking/measures/` have in common, and tables of their scores.

Each class is a group of names, those of the papers, of the same judgments. `stats/measures/` computes them;
`evaluation.leaderboards.answer_scores` reads what they need.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from stats.measures.cited_reports import ARGUE, Counts
from stats.measures.score_bounds import ScoreBounds
from stats.measures.scores import Score
from stats.ranking.measure_names import SystemMeasure
from stats.ranking.scoring import ScoreTable
from stats.ranking.unjudged import withheld_for_unjudged


class OfAnswers(SystemMeasure):
    """A group of measures of answers.

    A class declares also:

    - `leaves_out`: whether what is missing or ungraded counts in none of its scores, rather than as a no;
    - `withholds`: whether a system has no score where too much is unjudged; of others, few judgments make one.
    """

    of_answers = True
    leaves_out: ClassVar[bool] = False
    withholds: ClassVar[bool] = False

    @classmethod
    def parse(cls, name: str) -> Self | None:
        return cls(name) if name in cls.meanings else None


def argue_name(name: str) -> str:
    """Return which of ARGUE's figures the measure is, as `cited_reports.ARGUE` names it; empty for any other."""
    found = name.removeprefix("argue-").replace("-", " ")
    return found if found in ARGUE else ""


@dataclass(frozen=True)
class AnswerScore:
    """What a measure gives one system's answer on a topic, and of how many judgments it is made.

    `counts`: what it counts, where it can be pooled over topics. `judged`: which share of what it rests on is judged,
    if not that of the judgments.
    """

    system: str
    topic: str
    score: Score
    n_asked: int = 0
    counts: tuple[Counts, ...] = ()
    judged: float | None = None


def table_of(measure: OfAnswers, scores: Iterable[AnswerScore], topics: list[str]) -> ScoreTable:
    """Return the scores as a table whose columns are the topics, rows by name of the system."""
    import pandas as pd

    listed = list(scores)
    systems = sorted({one.system for one in listed})
    empty = pd.DataFrame(np.nan, index=systems, columns=topics, dtype=np.float64)
    table, judged, unjudged, low, high = (empty.copy() for _ in range(5))
    reasons: dict[str, int] = {}
    counts: dict[str, dict[str, tuple[Counts, ...]]] = {}
    for one in listed:
        if one.score.value is None:
            reasons[one.score.reason] = reasons.get(one.score.reason, 0) + 1
            continue
        at = one.system, one.topic
        table.loc[at] = one.score.value
        low.loc[at], high.loc[at] = one.score.bounds or (one.score.value, one.score.value)
        unjudged.loc[at] = one.score.ungraded
        if one.counts:
            counts.setdefault(one.system, {})[one.topic] = one.counts
        if one.n_asked:
            judged.loc[at] = 1 - one.score.ungraded / one.n_asked if one.judged is None else one.judged
    known = [one for one in listed if one.score.value is not None]
    n_ungraded, n_asked = sum(one.score.ungraded for one in known), sum(one.n_asked for one in known)
    bounded = n_ungraded > 0 and all(one.score.bounds for one in known if one.score.ungraded)
    return ScoreTable(
        table,
        reasons,
        n_ungraded,
        n_asked,
        withheld=withheld_for_unjudged(judged, "the items of its answers are") if measure.withholds else {},
        unranked=None,
        shown=measure.name,
        within=measure.within,
        leaves_out=measure.leaves_out,
        bounds=ScoreBounds(low, high) if bounded else None,
        unjudged=unjudged,
        counts=counts,
    )
