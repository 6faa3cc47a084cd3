"""Means of people's labels corrected by a judge's predictions (PPI++), with standard errors over items or topics.

θ = λ Σ a·f + Σ_L v·(Y − λf): a is an item's share in the score, v ∝ a × weight over the labelled, summing to 1 (Hájek),
λ how far the judge is used. Where items belong to topics, λ is what makes the variance *over topics* least: where whole
topics are labelled, or texts with many items, labels that stand together say less than as many that stand apart. Few
topics would choose λ by chance, so what the single items say is added to them and counts as much as ten topics. The
standard error leaves out each topic in turn and chooses λ without it; topics that have labels and topics that have none
are two strata.

Sources: Angelopoulos, Duchi and Zrnic, PPI++: Efficient Prediction-Powered Inference (2023), arXiv 2311.01453. For
unequal probabilities the difference estimator with Hájek's weights: Särndal, Swensson and Wretman, Model Assisted
Survey Sampling (1992), sections 5.7 and 6.3. The jackknife by strata: Wolter, Introduction to Variance Estimation (2nd
ed., 2007), section 4.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stats.calibration.labels import Labels
from stats.influence import labelled_topics, left_out, standard_error, unbiased
from stats.ratings import BoolArray, FloatArray

# `make calibration-check`: with 0 intervals of few topics are too short, with many more λ is that of single items.
ITEMS_ARE_WORTH = 10
# Over more topics λ is as good as known, and leaving out each of them costs more than it tells.
MOST_LEFT_OUT = 1_000
NO_SPREAD = 1e-20


@dataclass(frozen=True)
class CorrectedMean:
    """A corrected mean: its λ, its standard error, and what each item adds to its deviation, shape (items,)."""

    value: float
    power: float
    error: float
    influence: FloatArray


def corrected_mean(labels: Labels, judge: FloatArray | None) -> CorrectedMean:
    """Return the mean of people's labels, corrected by these predictions of all items; without any, alone."""
    predicted = np.zeros(labels.n_items) if judge is None else judge
    if labels.plain:
        return _of_a_simple_sample(labels, predicted)
    parts = _parts(labels, predicted)
    if labels.topics is None:
        power = float(_best_power(-(parts.of_judge @ parts.of_people), parts.of_judge @ parts.of_judge, labels))
        return parts.mean(power, standard_error(parts.influence(power), None))
    return _over_topics(labels, predicted, parts)


def predictions(labels: Labels) -> FloatArray:
    """Return the judge's values, and for ungraded replies the mean of the others.

    A value that is the mean moves an estimate nowhere: an ungraded item counts through its human label alone, and the
    estimate stays unbiased, since labelled and unlabelled items are filled alike.
    """
    if not labels.graded.any():
        return np.zeros(labels.n_items)
    mean = float(np.average(labels.judge[labels.graded], weights=labels.shares[labels.graded]))
    return np.where(labels.graded, labels.judge, mean)


def label_weights(labels: Labels) -> FloatArray:
    """How much each item's label counts, not yet normed: its share in the score times the items it stands for."""
    assert labels.weights is not None  # whoever calls has refused labels without any
    return np.where(labels.labelled, labels.shares * np.nan_to_num(labels.weights), 0.0)


def _of_a_simple_sample(labels: Labels, judge: FloatArray) -> CorrectedMean:
    labelled = labels.labelled
    people, on_labelled, on_others = labels.people[labelled], judge[labelled], judge[~labelled]
    n, n_others = len(on_labelled), len(on_others)
    power, spread = 0.0, float(np.var(judge, ddof=1))
    if n_others > 1 and spread > 0:
        shared = float(np.cov(people, on_labelled)[0, 1])
        power = float(np.clip(shared / ((1 + n / n_others) * spread), 0, 1))
    errors = people - power * on_labelled
    influence = np.zeros(labels.n_items)
    influence[labelled] = (errors - errors.mean()) / n * unbiased(n)
    value = float(errors.mean())
    if power:
        influence[~labelled] = power * (on_others - on_others.mean()) / n_others * unbiased(n_others)
        value += power * float(on_others.mean())
    return CorrectedMean(value, power, standard_error(influence, None), influence)


@dataclass(frozen=True)
class _Parts:
    """The estimator taken apart: `people` + λ·`correction`, and what each item adds to the deviation of either."""

    people: float
    correction: float
    of_people: FloatArray
    of_judge: FloatArray

    def influence(self, power: float) -> FloatArray:
        return self.of_people + power * self.of_judge

    def mean(self, power: float, error: float) -> CorrectedMean:
        return CorrectedMean(self.people + power * self.correction, power, error, self.influence(power))


