"""What the labels at hand tell about those to come: how much topics, and how much labels, add to a score's variance.

With n of N items labelled, SE² = between + within·(1/n − 1/N). `between` is what remains when people have labelled
everything: how far topics differ, by their number. No label within the same topics reduces it. `within` is how far
people's values differ from what judge and draw tell of them, sd²·(1 − ρ²) for independent items. T topics in place of C
have the variance times C/T.

Sources: for independent items this is the variance of PPI++ with the best λ, Angelopoulos, Duchi and Zrnic, arXiv
2311.01453; for topics two-stage sampling, Cochran, Sampling Techniques (3rd ed., 1977), chapter 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stats.calibration.labels import Labels, equal_weights
from stats.calibration.ppi import corrected_mean, label_weights, predictions
from stats.intervals import FEWEST_TOPICS, SHARE, UNBOUNDED, Sample, effective_number, interval
from stats.plurals import counted
from stats.ratings import FloatArray, IntArray
from stats.refusals import Refused

FEWEST_PILOT_LABELS = 10


class NoPlan(Refused):
    """The question has no answer with these labels, or these numbers."""


@dataclass(frozen=True)
class Pilot:
    """What the labels at hand tell about those to come.

    - `value`: the corrected score; `sd`: of people's values; `correlation`: with the judge's, ungraded replies telling
      nothing; None where the values are topics';
    - `between`: the variance that remains when people have labelled all items of these topics;
    - `within`: what one label adds, so that n of the N items give between + within·(1/n − 1/N);
    - `uneven`, `uneven_labels`: how unequally topics count in the score, and how much more unequally their labels, as
      squared coefficients of variation; the latter falls as 1/n − 1/N too;
    - `n_topics`: None where items are independent; `yes_or_no`: whether the score is a share.
    """

    value: float
    sd: float
    correlation: float | None
    between: float
    within: float
    uneven: float
    uneven_labels: float
    n_topics: int | None
    n_labelled: int
    n_items: int
    yes_or_no: bool

    def as_dict(self) -> dict[str, Any]:
        """Return it as `manage.py trust plan --json` prints it."""
        shown = ("sd", "correlation", "between", "within", "n_topics", "n_labelled", "n_items")
        return {name: getattr(self, name) for name in shown}

    def error(self, n: int) -> float:
        """Return the standard error with `n` of these items labelled."""
        return math.sqrt(self.between + self.within * (1 / n - 1 / self.n_items))

    def sample(self, n: int) -> Sample:
        """Return what the score rests on then."""
        if self.n_topics is None:
            return Sample(n_items=n)
        uneven = self.uneven + self.uneven_labels * (1 / n - 1 / self.n_items)
        return Sample(min(self.n_topics, n), n, min(self.n_topics / (1 + uneven), n))

    def half_width(self, n: int) -> float | None:
        """Return half the width of the score's interval with `n` items labelled; None where it would have none."""
        return _half_width(self, self.error(n), self.sample(n))

    def of_topics(self, n_topics: int, *, widened: float = 1.0) -> Pilot:
        """Return the pilot of so many topics like these, with a variance `widened` times as large."""
        assert self.n_topics is not None  # whoever calls has asked
        times = n_topics / self.n_topics
        return replace(
            self,
            between=self.between / times * widened,
            within=self.within * widened,
            uneven_labels=self.uneven_labels * times,
            n_topics=n_topics,
            n_items=round(self.n_items * times),
        )


def labels_worth(labels: Labels, predicted: FloatArray) -> float:
    """Return how many labels by people alone would tell as much as these labels with these predictions of all items.

    By what drawing labels adds to the variance, with the predictions and without: how far topics differ is the same for
    both, and no number of labels reduces it.
    """
    left = 1 / labels.n_labelled - 1 / labels.n_items
    alone = _added(labels, _residuals(labels, np.zeros(labels.n_items)))
    if left <= 0 or alone <= 0:
        return float(labels.n_labelled)
    return 1 / (1 / labels.n_items + left * _added(labels, _residuals(labels, predicted)) / alone)


