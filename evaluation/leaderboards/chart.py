"""What the chart of a leaderboard shows."""

from __future__ import annotations

from typing import Any

from evaluation.charts.leaderboard import scores_chart
from evaluation.data.visibility import in_words
from evaluation.leaderboards.leaderboard import Leaderboard, score_points


def systems_chart(board: Leaderboard, *, sort: str = "") -> dict[str, Any] | None:
    """Return each system's mean by each source with its interval; None where no system has a score."""
    points = score_points(board, sort=sort)
    if not points:
        return None
    n_topics = {column.n_topics for column in board.columns}
    over = n_topics.pop() if len(n_topics) == 1 else None
    return scores_chart(points, measure=f"{board.measure.name}{in_words(board.visibility, board.order)}", n_topics=over)