def _parts(labels: Labels, judge: FloatArray) -> _Parts:
    shares, weights = labels.shares, label_weights(labels)
    weights = weights / weights.sum()
    people = np.where(labels.labelled, labels.people, 0.0)
    mean, on_labelled, on_people = float(shares @ judge), float(weights @ judge), float(weights @ people)
    widened = left_out(weights)
    return _Parts(
        people=on_people,
        correction=mean - on_labelled,
        of_people=widened * (people - on_people),
        of_judge=shares * (judge - mean) - widened * (judge - on_labelled),
    )


def _best_power(shared: FloatArray, spread: FloatArray, labels: Labels) -> FloatArray:
    """Return the λ of least variance within 0 and 1 + n/N; 0 where the judge has nothing left to tell, or no spread."""
    n_others = labels.n_items - labels.n_labelled
    power = np.zeros_like(shared)
    if n_others:
        np.divide(shared, spread, out=power, where=spread > NO_SPREAD)
    return np.asarray(np.clip(power, 0, 1 + labels.n_labelled / max(n_others, 1)))


def _over_topics(labels: Labels, judge: FloatArray, parts: _Parts) -> CorrectedMean:
    topics = _Topics.of(labels, judge, parts)
    values, powers = topics.estimates(np.ones((1, len(topics.labelled))), labels)
    power = float(powers[0])
    if len(topics.labelled) > MOST_LEFT_OUT:
        error = standard_error(parts.influence(power), labels.topics, labelled=labels.labelled)
    elif topics.labelled.sum() < 2:
        error = 0.0
    else:
        values, _ = topics.estimates(1 - np.eye(len(topics.labelled)), labels)
        error = _jackknife(values, topics.labelled)
    return parts.mean(power, error)


def _jackknife(values: FloatArray, labelled: BoolArray) -> float:
    """Return the standard error from the estimates without each topic, those with labels and those without apart."""
    squares = 0.0
    for kind in (labelled, ~labelled):
        if (n := int(kind.sum())) > 1:
            squares += (n - 1) / n * float(((values[kind] - values[kind].mean()) ** 2).sum())
    return float(np.sqrt(squares))


@dataclass(frozen=True)
class _Topics:
    """The estimator's sums by topic, from which any topics can be left out.

    - `sums`: Σa, Σaf, Σv, ΣvY, Σvf, shape (topics, 5); `items`: the items' own −Σ B·A and Σ A², shape (topics, 2), with
      A and B what an item adds through the judge and through people;
    - `labelled`: which topics have labels.
    """

    sums: FloatArray
    items: FloatArray
    labelled: BoolArray

    @classmethod
    def of(cls, labels: Labels, judge: FloatArray, parts: _Parts) -> _Topics:
        assert labels.topics is not None  # whoever calls has asked
        _, places = np.unique(labels.topics, return_inverse=True)
        shares, weights = labels.shares, label_weights(labels)
        people = np.where(labels.labelled, labels.people, 0.0)

        def by_topic(*columns: FloatArray) -> FloatArray:
            return np.stack([np.bincount(places, weights=column) for column in columns], axis=1)

        return cls(
            sums=by_topic(shares, shares * judge, weights, weights * people, weights * judge),
            items=by_topic(-parts.of_people * parts.of_judge, parts.of_judge**2),
            labelled=labelled_topics(labels.topics, labels.labelled),
        )

    def estimates(self, kept: FloatArray, labels: Labels) -> tuple[FloatArray, FloatArray]:
        """Return θ and λ over the topics that each row keeps (1: kept, 0: left out), both of shape (rows,)."""
        share, of_judge, weight, of_people, of_labelled = (kept @ self.sums).T
        mean, people, on_labelled = of_judge / share, of_people / weight, of_labelled / weight
        a, af, v, vy, vf = self.sums.T
        through_judge = (af - np.outer(mean, a)) / share[:, None] - (vf - np.outer(on_labelled, v)) / weight[:, None]
        through_people = (vy - np.outer(people, v)) / weight[:, None]
        shared, spread = np.zeros(len(kept)), np.zeros(len(kept))
        for kind in (self.labelled, ~self.labelled):
            members = kept * kind
            n = np.maximum(members.sum(axis=1), 1)
            sums = (members * through_judge).sum(axis=1), (members * through_people).sum(axis=1)
            shared -= (members * through_judge * through_people).sum(axis=1) - sums[0] * sums[1] / n
            spread += (members * through_judge**2).sum(axis=1) - sums[0] ** 2 / n
        items = kept @ self.items * (ITEMS_ARE_WORTH / self.labelled.sum())
        power = _best_power(shared + items[:, 0], spread + items[:, 1], labels)
        return people + power * (mean - on_labelled), power