def _residuals(labels: Labels, predicted: FloatArray) -> FloatArray:
    """People's values less the predictions, less their weighted mean; 0 where nobody labelled. Shape (items,)."""
    weights = label_weights(labels) / label_weights(labels).sum()
    residuals = np.where(labels.labelled, labels.people - predicted, 0.0)
    return np.where(labels.labelled, residuals - weights @ residuals, 0.0)


def _added(labels: Labels, residuals: FloatArray, units: IntArray | None = None) -> float:
    """What drawing these labels has added to the score's variance."""
    if labels.topics is not None and labels.n_labelled_topics > 1:
        return _Drawn.of(labels, residuals, units).variance()
    weights = label_weights(labels) / label_weights(labels).sum()
    left = 1 / labels.n_labelled - 1 / labels.n_items
    return left * float(weights @ residuals**2)


def pilot_of(labels: Labels, units: IntArray | None = None) -> Pilot:
    """Return what the labels at hand tell, as they were drawn; of an unknown draw, as if it was simple and random.

    `units` numbers what was drawn at once, such as the text of each item; None: items. For two systems `labels` holds
    the differences between the pairs' values. Raises NoPlan for too few labels, or labels in too few topics.
    """
    if labels.n_labelled < FEWEST_PILOT_LABELS:
        raise NoPlan(
            f"{counted(labels.n_labelled, 'labels')} are too few to plan from; label {FEWEST_PILOT_LABELS} at least."
        )
    if labels.weights is None:
        labels = replace(labels, weights=equal_weights(labels.people))
    judge, weights = predictions(labels), label_weights(labels)
    weights = weights / weights.sum()
    labelled = labels.labelled
    shared = np.cov(labels.people[labelled], judge[labelled], aweights=weights[labelled])
    sd, spread = math.sqrt(shared[0, 0]), float(np.prod(np.diag(shared)))
    found = corrected_mean(labels, judge)
    power = float(np.clip(_slope(shared), 0, 1))
    if labels.topics is not None and labels.n_labelled < labels.n_items:
        power = found.power
    residuals = _residuals(labels, power * judge)
    pilot = Pilot(
        value=found.value,
        sd=sd,
        correlation=float(shared[0, 1]) / math.sqrt(spread) if spread > 0 else 0.0,
        between=float(labels.shares @ labels.shares) * sd**2,
        within=float(weights @ residuals**2),
        uneven=0.0,
        uneven_labels=0.0,
        n_topics=labels.n_topics,
        n_labelled=labels.n_labelled,
        n_items=labels.n_items,
        yes_or_no=labels.yes_or_no,
    )
    return pilot if labels.topics is None else _with_topics(pilot, labels, residuals, units, found.error)


def _slope(shared: FloatArray) -> float:
    return float(shared[0, 1] / shared[1, 1]) if shared[1, 1] > 0 else 0.0


def _with_topics(pilot: Pilot, labels: Labels, residuals: FloatArray, units: IntArray | None, error: float) -> Pilot:
    """Part the pilot's variance into what its labels' draw has added and what its topics have."""
    if (n := labels.n_labelled_topics) < FEWEST_TOPICS:
        raise NoPlan(
            f"The labels are from {n} topics. To estimate how much topics differ, label items of at least "
            f"{FEWEST_TOPICS}."
        )
    drawn = _Drawn.of(labels, residuals, units)
    left = 1 / labels.n_labelled - 1 / labels.n_items
    uneven = _uneven(drawn.shares)
    added = drawn.variance()
    return replace(
        pilot,
        # What chance takes below the variance of independent items would not come again; all labels are what they are.
        between=max(error**2 - added, pilot.between) if left > 0 else error**2,
        within=added / left if left > 0 else labels.n_items * float(labels.shares**2 @ drawn.apart**2),
        uneven=uneven,
        uneven_labels=max(_uneven(drawn.weights) - uneven, 0.0) / left if left > 0 else 0.0,
    )


