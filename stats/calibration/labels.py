"""Human labels on a part of the items that a judge has graded, and how many items each label stands for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stats.intervals import Sample, effective_number
from stats.ratings import BoolArray, FloatArray, IntArray

# Weights that differ by less are equal but for rounding.
ROUNDING = 1e-9


class NotALabelTable(ValueError):
    """The arrays do not describe items with labels."""


@dataclass(frozen=True)
class Labels:
    """What people and the judge say of each item of a population. All arrays have the shape (items,).

    - `people`: the value people give, NaN where nobody labelled the item. Yes is 1 and no is 0, or the values are
      grades of an interval scale.
    - `judge`: the judge's value on the same scale, NaN where its reply holds no grade (ungraded).
    - `grades`: the grades behind the judge's values, finer than yes and no, in any unit; None where they are the
      values.
    - `weights`: how many items a labelled item stands for: 1 / its inclusion probability, or see `weights_of_waves`.
      NaN where nobody labelled. None where nobody knows how the labelled items were chosen.
    - `topics`: the number of each item's topic. Items of a topic are not independent, so intervals are over topics.
      None: items are independent.
    - `per_topic`: whether the score is the mean over topics of their means (each topic counts the same), not the mean
      over items.
    """

    people: FloatArray
    judge: FloatArray
    grades: FloatArray | None = None
    weights: FloatArray | None = None
    topics: IntArray | None = None
    per_topic: bool = False

    def __post_init__(self) -> None:
        columns = (self.people, self.judge, self.grades, self.weights, self.topics)
        lengths = {len(column) for column in columns if column is not None}
        if len(lengths) > 1:
            raise NotALabelTable(f"The columns differ in length: {sorted(lengths)}. Give one row to each item.")
        if self.per_topic and self.topics is None:
            raise NotALabelTable("A mean over topics needs the topic of each item.")
        if self.weights is not None and not (self.weights[self.labelled] > 0).all():
            raise NotALabelTable("A labelled item has no weight above 0: its inclusion probability is not known.")

    @cached_property
    def labelled(self) -> BoolArray:
        """Which items people labelled."""
        return np.asarray(np.isfinite(self.people))

    @cached_property
    def graded(self) -> BoolArray:
        """Which items the judge graded."""
        return np.asarray(np.isfinite(self.judge))

    @property
    def n_items(self) -> int:
        return len(self.people)

    @property
    def n_labelled(self) -> int:
        return int(self.labelled.sum())

    @property
    def n_ungraded(self) -> int:
        return int((~self.graded).sum())

    @property
    def n_topics(self) -> int | None:
        return None if self.topics is None else len(np.unique(self.topics))

    @property
    def n_labelled_topics(self) -> int:
        """How many topics have labels; 0 where items belong to none."""
        return 0 if self.topics is None else len(np.unique(self.topics[self.labelled]))

    @cached_property
    def yes_or_no(self) -> bool:
        """Whether people's values and the judge's are all 0 or 1."""
        return all(bool(np.isin(values[np.isfinite(values)], (0, 1)).all()) for values in (self.people, self.judge))

    @cached_property
    def judge_grades(self) -> FloatArray:
        """The finest grades that the judge gave, NaN where ungraded."""
        return self.judge if self.grades is None else self.grades

    @cached_property
    def shares(self) -> FloatArray:
        """How much each item counts in the score; sums to 1."""
        if not self.per_topic or self.topics is None:
            return np.full(self.n_items, 1 / max(self.n_items, 1))
        _, topics, sizes = np.unique(self.topics, return_inverse=True, return_counts=True)
        return np.asarray(1 / (len(sizes) * sizes[topics]))

    @property
    def drawn_equally(self) -> bool:
        """Whether every labelled item was drawn with the same probability."""
        if self.weights is None:
            return False
        weights = self.weights[self.labelled]
        return not len(weights) or bool(np.ptp(weights) <= ROUNDING * weights.max())

    @property
    def plain(self) -> bool:
        """Whether all items count the same, are independent and were drawn with the same probability."""
        return self.drawn_equally and self.topics is None

    def sample(self, counting: FloatArray, *, spent: int = 0) -> Sample:
        """Return what a score rests on whose items count as much as `counting` (≥ 0), shape (items,), says.

        `spent` degrees of freedom went to estimates on the way.
        """
        n = int((counting > 0).sum())
        if self.topics is None:
            return Sample(n_items=n, effective=n - spent)
        sizes = np.bincount(np.unique(self.topics, return_inverse=True)[1], weights=counting)
        return Sample(int((sizes > 0).sum()), n, min(effective_number(sizes.tolist()), n - spent))

    def of_items(self, rows: IntArray | BoolArray) -> Labels:
        """Return these items alone, as a population of its own."""
        return replace(
            self,
            people=self.people[rows],
            judge=self.judge[rows],
            grades=None if self.grades is None else self.grades[rows],
            weights=None if self.weights is None else self.weights[rows],
            topics=None if self.topics is None else self.topics[rows],
        )


def equal_weights(people: FloatArray) -> FloatArray:
    """Return the weights of labels on a simple random sample: items / labelled items each."""
    labelled = np.isfinite(people)
    return np.where(labelled, len(people) / max(int(labelled.sum()), 1), np.nan)


def weights_of_waves(waves: IntArray, probabilities: FloatArray, *, drawn: BoolArray) -> FloatArray:
    """Return how many items each label stands for when labels were drawn in waves, each knowing those before.

    - `waves`: the wave of each drawn item, any numbers, in their order;
    - `probabilities`: with which it was drawn **among the items that no earlier wave had drawn**;
    - `drawn`: which items were drawn at all. All arrays have the shape (items,).

    Wave t estimates the total by what earlier waves know for certain plus its own draws over their probabilities, which
    is unbiased given those waves, whatever the draw learned from their labels. The waves are averaged by their sizes.
    Source: the sequential estimator of Zrnic and Candès, Active Statistical Inference (2024), section 5, here with
    draws without replacement; the averaging is that of Raj, Some estimators in sampling with varying probabilities
    without replacement (1956).
    """
    weights = np.full(len(waves), np.nan)
    numbers, sizes = np.unique(waves[drawn], return_counts=True)
    parts = sizes / max(int(sizes.sum()), 1)
    for place, number in enumerate(numbers):
        here = drawn & (waves == number)
        weights[here] = parts[place] / probabilities[here] + parts[place + 1 :].sum()
    return weights
