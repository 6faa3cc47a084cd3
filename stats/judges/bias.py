"""Audits of a judge's bias: length, position, self-preference; and circular scores.

Differences are judge minus human, so that what people see too is no bias. Intervals are over topics where there are
any.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stats.influence import share_interval, t_interval, unbiased
from stats.intervals import Estimate, Range, Sample, effective_number, interval, jackknife_error, undefined
from stats.pattern_intervals import MOST_LEFT_OUT, SEED
from stats.ratings import BoolArray, FloatArray, IntArray

ONE_DOUBLING = 1.0


@dataclass(frozen=True)
class LengthBias:
    """How many grades the judge adds for a text twice as long that people grade alike, over `n_items`.

    `n_ungraded` items of people's the judge left without a grade; they are not among `n_items`.
    """

    per_doubling: Estimate
    n_items: int
    n_ungraded: int


def length_bias(
    people: FloatArray, judge: FloatArray, lengths: FloatArray, topics: IntArray | None = None
) -> LengthBias:
    """Return the slope of the judge's grade on log2(length), with a level of its own for each grade of people.

    All arrays have the shape (items,), NaN where there is no grade; lengths, in any unit, are above 0. Grades are on an
    interval scale. Source: the control of Dubois et al., Length-Controlled AlpacaEval (2024), as a linear regression.
    """
    labelled = np.isfinite(people)
    rows = labelled & np.isfinite(judge)
    among = None if topics is None else topics[rows]
    slope = _slope(people[rows], judge[rows], np.log2(lengths[rows]), among)
    return LengthBias(slope, int(rows.sum()), int((labelled & np.isnan(judge)).sum()))


def _slope(people: FloatArray, judge: FloatArray, longer: FloatArray, topics: IntArray | None) -> Estimate:
    """The slope within people's grades, each topic or item left out in turn; undefined where few items make it."""
    grades, levels = np.unique(people, return_inverse=True)
    units = np.arange(len(people)) if topics is None else np.unique(topics, return_inverse=True)[1]
    sample = Sample(None if topics is None else int(units.max(initial=-1)) + 1, len(people))
    if sample.reason:
        return undefined(sample.reason)
    if max(np.ptp(longer[levels == level]) for level in range(len(grades))) < ONE_DOUBLING:
        return undefined("no two texts with the same human grade differ twofold in length")
    largest = float(np.ptp(judge))
    places = levels + len(grades) * (np.random.default_rng(SEED).permutation(units.max() + 1)[units] % MOST_LEFT_OUT)
    columns = (np.ones(len(people)), longer, judge, longer * longer, longer * judge)
    size = len(grades) * min(int(units.max()) + 1, MOST_LEFT_OUT)
    sums = np.stack([np.bincount(places, column, minlength=size).reshape(-1, len(grades)) for column in columns])
    value, *left = _slopes(np.concatenate([sums.sum(axis=1, keepdims=True), sums.sum(axis=1, keepdims=True) - sums], 1))
    if not largest or abs(value) >= largest:
        return undefined("the judge’s grades or the lengths differ too little between texts with the same human grade")
    centred = longer - (np.bincount(levels, longer) / np.bincount(levels))[levels]
    effective = effective_number(np.bincount(units, centred**2).tolist())
    return interval(value, jackknife_error(left), replace(sample, effective=effective), within=Range(-largest, largest))


def _slopes(sums: FloatArray) -> list[float]:
    """Return Σ_g cov_g / Σ_g var_g from sums of 1, x, y, x², xy by row and people's grade, shape (5, rows, grades)."""
    n, x, y, xx, xy = sums
    n = np.maximum(n, 1)
    spread = (xx - x * x / n).sum(axis=1)
    slopes = np.full(len(spread), np.nan)
    np.divide((xy - x * y / n).sum(axis=1), spread, out=slopes, where=spread > 0)
    return list(map(float, slopes))


