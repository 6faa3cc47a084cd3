"""Means of people's labels corrected by a judge's predictions, with each item's influence: PPI++, plain and weighted.

Sources: Angelopoulos, Duchi and Zrnic, PPI++: Efficient Prediction-Powered Inference (2023), arXiv 2311.01453. For
unequal probabilities the difference estimator with Hájek's weights: Särndal, Swensson and Wretman, Model Assisted
Survey Sampling (1992), sections 5.7 and 6.3.
"""

from __future__ import annotations

import numpy as np

from evaluation.influence import left_out, unbiased
from evaluation.labels import Labels
from evaluation.ratings import FloatArray


def corrected_mean(labels: Labels, judge: FloatArray | None) -> tuple[float, FloatArray, float]:
    """Return the estimate, its influence and λ."""
    predicted = np.zeros(labels.n_items) if judge is None else judge
    return _plain_ppi(labels, predicted) if labels.plain else _weighted_ppi(labels, predicted)


def _plain_ppi(labels: Labels, judge: FloatArray) -> tuple[float, FloatArray, float]:
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
    if not power:
        return float(errors.mean()), influence, power
    influence[~labelled] = power * (on_others - on_others.mean()) / n_others * unbiased(n_others)
    return float(errors.mean() + power * on_others.mean()), influence, power


def _weighted_ppi(labels: Labels, judge: FloatArray) -> tuple[float, FloatArray, float]:
    shares, weights = labels.shares, label_weights(labels)
    weights = weights / weights.sum()
    people = np.where(labels.labelled, labels.people, 0.0)
    mean, on_labelled, on_people = float(shares @ judge), float(weights @ judge), float(weights @ people)
    widened = left_out(weights)
    of_people = widened * (people - on_people)
    of_judge = shares * (judge - mean) - widened * (judge - on_labelled)
    power, n_others = 0.0, labels.n_items - labels.n_labelled
    if n_others and (spread := float(of_judge @ of_judge)) > 0:
        power = float(np.clip(-(of_judge @ of_people) / spread, 0, 1 + labels.n_labelled / n_others))
    return on_people + power * (mean - on_labelled), of_people + power * of_judge, power


def label_weights(labels: Labels) -> FloatArray:
    """How much each item's label counts, not yet normed: its share in the score times the items it stands for."""
    assert labels.weights is not None  # whoever calls has refused labels without any
    return np.where(labels.labelled, labels.shares * np.nan_to_num(labels.weights), 0.0)
