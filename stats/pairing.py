"""Brings two tables together: the same items, in the same order, on scales that may be compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stats.ratings import Ratings
from stats.refusals import Refused


class NotComparable(Refused):
    """The two tables cannot be compared."""


@dataclass(frozen=True)
class Paired:
    """People's and the judge's ratings of the items that both tables hold, and how many were left out."""

    people: Ratings
    judge: Ratings
    n_people_only: int
    n_judge_only: int


def pair(people: Ratings, judge: Ratings) -> Paired:
    """Keep the items that people graded and the judge was asked. Raises NotComparable if there is none."""
    places = {name: place for place, name in enumerate(judge.items)}
    shared = [(row, places[name]) for row, name in enumerate(people.items) if name in places]
    if not shared:
        raise NotComparable("No item is in both tables.")
    rows, columns = np.array(shared, dtype=np.int64).T
    graded = people.of_items(rows).graded
    rows, columns = rows[graded], columns[graded]
    if not len(rows):
        raise NotComparable("None of the items in both tables has a human grade.")
    kept_people, kept_judge = people.of_items(rows), judge.of_items(columns)
    return Paired(
        people=kept_people,
        judge=kept_judge,
        n_people_only=len(people.items) - len(rows),
        n_judge_only=len(judge.items) - len(rows),
    )


def people_threshold(people: Ratings, judge: Ratings, at: float) -> tuple[float, bool]:
    """Return people's threshold, and whether both grade on the same scale.

    People who only say yes or no (1 or 0) to what the judge grades higher than that have a scale of their
    own: their yes is 1. Everybody else is held to the judge's threshold.
    """
    yes_or_no = set(people.scale) <= {0.0, 1.0}
    higher = max(judge.numbers, default=0.0) > 1 or at > 1
    return (1.0, False) if yes_or_no and higher else (at, True)
