"""What workers compute for the reports about systems, each of a study and its options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.utils.timezone import now

from collection.models import Study
from collection.web.cached_results import compute_now
from collection.web.reports import NothingToReport
from evaluation.data.visibility import read_test_part
from evaluation.leaderboards.available_measures import matrix_of, measures_of, offered_measures
from evaluation.leaderboards.divergence import MeasureDivergence, chosen_pair, compare_places
from evaluation.leaderboards.leaderboard import Leaderboard, measure_leaderboard
from evaluation.leaderboards.measure_correlations import MeasureCorrelations, correlate_measures
from evaluation.leaderboards.measures.board import MeasuresBoard, measure_board
from evaluation.leaderboards.sources import Scorer, Source, judges_among
from stats.ranking.measure_names import parse_measure
from stats.refusals import Refused

# People and five judges stay legible side by side. Of more, people and three judges are shown; all are a click away.
MOST_AT_FIRST = 6
UNSORTED_BOARD = "evaluation.leaderboards.computing:unsorted_board"


def scorer_by(study: Study, options: dict[str, Any]) -> Scorer:
    """Return the study's scorer by the rules among the options, which are taken out of them."""
    rules = {name: options.pop(name) for name in ("combine", "oracle", "order", "confidence") if name in options}
    return Scorer.of(study, **rules)


def read_test_parts(study: Study, sources: Iterable[Source]) -> None:
    """Count a reading of each judge that a command is about to show. Raises NotSplit, and Refused without one."""
    judges = judges_among(sources)
    if not judges:
        raise Refused("No judge is among these sources. Human judgments are not locked: leave --test out.")
    for judge in judges:
        read_test_part(study, judge, by=None, at=now())


def leaderboard(study: Study, *, measure: str, source: list[str], sources: str, **options: Any) -> Leaderboard:
    """Score systems under one measure. Raises NothingToReport where nothing is judged for it."""
    scorer = scorer_by(study, options)
    options["most_sources"] = MOST_AT_FIRST if sources == "first" and not source else None
    options["without_judges"] = sources == "people"
    board = measure_leaderboard(scorer, parse_measure(measure), sources=source, **options)
    if not board.columns:
        listed = ", ".join(offered_measures(study)) or "none yet"
        raise NothingToReport(f"There are no judgments for {board.measure.name}. Available measures: {listed}.")
    board.rows()
    return board


def measures_board(study: Study, *, sort: str, **options: Any) -> MeasuresBoard | None:
    """Set measures side by side; None where nothing is judged. The order of rows costs nothing: boards are kept."""
    board: MeasuresBoard | None = compute_now(UNSORTED_BOARD, study, **options)
    return replace(board, sort=sort) if board else None


def unsorted_board(study: Study, *, column: list[str], **options: Any) -> MeasuresBoard | None:
    offered = measures_of(study)
    return measure_board(scorer_by(study, options), column, offered=offered, **options) if offered else None


def correlations(study: Study, *, column: list[str], measure: str, **options: Any) -> MeasureCorrelations | None:
    """Correlate measures; None where nothing is judged that a measure could be of."""
    also = measures_of(study)
    if not also:
        return None
    scorer = scorer_by(study, options)
    return correlate_measures(scorer, matrix_of(also), columns=column, varied=measure, also=also, **options)


def divergence(
    study: Study, *, measure: str, other: str, source: str, other_source: str, part: Any, **options: Any
) -> MeasureDivergence:
    """Hold two measures, or two sources of one, against each other."""
    scorer = scorer_by(study, options)
    pair = chosen_pair(scorer.loader, measure, other, source=source, other_source=other_source)
    return compare_places(scorer, *pair, part=part)