@dataclass(frozen=True)
class PositionBias:
    """What a judge of pairs does when the two sides change places.

    - `towards_first`: P(prefers the first) − ½ over both orders, a tie being half: 0 without bias, ±½ at most;
    - `consistent`: the share of pairs decided alike in both orders;
    - of the inconsistent, `n_first_twice` and `n_second_twice` took the same side twice;
    - `n_ungraded` pairs lack a decision in one order. They are not among `n_pairs`.
    """

    towards_first: Estimate
    consistent: float | None
    n_pairs: int
    n_first_twice: int
    n_second_twice: int
    n_ungraded: int


def position_bias(as_given: FloatArray, swapped: FloatArray, topics: IntArray | None = None) -> PositionBias:
    """Return the bias over pairs judged in both orders, shape (pairs,).

    Both arrays say whether the judge prefers A: 1 yes, 0 no, ½ tie, NaN no decision. In `as_given` A stands first, in
    `swapped` second. Source: Wang et al., Large language models are not fair evaluators (2023).
    """
    both = np.isfinite(as_given) & np.isfinite(swapped)
    first, second, n = as_given[both], swapped[both], int(both.sum())
    counts = {
        "n_pairs": n,
        "n_first_twice": int(((first == 1) & (second == 0)).sum()),
        "n_second_twice": int(((first == 0) & (second == 1)).sum()),
        "n_ungraded": len(both) - n,
    }
    if not n:
        return PositionBias(undefined("no pair was decided in both orders"), None, **counts)
    among = None if topics is None else topics[both]
    shift = _mean((first - second) / 2, among, within=Range(-0.5, 0.5), unit="pairs")
    return PositionBias(shift, float((first == second).mean()), **counts)


@dataclass(frozen=True)
class SideChoice:
    """How often whoever saw pairs in one order each prefers the first, a tie being half; .5 without bias.

    `n_pairs` have a grade, `n_swapped` of them in the swapped order; `n_ungraded` have none.
    """

    first: Estimate
    n_pairs: int
    n_swapped: int
    n_ties: int
    n_ungraded: int

    @property
    def counts(self) -> tuple[int, int, int]:
        """The pairs with a grade, the swapped among them, and the ties."""
        return self.n_pairs, self.n_swapped, self.n_ties


def side_choice(prefers_first: FloatArray, swapped: BoolArray, topics: IntArray | None = None) -> SideChoice:
    """Return P(prefers what stands first), shape (pairs,): 1 the first, 0 the second, ½ neither, NaN ungraded.

    The mean of the two orders' shares, so that it does not matter whether the better answers stood first more often.
    Undefined where all pairs were shown in one order: the side cannot be told from the answers then.
    """
    graded = np.isfinite(prefers_first)
    first, turned = prefers_first[graded], swapped[graded]
    n_pairs, n_swapped = len(first), int(turned.sum())
    counts = {
        "n_pairs": n_pairs,
        "n_swapped": n_swapped,
        "n_ties": int((first == 0.5).sum()),
        "n_ungraded": len(prefers_first) - n_pairs,
    }
    if not n_pairs:
        return SideChoice(undefined("no pair was decided"), **counts)
    if min(n_swapped, n_pairs - n_swapped) < 2:
        return SideChoice(undefined("fewer than two pairs were shown in one of the orders"), **counts)
    influence = np.zeros(n_pairs)
    shares = []
    for rows in (turned, ~turned):
        n, share = int(rows.sum()), float(first[rows].mean())
        shares.append(share)
        influence[rows] = (first[rows] - share) / n / 2 * unbiased(n)
    value = sum(shares) / 2
    among = None if topics is None else topics[graded]
    found = share_interval(value, influence, among, freedom=n_pairs - 2, like=value, n=n_pairs, unit="pairs")
    return SideChoice(found, **counts)


@dataclass(frozen=True)
class FamilyCell:
    """Judge minus human over the items of one family of systems as one family of judges grades them."""

    judge_family: str
    system_family: str
    difference: Estimate
    n_items: int
    own: bool


