"""How labels are shared among kinds of items: strata of the judge's grades, and how many labels each gets.

Source: Neyman, On the two different aspects of the representative method (1934), in whole numbers after Wright, A
simple method of exact optimal sample allocation under stratification with any mixed constraint patterns (2014).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from stats.calibration.labels import Labels
from stats.ratings import FloatArray, IntArray
from stats.refusals import Refused

FEWEST_A_STRATUM = 2
# As many labels as these is the common spread worth where a stratum has none or few of its own.
BORROWED = 2


class NoAllocation(Refused):
    """So many labels cannot be shared among these strata."""


@dataclass(frozen=True)
class Strata:
    """Kinds of items: the number of each item's kind, shape (items,), and the kinds' names."""

    numbers: IntArray
    names: tuple[str, ...]

    @property
    def sizes(self) -> IntArray:
        return np.bincount(self.numbers, minlength=len(self.names)).astype(np.int64)


def strata_of(grades: FloatArray, disagreement: FloatArray | None = None) -> Strata:
    """Part the items by the judge's grade, and each grade by whether judges disagree more than their median there.

    `disagreement` is any number that grows with it: the sd of several judges, or the entropy of one. NaN grades are
    ungraded, NaN disagreements little.
    """
    _, places = np.unique(grades, return_inverse=True)
    high = np.zeros(len(grades), dtype=bool)
    if disagreement is not None:
        known = np.nan_to_num(disagreement)
        for place in np.unique(places):
            here = places == place
            high[here] = known[here] > np.median(known[here])
    kinds, numbers = np.unique(places * 2 + high, return_inverse=True)
    values = np.unique(grades)
    names = tuple(_stratum_name(float(values[kind // 2]), high=bool(kind % 2)) for kind in kinds)
    return Strata(numbers.ravel().astype(np.int64), names)


def _stratum_name(grade: float, *, high: bool) -> str:
    name = "ungraded" if np.isnan(grade) else f"grade {grade:g}"
    return f"{name}, disputed" if high else name


def spreads(labels: Labels, strata: Strata) -> FloatArray:
    """Return the sd of people's values in each stratum, shape (strata,).

    A stratum borrows two labels' worth of the spread within all strata, so one with few labels that happen to agree is
    not taken for certain, and one without labels counts as the others do.
    """
    labelled = labels.labelled
    people, kinds, n_kinds = labels.people[labelled], strata.numbers[labelled], len(strata.names)
    n = np.bincount(kinds, minlength=n_kinds)
    means = np.bincount(kinds, weights=people, minlength=n_kinds) / np.maximum(n, 1)
    squares = np.bincount(kinds, weights=(people - means[kinds]) ** 2, minlength=n_kinds)
    freedom = np.maximum(n - 1, 0)
    common = float(squares.sum() / freedom.sum()) if freedom.sum() else 1.0
    return np.asarray(np.sqrt((squares + BORROWED * common) / (freedom + BORROWED)))


def allocate(sizes: IntArray, sds: FloatArray, n: int, *, floor: int = FEWEST_A_STRATUM) -> IntArray:
    """Return how many of `n` labels each stratum gets: the least variance of Σ_h N_h Ȳ_h in whole numbers.

    Every stratum gets `floor` (or all it has), none more than it has. Where no spread is known to differ from 0, labels
    go by size. Raises NoAllocation where `n` is below the floors or above the items.
    """
    least = np.minimum(sizes, floor)
    if not least.sum() <= n <= sizes.sum():
        raise NoAllocation(f"{n} labels: {len(sizes)} strata need {least.sum()} at least and hold {sizes.sum()}.")
    gains = sizes * (sds if sds.any() else np.ones(len(sizes)))
    given = least.astype(np.int64).copy()
    waiting = [
        (-float(gains[h] / np.sqrt(given[h] * (given[h] + 1)) if given[h] else np.inf), h)
        for h in range(len(sizes))
        if given[h] < sizes[h]
    ]
    heapq.heapify(waiting)
    for _ in range(n - int(given.sum())):
        _, h = heapq.heappop(waiting)
        given[h] += 1
        if given[h] < sizes[h]:
            heapq.heappush(waiting, (-float(gains[h] / np.sqrt(given[h] * (given[h] + 1))), h))
    return given
