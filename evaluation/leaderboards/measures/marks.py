"""What a leaderboard's marks are called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

MARKS = {
    "minimum": "Minimum",
    "median": "Median",
    "maximum": "Maximum",
    "percentile_75": "75th percentile",
    "percentile_85": "85th percentile",
}


def names_of(marks: Iterable[Any]) -> dict[str, str]:
    """Return the marks that any of these (`LeaderboardMarks`, or None) has, with their names."""
    there = list(marks)
    return {mark: label for mark, label in MARKS.items() if any(getattr(one, mark, None) is not None for one in there)}