@dataclass(frozen=True)
class SelfPreference:
    """The cells, judges × systems, and how much more each judge family adds to its own systems than to others."""

    cells: tuple[FamilyCell, ...]
    preference: Mapping[str, Estimate]
    n_ungraded: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        names = ("judge_family", "system_family", "n_items", "own")
        return {
            "cells": [{name: getattr(one, name) for name in names} | one.difference.as_dict() for one in self.cells],
            "preference": {family: estimate.as_dict() for family, estimate in self.preference.items()},
            "n_ungraded": self.n_ungraded,
        }


def self_preference(
    judge_families: Sequence[str],
    system_families: Sequence[str],
    judge: FloatArray,
    people: FloatArray,
    topics: IntArray | None = None,
) -> SelfPreference:
    """Return judge minus human by family; a row is an item as one judge grades it, all arrays of shape (rows,).

    Rows without a human grade are left out; those without the judge's are counted. An unknown family is an empty
    string, and is nobody's own. Source: Panickssery et al., LLM evaluators recognize and favor their own generations
    (2024), here against people's grades of the same items.
    """
    by_judge, by_system = _names(judge_families), _names(system_families)
    rows = np.isfinite(judge) & np.isfinite(people)
    extra = judge - people
    widest = float(np.ptp(np.concatenate([judge[rows], people[rows]]))) if rows.any() else 0.0
    widest = widest or 1.0
    cells, preference = [], {}
    for family in np.unique(by_judge):
        judged = rows & (by_judge == family)
        for system in np.unique(by_system):
            here = judged & (by_system == system)
            if here.any():
                found = _mean(extra[here], None if topics is None else topics[here], within=Range(-widest, widest))
                cells.append(FamilyCell(family, system, found, int(here.sum()), bool(family) and family == system))
        if family:
            preference[family] = _contrast(
                extra, judged & (by_system == family), judged & (by_system != family), topics, 2 * widest
            )
    n_ungraded = int((np.isfinite(people) & np.isnan(judge)).sum())
    return SelfPreference(tuple(cells), preference, n_ungraded)


def circular(judge_family: str, families: Mapping[str, Collection[str]]) -> list[str]:
    """Return what a judge's own family did for the things it judges, of the roles named; empty: no circle.

    `families` by role, as "wrote the report", "ranked the passages", "made the nuggets". Sources: Clarke and Dietz,
    LLM-based relevance assessment still can't replace human relevance assessment (2024), arXiv 2412.17156; Balog,
    Metzler and Qin, Rankers, judges, and assistants (2025), arXiv 2503.19092.
    """
    own = _name(judge_family)
    return [role for role, found in families.items() if own and own in {_name(family) for family in found}]


def _contrast(extra: FloatArray, own: BoolArray, others: BoolArray, topics: IntArray | None, widest: float) -> Estimate:
    """The mean over own rows minus that over the others."""
    n_own, n_others = int(own.sum()), int(others.sum())
    if n_own < 2 or n_others < 2:
        return undefined("fewer than two items of its own family, or of others, have both grades")
    value = float(extra[own].mean() - extra[others].mean())
    influence = np.zeros(len(extra))
    influence[own] = (extra[own] - extra[own].mean()) / n_own * unbiased(n_own)
    influence[others] = -(extra[others] - extra[others].mean()) / n_others * unbiased(n_others)
    either = own | others
    among = None if topics is None else topics[either]
    freedom, within = min(n_own, n_others) - 1, Range(-widest, widest)
    return t_interval(value, influence[either], among, freedom=freedom, within=within, n=n_own + n_others)


def _mean(values: FloatArray, topics: IntArray | None, *, within: Range, unit: str = "items") -> Estimate:
    mean, n = float(values.mean()), len(values)
    return t_interval(mean, (values - mean) / n * unbiased(n), topics, freedom=n - 1, within=within, unit=unit)


def _names(families: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    return np.array([_name(family) for family in families], dtype=str)


def _name(family: str) -> str:
    return family.strip().casefold()
