"""Means of people's labels corrected by a judge's predictions (PPI++), with standard errors over items or topics.

θ = λ Σ a·f + Σ_L v·(Y − λf): a is an item's share in the score, v ∝ a × weight over the labelled, summing to 1 (Hájek),
λ how far the judge is used. Where items belong to topics, λ is what makes the variance *over topics* least: where whole
topics are labelled, or texts with many items, labels that stand together say less than as many that stand apart. Few
topics would choose λ by chance, so what topics and what single items say of it is weighed by precision. The
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
from stats.calibration.topic_sums import LabelledItems, Shares, TopicSums, best_power
from stats.influence import left_out, standard_error, unbiased
from stats.ratings import FloatArray

# Over more topics λ is as good as known, and leaving out each of them costs more than it tells.
MOST_LEFT_OUT = 1_000


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
        shared, spread = -(parts.of_judge @ parts.of_people), parts.of_judge @ parts.of_judge
        power = float(best_power(np.asarray(shared), np.asarray(spread), labels.n_items, labels.n_labelled))
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


def _over_topics(labels: Labels, judge: FloatArray, parts: _Parts) -> CorrectedMean:
    assert labels.topics is not None  # whoever calls has asked
    assert labels.weights is not None  # as above
    numbers, places = np.unique(labels.topics, return_inverse=True)
    items = LabelledItems(labels.people, judge, labels.weights, places, len(numbers))
    of_one = np.zeros(labels.n_items, dtype=np.int64)
    topics = TopicSums.of(items, Shares(of_one, np.arange(labels.n_items), labels.shares, 1))
    power = float(topics.estimates(np.ones((1, topics.n_topics)))[1][0, 0])
    if topics.n_topics > MOST_LEFT_OUT:
        error = standard_error(parts.influence(power), labels.topics, labelled=labels.labelled)
    elif topics.labelled.sum() < 2:
        error = 0.0
    else:
        error = float(topics.errors(topics.estimates(1 - np.eye(topics.n_topics))[0])[0])
    return parts.mean(power, error)
