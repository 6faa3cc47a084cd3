"""Published tables of ratings, with the values their authors print."""

from __future__ import annotations

import numpy as np

from stats.ratings import MISSING, Level, Ratings

NAN = float("nan")

# Gwet, Handbook of Inter-Rater Reliability (4th ed., 2014), p. 120, after Krippendorff: 4 raters, 12 units,
# grades 1–5, some missing. Krippendorff prints α nominal .743, ordinal .815, interval .849, ratio .797; Gwet's
# irrCAC prints agreement .81818, Fleiss .76117 (se .15302), AC1 .77544 (se .14295), AC2 ordinal .899,
# quadratic .914, ratio .857.
FOUR_OBSERVERS: list[list[float]] = [
    [1, 1, NAN, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [NAN, 5, 5, 5],
    [NAN, NAN, 1, 1],
    [NAN, NAN, 3, NAN],
]

# The example of the encyclopedias for Fleiss (1971): 10 subjects, 14 raters, 5 categories: κ = .210.
FOURTEEN_RATERS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]

# Gwet's irrCAC, cont3x3abstractors: κ .7964094 (se .0589), linear .843, quadratic .892, AC1 .8493305, α .7972585.
TWO_ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]

# SAS's example for PROC FREQ, as statsmodels tests it: κ .4842 (ASE .1380), linear .4701 (ASE .1457).
SAS_TABLE = [[0, 4, 1], [0, 8, 0], [0, 1, 5]]


def ratings_of(
    rows: list[list[float]], scale: tuple[float, ...], level: Level, topics: list[int] | None = None
) -> Ratings:
    """Return a matrix of items × raters with NaN for missing as ratings."""
    matrix = np.array(rows, dtype=float)
    codes = np.where(np.isnan(matrix), MISSING, np.searchsorted(np.array(scale), np.nan_to_num(matrix)))
    return Ratings(
        codes=np.asfortranarray(codes.astype(np.int16)),
        scale=scale,
        level=level,
        items=list(range(len(rows))),
        raters=[f"rater {number}" for number in range(matrix.shape[1])],
        topics=None if topics is None else np.array(topics),
    )


def ratings_of_counts(counts: list[list[int]], level: Level = "nominal") -> Ratings:
    """Return subjects × categories as ratings: who gave which does not matter."""
    rows = [[float(grade) for grade, times in enumerate(row) for _ in range(times)] for row in counts]
    return ratings_of(rows, tuple(map(float, range(len(counts[0])))), level)


def ratings_of_two(table: list[list[int]], level: Level = "ordinal") -> Ratings:
    """Return a contingency table of two raters as ratings."""
    rows = [[float(a), float(b)] for a, row in enumerate(table) for b, times in enumerate(row) for _ in range(times)]
    return ratings_of(rows, tuple(map(float, range(len(table)))), level)
