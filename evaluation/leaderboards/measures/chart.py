"""What the figure of a board of several measures shows."""

from __future__ import annotations

from typing import Any

from evaluation.charts.matrix import coefficients_chart
from evaluation.charts.panels import PanelPoint, panels_chart
from evaluation.data.visibility import in_words
from evaluation.leaderboards.measure_correlations import COEFFICIENTS, MeasureCorrelations
from evaluation.leaderboards.measures.board import MeasuresBoard
from stats.plurals import counted


def board_chart(board: MeasuresBoard) -> dict[str, Any] | None:
    """Return the description of the figure: a panel a column; None where no system has a score."""
    points = []
    for group in board.groups():
        for row in group.rows:
            for one, cell in zip(board.columns, row.cells, strict=True):
                mean = cell.standing.mean if cell.standing else None
                if mean and mean.value is not None:
                    role = "set apart" if group.apart else cell.mark or "other"
                    points.append(PanelPoint(one.key, row.system, mean.value, mean.low, mean.high, role))
    spreads = {one.key: one.spread(board.systems) for one in board.columns}
    n_topics = board.n_topics
    over = counted(n_topics[0], "topics") if len(n_topics) == 1 else f"{n_topics[0]} to {n_topics[-1]} topics"
    return (
        panels_chart(
            points,
            panels=[one.key for one in board.columns],
            medians={key: spread.marks.median for key, spread in spreads.items() if spread},
            title=f"Systems by {counted(len(board.columns), 'measures')}{in_words(board.visibility, board.order)}",
            subtitle=f"Mean over {over} with its 95 % interval; dashed: the median of the systems",
        )
        if points
        else None
    )


def matrix_chart(found: MeasureCorrelations) -> dict[str, Any]:
    """Return the description of the matrix of correlations as a picture."""
    name = COEFFICIENTS[found.coefficient]
    reference = "; the row is the reference" if found.coefficient == "tau_ap" else ""
    return coefficients_chart(
        [board.key for board in found.boards],
        {pair: estimate.value for pair, estimate in found.matrix.items()},
        coefficient=name,
        title=f"How far measures agree{in_words(found.visibility, found.order)}",
        subtitle=f"{name} between the systems’ means over {counted(len(found.common.topics), 'topics')}{reference}",
    )