def _uneven(sizes: FloatArray) -> float:
    """The squared coefficient of variation."""
    return max(len(sizes) / effective_number(sizes.tolist()) - 1, 0.0)


@dataclass(frozen=True)
class _Drawn:
    """What the draw of labels has added to the variance, by topic and within topics.

    - `shares`, `weights`: how much each topic counts in the score, and by its labels; both of shape (topics,), sum 1;
    - `means`: of the residuals in each topic, 0 where nothing is labelled; `noise`: their variance for the draw;
    - `apart`: how far each item's residual is from its topic's mean, shape (items,).
    """

    shares: FloatArray
    weights: FloatArray
    means: FloatArray
    noise: FloatArray
    apart: FloatArray

    @classmethod
    def of(cls, labels: Labels, residuals: FloatArray, units: IntArray | None) -> _Drawn:
        _, places = np.unique(np.asarray(labels.topics), return_inverse=True)
        weights = label_weights(labels) / label_weights(labels).sum()
        of_topic, sums, shares = (_by_topic(places, each) for each in (weights, weights * residuals, labels.shares))
        means = np.divide(sums, of_topic, out=np.zeros(len(sums)), where=of_topic > 0)
        apart = np.where(labels.labelled, residuals - means[places], 0.0)
        return cls(
            shares=shares,
            weights=of_topic,
            means=means,
            noise=_noise(labels, places, weights, apart, units),
            apart=apart,
        )

    def variance(self) -> float:
        """Return Σ_c noise + τ² Σ_c (weight − share)², τ² the variance of topics' means beyond their noise."""
        there = self.weights > 0
        n = int(there.sum())
        noise_of_means = self.noise[there] / self.weights[there] ** 2
        apart = max(float((self.means[there] ** 2).sum() / (n - 1) - noise_of_means.mean()), 0.0)
        return float(self.noise.sum() + apart * ((self.weights - self.shares) ** 2).sum())


def _noise(
    labels: Labels, places: IntArray, weights: FloatArray, apart: FloatArray, units: IntArray | None
) -> FloatArray:
    """The variance that drawing units in each topic has given to Σ weights·residuals, shape (topics,).

    Topics of which one unit is labelled take the others' spread.
    """
    rows = np.flatnonzero(labels.labelled)
    _, unit = np.unique(rows if units is None else units[rows], return_inverse=True)
    first = np.unique(unit, return_index=True)[1]
    topic, n_topics = places[rows][first], int(places.max()) + 1
    sums = np.bincount(unit, weights=(weights * apart)[rows])
    sizes = np.bincount(unit, weights=weights[rows])
    assert labels.weights is not None  # pilot_of
    left = np.clip(1 - 1 / labels.weights[rows][first], 0, 1)
    n = np.bincount(topic, minlength=n_topics)
    several = n[topic] > 1
    squares = np.where(several, sums**2 * n[topic] / np.maximum(n[topic] - 1, 1), 0.0)
    if several.any():
        squares = np.where(several, squares, sizes**2 * squares.sum() / (sizes[several] ** 2).sum())
    return _by_topic(topic, left * squares, n_topics)


def _by_topic(topics: IntArray, values: FloatArray, n_topics: int = 0) -> FloatArray:
    return np.bincount(topics, weights=values, minlength=n_topics).astype(np.float64)


def _half_width(pilot: Pilot, error: float, sample: Sample) -> float | None:
    n = sample.n_items or 0
    if pilot.yes_or_no:
        value = min(max(pilot.value, 0.0), 1.0)
        found = interval(value, error, sample, within=SHARE, spread=pilot.sd**2, n=n)
    else:
        found = interval(pilot.value, error, sample, within=UNBOUNDED)
    return None if found.low is None or found.high is None else (found.high - found.low) / 2
