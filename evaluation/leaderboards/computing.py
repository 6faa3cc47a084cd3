"""What workers compute for the reports about systems, each of a study and its options."""

from __future__ import annotations

from typing import Any

from collection.models import Study
from evaluation.leaderboards.available_measures import matrix_of, offered_measures
from evaluation.leaderboards.measure_correlations import MeasureCorrelations, correlate_measures
from evaluation.leaderboards.sources import StudySources


def correlations(
    study: Study, *, column: list[str], measure: str, combine: Any, oracle: str | None, order: Any, **options: Any
) -> MeasureCorrelations | None:
    """Correlate measures; None where nothing is judged that a measure could be of."""
    also = offered_measures(study)
    if not also:
        return None
    boards = StudySources(study, combine=combine, oracle=oracle, order=order)
    return correlate_measures(boards, matrix_of(also), columns=column, varied=measure, also=also, **options)
