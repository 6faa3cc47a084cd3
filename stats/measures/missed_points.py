"""How answers miss key points: the share of each way among the points that they miss.

Source: Qi et al., LONG²RAG (2024), section 6.1 and Figure 8: incomplete, general, missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stats.intervals import SHARE, Estimate, ratio_interval
from stats.ratings import FloatArray, IntArray


@dataclass(frozen=True)
class MissedPoints:
    """A way to miss points: how many `grades` name it, and its share of the `n_points` missed points."""

    grade: float
    n_grades: int
    n_points: int
    share: Estimate


def ways_of_missing(grades: FloatArray, topics: IntArray, scale: Sequence[float]) -> list[MissedPoints]:
    """Return the share of each grade of a nominal scale, in its order; nothing without a grade.

    `grades`, shape (points, raters), NaN where there is none; `topics`, shape (points,). A point that several raters
    graded counts once, for each way with the share of its raters who named it. Intervals leave out each topic in turn.
    """
    n_raters = (~np.isnan(grades)).sum(axis=1)
    graded = n_raters > 0
    of, numbers = np.unique(topics[graded], return_inverse=True)
    sizes = np.bincount(numbers, minlength=len(of))
    found = []
    for grade in scale if graded.any() else ():
        named = (grades[graded] == grade).sum(axis=1)
        sums = np.bincount(numbers, weights=named / n_raters[graded], minlength=len(of))
        share = ratio_interval(sums.tolist(), sizes.tolist(), within=SHARE, unit="missed points")
        found.append(MissedPoints(grade, int(named.sum()), int(graded.sum()), share))
    return found


def most_frequent(found: Mapping[str, Sequence[MissedPoints]]) -> dict[str, float]:
    """Return each system's most frequent way; systems in which two are as frequent are left out."""
    most = {}
    for system, ways in found.items():
        shares = sorted(((one.share.value or 0.0, one.grade) for one in ways), reverse=True)
        if shares and (len(shares) == 1 or shares[0][0] > shares[1][0]):
            most[system] = shares[0][1]
    return most
