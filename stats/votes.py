"""Several people's grades of an item made one by majority: one rule, wherever people stand beside a judge.

The majority is the grade given most often (the plurality). Where several were given equally often, people tie, and the
declared rule decides: the lower grade, unless a reader chooses otherwise, for a grade has to be won. Leaving ties out
would drop the items that people find hard, and flatter every judge that is compared on the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Ties = Literal["lower", "higher", "undecided"]
TIES_OF_PEOPLE: Ties = "lower"
TIES: dict[Ties, str] = {
    "lower": "ties go to the lower grade",
    "higher": "ties go to the higher grade",
    "undecided": "ties are left out",
}
# How pages, files and commands name the rule.
RULE_OF_PEOPLE = "majority, ties to the lower grade"

NOBODY = -1


def most_given(counts: NDArray[Any], *, ties: Ties = TIES_OF_PEOPLE) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return for each item the place of the grade given most often, and whether several were given as often.

    `counts` has the shape items × grades, lowest grade first; both answers have the shape (items,). NOBODY where no
    grade was given, and where people tie and the rule is "undecided".
    """
    n_items, n_grades = counts.shape
    if not n_grades:
        return np.full(n_items, NOBODY, dtype=np.int64), np.zeros(n_items, dtype=bool)
    top = counts == counts.max(axis=1, keepdims=True)
    graded = counts.any(axis=1)
    tied = graded & (top.sum(axis=1) > 1)
    found = n_grades - 1 - top[:, ::-1].argmax(axis=1) if ties == "higher" else top.argmax(axis=1)
    decided = graded & ~tied if ties == "undecided" else graded
    return np.where(decided, found, NOBODY).astype(np.int64), tied


def most_given_of(grades: Iterable[float]) -> list[float]:
    """Return the grades that were given most often, lowest first: several where people tie, none without grades."""
    counts = Counter(grades)
    most = max(counts.values(), default=0)
    return sorted(grade for grade, count in counts.items() if count == most)


def majority_of(grades: Iterable[float], *, ties: Ties = TIES_OF_PEOPLE) -> float | None:
    """Return the majority of a few grades of one item; None without grades, and for an undecided tie."""
    candidates = most_given_of(grades)
    if not candidates or (len(candidates) > 1 and ties == "undecided"):
        return None
    return candidates[-1] if ties == "higher" else candidates[0]
