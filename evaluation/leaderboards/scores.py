"""A measure's scores by one source's judgments of a study."""

from __future__ import annotations

from dataclasses import replace

from evaluation.leaderboards.answer_scores import score_answers
from evaluation.leaderboards.oracle_contexts import load_oracle, load_tokens
from evaluation.leaderboards.sources import Scorer, Source, SourceScores
from stats.ranking.answer_measures import OfAnswers
from stats.ranking.measure_names import SystemMeasure
from stats.ranking.scoring import ScoreTable, score_systems


def score(scorer: Scorer, measure: SystemMeasure, source: Source) -> SourceScores:
    """Return the measure's scores by the source's judgments. Raises Refused.

    A judge none of whose replies could be read judged all the same: its replies are counted, and are why there is none.
    """
    scored = (
        score_answers(scorer, measure, source) if isinstance(measure, OfAnswers) else _scored(scorer, measure, source)
    )
    if source.completeness.unreadable:
        n, why = source.completeness.replies, source.completeness.why
        withheld = dict.fromkeys(map(str, scored.table.index), why)
        scored = replace(scored, reasons={}, withheld=withheld, n_ungraded=n, n_asked=n)
    return SourceScores(source, scored.without(scorer.apart), scorer.circular_systems(source))


def _scored(scorer: Scorer, measure: SystemMeasure, source: Source) -> ScoreTable:
    grades = scorer.grades(source)
    rankings = scorer.reports(source) if measure.of_reports else scorer.rankings
    oracle = load_oracle(scorer, measure, source)
    tokens = load_tokens(scorer, measure, oracle) if measure.needs_texts else None
    return score_systems(measure, grades, rankings, oracle=oracle, tokens=tokens)
