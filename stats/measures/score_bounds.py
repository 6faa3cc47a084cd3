"""What bounds of scores, for what is not judged, say of the order of systems.

A system's score lies between its score if all that is not judged is as bad as can be, and if all of it is as good. A
mean's bounds are the means of the topics' bounds, since topics have nothing in common. Two systems are in an open order
where either may be ahead: their bounds overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from stats.rounding import rounded

if TYPE_CHECKING:
    import pandas as pd

Range = tuple[float, float]


@dataclass(frozen=True)
class ScoreBounds:
    """The lowest and the highest scores, each systems × topics; NaN where a score is undefined."""

    low: pd.DataFrame
    high: pd.DataFrame

    def without(self, cells: pd.DataFrame) -> ScoreBounds:
        """Return the bounds without those where `cells`, systems × topics, is True."""
        return ScoreBounds(self.low.mask(cells), self.high.mask(cells))

    def means(self) -> dict[str, Range]:
        """Return the bounds of each system's mean over the topics that it has."""
        lows, highs = self.low.mean(axis=1), self.high.mean(axis=1)
        return {str(system): (float(lows[system]), float(highs[system])) for system in self.low.index}


def may_be_ahead(one: Range, other: Range) -> bool:
    """Whether the first may have the higher score."""
    return bool(rounded(one[1]) > rounded(other[0]))


def open_pairs(bounds: Mapping[str, Range]) -> list[tuple[str, str]]:
    """Return the pairs of systems in an open order, in the order of `bounds`."""
    return [
        (one, other)
        for one, other in combinations(bounds, 2)
        if may_be_ahead(bounds[one], bounds[other]) and may_be_ahead(bounds[other], bounds[one])
    ]


def possible_ranks(bounds: Mapping[str, Range]) -> dict[str, tuple[int, int]]:
    """Return each system's best and worst rank; systems that are equal share the better one."""
    return {
        system: (
            1 + sum(bool(rounded(of[0]) > rounded(mine[1])) for of in bounds.values()),
            1 + sum(name != system and may_be_ahead(of, mine) for name, of in bounds.items()),
        )
        for system, mine in bounds.items()
    }
