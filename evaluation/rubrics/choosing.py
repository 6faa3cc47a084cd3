"""The one that is named among several, or the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from stats.ranking.measure_names import NoLeaderboard

T = TypeVar("T")
MOST_NAMED = 20


def named_or_first(name: str, there: Sequence[tuple[str, T]], what: str) -> T:
    """Return the one of this name, the first without one. Raises NoLeaderboard with what there is to choose from."""
    found = [one for its, one in there if name in ("", its)]
    if not found:
        listed = ", ".join(its for its, _ in there[:MOST_NAMED]) or "none yet"
        raise NoLeaderboard(f"There is no {what}{f' “{name}”' if name else ''}. Choose one of: {listed}.")
    return found[0]
