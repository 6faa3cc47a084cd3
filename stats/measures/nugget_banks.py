"""Scores of an answer by a nugget bank: nuggets that are made of others, and rubrics with weights.

- A nugget's credit is 0 to 1. AND takes the least of its parts, OR the most, SUM their mean, NOT one minus the most:
  the aggregators of NuggetBank, read as fuzzy logic reads them (Zadeh, Fuzzy Sets, 1965), so that with credits of 0
  and 1 AND, OR and NOT are those of logic.
- A weighted rubric's score is the points reached over the sum of the positive points; negative points are for what
  should not be there, so it may be negative. The mean over topics is clipped to 0–1, as by the code of HealthBench
  (Arora et al., arXiv 2505.08775); its section 3 can be read either way.

A nugget without a grade may have any credit, so both give the least that the score can be, and its bounds. Both bounds
are reached: each nugget stands in one place, and every aggregator rises or falls with its parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from stats.measures.scores import Bounds, Score

Aggregator = Literal["", "and", "or", "not", "sum"]
NO_NUGGETS = "The topic has no nuggets."
NO_POINTS = "The topic has no nugget with a positive weight."


@dataclass(frozen=True)
class JudgedNugget:
    """One nugget in one answer. `credit` is None where there is no grade; with `parts` it follows from them.

    Without an aggregator, parts count as OR and a nugget without parts as it is.
    """

    credit: float | None = None
    weight: float | None = None
    aggregator: Aggregator = ""
    parts: tuple[JudgedNugget, ...] = ()

    @property
    def leaves(self) -> Iterator[JudgedNugget]:
        """The nuggets that are graded themselves."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves

    @property
    def bounds(self) -> Bounds:
        """The least and the most credit that it can have."""
        own: list[Bounds] = [part.bounds for part in self.parts]
        if not own:
            own = [(0.0, 1.0) if self.credit is None else (self.credit, self.credit)]
        lows, highs = zip(*own, strict=True)
        match self.aggregator:
            case "and":
                return min(lows), min(highs)
            case "sum":
                return fmean(lows), fmean(highs)
            case "not":
                return 1 - max(highs), 1 - max(lows)
        return max(lows), max(highs)


def nugget_coverage(nuggets: Sequence[JudgedNugget]) -> Score:
    """Return the mean credit of the nuggets, each counting once. Undefined where there are none."""
    if not nuggets:
        return Score(None, NO_NUGGETS)
    lows, highs = zip(*(nugget.bounds for nugget in nuggets), strict=True)
    return _score(nuggets, fmean(lows), fmean(highs))


def rubric_score(nuggets: Sequence[JudgedNugget]) -> Score:
    """Return the points reached over the positive ones, at most 1; nuggets without a weight count for nothing.

    It may be negative. Undefined where no weight is positive.
    """
    weighed = [nugget for nugget in nuggets if nugget.weight]
    possible = sum(nugget.weight for nugget in weighed if nugget.weight and nugget.weight > 0)
    if not possible:
        return Score(None, NO_POINTS)
    least = most = 0.0
    for nugget in weighed:
        weight, (low, high) = nugget.weight or 0.0, nugget.bounds
        least += weight * (low if weight > 0 else high)
        most += weight * (high if weight > 0 else low)
    return _score(weighed, least / possible, most / possible)


def _score(nuggets: Sequence[JudgedNugget], low: float, high: float) -> Score:
    ungraded = sum(leaf.credit is None for nugget in nuggets for leaf in nugget.leaves)
    return Score(low, ungraded=ungraded, bounds=(low, high) if ungraded else None)
