"""The threshold η of a judge: its curve, a choice not judged by what chose it, and how far people themselves go.

Sources: choosing on one half and reporting on the other, Stone, Cross-validatory choice and assessment of statistical
predictions (1974). The human ceiling: each person against the others beside the judge against the same others on the
same items, the pairing of Calderon, Reichart and Dror (2025), arXiv 2501.10970.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from math import isclose
from typing import Any, Literal

import numpy as np

from stats.judges.thresholds import POSITIVE, UNGRADED, ThresholdFigures, at_threshold, kappa_of
from stats.pattern_intervals import (
    COEFFICIENT,
    DIFFERENCE_OF_COEFFICIENTS,
    DIFFERENCE_OF_SHARES,
    SEED,
    SHARE,
    Estimate,
    Statistic,
    estimate,
    undefined,
)
from stats.ratings import (
    MISSING,
    BoolArray,
    CodeArray,
    FloatArray,
    IntArray,
    PairPatterns,
    Ratings,
    RowPatterns,
    grades_of,
    quotient,
)

By = Literal["kappa", "f1"]
ONE_HALF = "there is only one topic, which cannot be halved"


class NoHalves(ValueError):
    """What there is cannot be parted into a half to choose on and one to report on."""


@dataclass(frozen=True)
class Choice:
    """The threshold that is best on one part, and how it does on the other.

    `chosen_on` is the curve over the thresholds on the first part, `reported_on` on the second; empty where the second
    is locked. `reported` is the latter's point at the chosen threshold: the one to publish. `n_chosen` and `n_reported`
    count items; `seed` drew the parts, None where they are a study's own.
    """

    at: float
    by: By
    chosen_on: tuple[ThresholdFigures, ...]
    reported_on: tuple[ThresholdFigures, ...]
    n_chosen: int
    n_reported: int
    seed: int | None

    @property
    def reported(self) -> ThresholdFigures | None:
        """The figures of the chosen threshold on the part that had no say; None where that is locked."""
        return next((figures for figures in self.reported_on if figures.at == self.at), None)

    def as_dict(self) -> dict[str, Any]:
        """Return the threshold with the curves of both parts, as JSON has them."""
        return vars(self) | {
            "reported": self.reported.as_dict() if self.reported else None,
            "chosen_on": [figures.as_dict() for figures in self.chosen_on],
            "reported_on": [figures.as_dict() for figures in self.reported_on],
        }


def threshold_curve(
    people_yes: BoolArray, judge: FloatArray, topics: IntArray | None, *, thresholds: Sequence[float], people_at: float
) -> tuple[ThresholdFigures, ...]:
    """Return the figures at every threshold: a grade from it up is the judge's yes. All arrays of shape (items,).

    `judge` is NaN for ungraded replies, which are neither yes nor no (see `thresholds`).
    """
    ungraded = np.isnan(judge)
    return tuple(
        at_threshold(people_yes, ~ungraded & (judge >= at), ungraded, topics, at=at, people_at=people_at)
        for at in thresholds
    )


def choose_threshold(
    people_yes: BoolArray,
    judge: FloatArray,
    topics: IntArray | None,
    *,
    thresholds: Sequence[float],
    people_at: float,
    by: By = "kappa",
    standing: float | None = None,
    seed: int = SEED,
) -> Choice:
    """Choose η on one half of the topics, or of the items where there are none, and report on the other.

    The best has the highest κ, or F1 of yes; of equals the `standing` one, else the lowest. Raises NoHalves where there
    is one topic, or a half on which no threshold has a figure.
    """
    first = half(topics, len(people_yes), seed=seed)
    on = [
        threshold_curve(
            people_yes[rows],
            judge[rows],
            None if topics is None else topics[rows],
            thresholds=thresholds,
            people_at=people_at,
        )
        for rows in (first, ~first)
    ]
    return Choice(
        at=best_threshold(on[0], by=by, standing=standing),
        by=by,
        chosen_on=on[0],
        reported_on=on[1],
        n_chosen=int(first.sum()),
        n_reported=int((~first).sum()),
        seed=seed,
    )


def best_threshold(curve: Sequence[ThresholdFigures], *, by: By = "kappa", standing: float | None = None) -> float:
    """Return the threshold with the highest κ, or F1 of yes. Raises NoHalves if none has one.

    Of equals it is the `standing` one, for there is no reason to leave it; else the lowest.
    """
    values = [(figures.kappa if by == "kappa" else figures.positive.f1).value for figures in curve]
    known = {figures.at: value for value, figures in zip(values, curve, strict=True) if value is not None}
    if not known:
        raise NoHalves("On the topics used to choose, all human grades are yes or all are no; label more items.")
    best = max(known.values())
    # What differs by less than rounding is equal.
    equals = [at for at, value in known.items() if isclose(value, best, abs_tol=1e-12)]
    return standing if standing in equals else min(equals)


def half(topics: IntArray | None, n_items: int, *, seed: int = SEED) -> BoolArray:
    """Return which items are in the first half, topics whole. The same topics and seed give the same halves."""
    numbers, places = (np.arange(n_items),) * 2 if topics is None else np.unique(topics, return_inverse=True)
    if len(numbers) < 2:
        raise NoHalves(f"{ONE_HALF}." if topics is not None else "One item cannot be halved.")
    first = np.zeros(len(numbers), dtype=bool)
    first[np.random.default_rng(seed).permutation(len(numbers))[: len(numbers) // 2]] = True
    return np.asarray(first[places])


@dataclass(frozen=True)
class Ceiling:
    """How far people agree with one another, and the judge with them, on the same items.

    - `people`: mean over ordered pairs (r, s) of people of the agreement of r with s;
    - `judge`: mean over the same pairs of the judge's agreement with s, on the items that r and s both graded;
    - `difference`: judge minus people. Above 0 the judge stands in for a person at no loss.

    `n_items` have two people; `n_ungraded` of them the judge left ungraded, which agrees with nobody.
    """

    people: Estimate
    judge: Estimate
    difference: Estimate
    by: By
    n_items: int
    n_ungraded: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "by": self.by,
            **({"weights": "none"} if self.by == "kappa" else {}),
            "n_items": self.n_items,
            "n_ungraded": self.n_ungraded,
            "people": self.people.as_dict(),
            "judge": self.judge.as_dict(),
            "difference": self.difference.as_dict(),
        }


def human_ceiling(people: Ratings, judge: FloatArray, *, at: float, people_at: float, by: By = "kappa") -> Ceiling:
    """Return the human ceiling at a threshold, by κ or the F1 of yes, with intervals over items or topics.

    `judge` holds a grade for each item of `people`, NaN where ungraded.
    """
    ours = np.where(people.codes == MISSING, MISSING, grades_of(people.codes, people.numbers) >= people_at)
    shared = (ours != MISSING).sum(axis=1) >= 2
    theirs = np.where(np.isnan(judge), UNGRADED, judge >= at)
    codes = np.column_stack([ours, theirs]).astype(np.int16)[shared]
    counts = (int(shared.sum()), int((theirs[shared] == UNGRADED).sum()))
    if not counts[0]:
        nothing = undefined("no item has two people’s grades")
        return Ceiling(nothing, nothing, nothing, by, *counts)
    patterns = _rows_as_patterns(codes, None if people.topics is None else people.topics[shared])
    statistics: dict[str, Statistic] = {
        "people": partial(_mean_agreement, rows=patterns.rows, by=by, judge=False),
        "judge": partial(_mean_agreement, rows=patterns.rows, by=by, judge=True),
    }
    statistics["difference"] = partial(_difference, of=statistics["judge"], and_of=statistics["people"])
    if not all(np.isfinite(one(patterns.frequencies[None, :])[0]) for one in statistics.values()):
        nothing = undefined("all grades are on one side of the threshold")
        return Ceiling(nothing, nothing, nothing, by, *counts)
    found = _ceilings(statistics, patterns, by)
    return Ceiling(found["people"], found["judge"], found["difference"], by, *counts)


def _ceilings(statistics: dict[str, Statistic], patterns: RowPatterns, by: By) -> dict[str, Estimate]:
    difference = {"difference": statistics.pop("difference")}
    value, apart = (COEFFICIENT, DIFFERENCE_OF_COEFFICIENTS) if by == "kappa" else (SHARE, DIFFERENCE_OF_SHARES)
    return estimate(statistics, patterns, within=value) | estimate(difference, patterns, within=apart)


def _rows_as_patterns(codes: CodeArray, topics: IntArray | None) -> RowPatterns:
    """Return the distinct rows with their frequencies."""
    rows, which, times = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    by_topic = None
    if topics is not None:
        numbers, places = np.unique(topics, return_inverse=True)
        by_topic = np.zeros((len(numbers), len(rows)))
        np.add.at(by_topic, (places, which.ravel()), 1)
    return RowPatterns(rows, times.astype(np.float64), by_topic)


def _mean_agreement(frequencies: FloatArray, rows: CodeArray, by: By, *, judge: bool) -> FloatArray:
    """The mean over ordered pairs (r, s) of the agreement with s of r, or of the judge, on the items of both."""
    values = []
    for r, s in permutations(range(rows.shape[1] - 1), 2):
        both = (rows[:, r] != MISSING) & (rows[:, s] != MISSING)
        if both.any():
            other = rows[both, -1 if judge else r].astype(np.int64)
            patterns = PairPatterns(rows[both, s].astype(np.int64), other, 3, frequencies[0, both])
            values.append((kappa_of if by == "kappa" else _f1)(frequencies[:, both], patterns))
    known = np.isfinite(values)
    return quotient(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0))


def _f1(frequencies: FloatArray, patterns: PairPatterns) -> FloatArray:
    first, second = patterns.first == POSITIVE, patterns.second == POSITIVE
    shared, either = frequencies @ (first & second).astype(float), frequencies @ (first * 0.5 + second * 0.5)
    return quotient(shared, either)


def _difference(frequencies: FloatArray, of: Statistic, and_of: Statistic) -> FloatArray:
    return of(frequencies) - and_of(frequencies)
