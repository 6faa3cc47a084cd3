"""What people say where the judge gives a grade: the recalibration curve, by grade and as a rising curve.

Source: isotonic regression as in Zadrozny and Elkan, Transforming classifier scores into accurate multiclass
probability estimates (2002), from scikit-learn; fitted crosswise as in Zrnic and Candès, Cross-prediction-powered
inference (2023), arXiv 2309.16598.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stats.calibration.labels import Labels
from stats.influence import left_out, standard_error
from stats.intervals import SHARE, UNBOUNDED, Estimate, interval, undefined
from stats.pattern_intervals import SEED
from stats.ratings import BoolArray, FloatArray, IntArray

FOLDS = 5
# Fewer labels on a grade than these, and their mean says little of the grade.
FEWEST_PER_GRADE = 5


@dataclass(frozen=True)
class CurvePoint:
    """A grade of the judge (None: ungraded), how often it was given and labelled, and what people say there.

    `people` is the weighted mean of their labels, with its interval; `isotonic` is the rising curve's value.
    """

    grade: float | None
    n_items: int
    n_labelled: int
    people: Estimate
    isotonic: float | None


def recalibration_curve(labels: Labels) -> list[CurvePoint]:
    """Return a point for each grade that the judge gave, lowest first, ungraded last."""
    groups, grades = grade_groups(labels)
    rising = _fit(labels, labels.labelled)
    points = []
    for number, grade in enumerate(grades.tolist()):
        here = groups == number
        known = here & labels.labelled
        points.append(
            CurvePoint(
                grade=None if np.isnan(grade) else grade,
                n_items=int(here.sum()),
                n_labelled=int(known.sum()),
                people=_mean(labels, known),
                isotonic=None if rising is None else float(rising(np.array([grade]))[0]),
            )
        )
    return points


def grade_groups(labels: Labels) -> tuple[IntArray, FloatArray]:
    """Return for each item the number of its grade, and the grades, lowest first; NaN, ungraded, last."""
    grades, groups = np.unique(labels.judge_grades, return_inverse=True)
    return groups.ravel().astype(np.int64), grades


def is_sparse(labels: Labels) -> bool:
    """Whether a grade has too few labels for a mean of its own."""
    groups, grades = grade_groups(labels)
    return bool((np.bincount(groups[labels.labelled], minlength=len(grades)) < FEWEST_PER_GRADE).any())


def crossfitted(labels: Labels, *, seed: int = SEED, every_item: bool = False) -> FloatArray:
    """Return the human value expected of each item from its grade, shape (items,).

    Five parts of the topics, or of the items where there are none, are predicted each from the labels of the other
    four; an unlabelled item takes the mean of the five predictions, or with `every_item` that of its own part.
    """
    folds = _folds(labels, seed)
    predicted = np.empty((FOLDS, labels.n_items))
    for fold in range(FOLDS):
        rising = _fit(labels, labels.labelled & (folds != fold)) or _fit(labels, labels.labelled)
        assert rising is not None  # there are labels
        predicted[fold] = rising(labels.judge_grades)
    own = predicted[folds, np.arange(labels.n_items)]
    return own if every_item else np.where(labels.labelled, own, predicted.mean(axis=0))


def _folds(labels: Labels, seed: int) -> IntArray:
    """Part the labelled items evenly, or the topics whole."""
    rng = np.random.default_rng(seed)
    if labels.topics is not None:
        numbers, places = np.unique(labels.topics, return_inverse=True)
        if len(numbers) >= FOLDS:
            return np.asarray(rng.permutation(len(numbers)) % FOLDS)[places]
    folds = np.zeros(labels.n_items, dtype=np.int64)
    rows = rng.permutation(np.flatnonzero(labels.labelled))
    folds[rows] = np.arange(len(rows)) % FOLDS
    return folds


class _Rising:
    """An isotonic regression of people's values on grades; the mean of the labels where the judge gave none."""

    def __init__(self, grades: FloatArray, people: FloatArray, weights: FloatArray) -> None:
        from sklearn.isotonic import isotonic_regression

        known = np.isfinite(grades)
        mean = np.average(people, weights=weights)
        self.ungraded = float(mean if known.all() else np.average(people[~known], weights=weights[~known]))
        self.grades, places = np.unique(grades[known], return_inverse=True)
        sizes = np.bincount(places, weights=weights[known], minlength=len(self.grades))
        sums = np.bincount(places, weights=weights[known] * people[known], minlength=len(self.grades))
        self.values = isotonic_regression(sums / sizes, sample_weight=sizes) if len(sizes) else sizes

    def __call__(self, grades: FloatArray) -> FloatArray:
        known = np.isfinite(grades)
        predicted = np.full(len(grades), self.ungraded)
        if len(self.grades):
            predicted[known] = np.interp(grades[known], self.grades, self.values)
        return predicted


def _fit(labels: Labels, rows: BoolArray) -> _Rising | None:
    if not rows.any():
        return None
    return _Rising(labels.judge_grades[rows], labels.people[rows], _weights(labels)[rows])


def _weights(labels: Labels) -> FloatArray:
    return np.ones(labels.n_items) if labels.weights is None else labels.weights


def _mean(labels: Labels, rows: BoolArray) -> Estimate:
    """The weighted mean of people's values on these rows, over topics where there are any."""
    n = int(rows.sum())
    if not n:
        return undefined("no item with this grade is labelled")
    counting = np.where(rows, _weights(labels), 0.0)
    parts, people = counting / counting.sum(), np.where(rows, labels.people, 0.0)
    mean = float(parts @ people)
    error = standard_error(left_out(parts) * (people - mean), labels.topics, labelled=rows)
    within = SHARE if labels.yes_or_no else UNBOUNDED
    return interval(mean, error, labels.sample(counting), within=within, n=n)
