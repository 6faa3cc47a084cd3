"""Several people's grades made one, by each rule; and what Dawid and Skene's model says of each person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stats.agreement.aggregation import DawidSkene, dawid_skene_of_codes, majority, mean, median
from stats.ratings import FloatArray, Grade, Ratings, grades_of


@dataclass(frozen=True)
class Aggregated:
    """One way to make several people one: for each grade the items that get it, and the ties. `reason`: why not."""

    rule: str
    counts: tuple[int, ...]
    n_between: int
    n_tied: int
    reason: str = ""


@dataclass(frozen=True)
class Confusion:
    """What an assessor gives where the true grade is said to be this: rows true, columns given; None never met."""

    name: str
    rows: tuple[tuple[Grade, tuple[float | None, ...]], ...]


def fit_dawid_skene(people: Ratings) -> DawidSkene | None:
    """Return the fitted model; None for fewer than two people."""
    graded = people.of_items(people.graded)
    if not graded.n_ratings or graded.codes.shape[1] < 2:
        return None
    return dawid_skene_of_codes(graded.codes, n_grades=len(people.scale))


def aggregate(people: Ratings, fitted: DawidSkene | None) -> tuple[Aggregated, ...]:
    """Return what each rule makes of the grades."""
    grades = grades_of(people.of_items(people.graded).codes, people.numbers)
    rules = {
        "majority, ties to the lower": majority(grades, ties="lower"),
        "majority, ties to the higher": majority(grades, ties="higher"),
        "majority, ties left out": majority(grades, ties="undecided"),
    }
    if people.level != "nominal":
        rules["median, ties to the lower"] = median(grades, ties="lower")
    found = [_counted(rule, of.grades, of.n_tied, people) for rule, of in rules.items()]
    if people.level == "interval":
        found.append(_counted("mean", mean(grades).grades, 0, people))
    else:
        found.append(Aggregated("mean", (), 0, 0, f"grades on {_a_or_an(people.level)} scale have no mean"))
    if fitted is None:
        return (*found, Aggregated("Dawid–Skene", (), 0, 0, "it needs at least two assessors"))
    of_errors = fitted.grades(ties="lower")
    by_value = grades_of(of_errors.grades.astype(np.int16), people.numbers)
    return (*found, _counted("Dawid–Skene, ties to the lower", by_value, of_errors.n_tied, people))


def _a_or_an(level: str) -> str:
    return f"an {level}" if level[0] in "io" else f"a {level}"


def _counted(rule: str, grades: FloatArray, n_tied: int, people: Ratings) -> Aggregated:
    """Count the items of each grade; `n_between` have a value that is none of the scale."""
    counts = tuple(int((grades == value).sum()) for value in people.numbers)
    return Aggregated(rule, counts, int(np.isfinite(grades).sum()) - sum(counts), n_tied)


def confusions(people: Ratings, fitted: DawidSkene | None) -> tuple[Confusion, ...]:
    """Return each person's confusion matrix."""
    if fitted is None:
        return ()
    return tuple(
        Confusion(
            str(name),
            tuple(
                (grade, tuple(None if np.isnan(share) else share for share in given.tolist()))
                for grade, given in zip(people.scale, of_rater, strict=True)
            ),
        )
        for name, of_rater in zip(people.raters, fitted.confusion, strict=True)
    )
