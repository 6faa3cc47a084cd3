"""People's grades as one yes or no an item, over the items of somebody else's table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stats.ratings import MISSING, FloatArray, Ratings, grades_of, majority


@dataclass(frozen=True)
class Votes:
    """What people say of each item. Both arrays have the shape (items,).

    - `yes`: 1 where the grade that most gave (of several, the lowest) is a yes, 0 where not, NaN where nobody graded;
    - `disagreement`: the share of its people who say other than the larger half; NaN for fewer than two people;
    - `n_elsewhere`: how many items people graded that are none of these.
    """

    yes: FloatArray
    disagreement: FloatArray
    n_elsewhere: int


def votes_on(people: Ratings, items: Sequence[Any], *, at: float) -> Votes:
    """Return people's votes on these items; a grade of at least `at` is a yes."""
    grades = grades_of(majority(people), people.numbers)
    known = np.isfinite(grades)
    n_yes = (grades_of(people.codes, people.numbers) >= at).sum(axis=1)
    n = (people.codes != MISSING).sum(axis=1)
    split = np.full(len(n), np.nan)
    np.divide(np.minimum(n_yes, n - n_yes), n, out=split, where=n >= 2)
    places = {name: place for place, name in enumerate(items)}
    rows = np.array([row for row, name in enumerate(people.items) if known[row] and name in places], dtype=np.int64)
    here = np.array([places[people.items[row]] for row in rows], dtype=np.int64)
    yes, disagreement = np.full(len(items), np.nan), np.full(len(items), np.nan)
    yes[here], disagreement[here] = grades[rows] >= at, split[rows]
    return Votes(yes, disagreement, int(known.sum()) - len(rows))
