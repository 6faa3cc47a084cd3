"""Rogan and Gladen's correction of a judge's share of yes by its sensitivity and specificity.

Sources: Rogan and Gladen, Estimating prevalence from the results of a screening test (1978). The interval is that of a
ratio: Fieller, Some problems in interval estimation (1954). It is bounded exactly where what the ratio divides by, Se +
Sp − 1, is above 0 by more than chance; where it is not, the correction is refused. Se and Sp have at least the variance
of independent labels, one more of each kind among them (Agresti and Coull, Approximate is better than "exact", 1998): a
judge that was never wrong on a few labels is not taken for one that never errs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stats.calibration.labels import Labels
from stats.influence import covariance, unbiased
from stats.intervals import Estimate, t_quantile, undefined
from stats.ratings import BoolArray, FloatArray

FEWEST_OF_A_KIND = 2


@dataclass(frozen=True)
class _Ratio:
    """p + Sp − 1 over Se + Sp − 1, with the covariance of the two, shape (2, 2)."""

    sensitivity: float
    specificity: float
    apparent: float
    covariance: FloatArray

    @property
    def above(self) -> float:
        return self.apparent + self.specificity - 1

    @property
    def below(self) -> float:
        """Youden's index: how much more the judge tells than chance."""
        return self.sensitivity + self.specificity - 1

    @property
    def error(self) -> float:
        """The standard error of the ratio by the delta method."""
        slope = np.array([1.0, -self.above / self.below]) / self.below
        return float(np.sqrt(slope @ self.covariance @ slope))

    def interval(self, quantile: float) -> tuple[float, float]:
        """Return the values θ with |above − θ·below| within `quantile` standard errors of it."""
        (v_above, shared), (_, v_below) = self.covariance.tolist()
        squared = quantile**2
        a = self.below**2 - squared * v_below
        b = self.above * self.below - squared * shared
        root = max(b * b - a * (self.above**2 - squared * v_above), 0.0) ** 0.5
        return (b - root) / a, (b + root) / a


def rogan_gladen(labels: Labels) -> Estimate:
    """Return the corrected share of yes with its interval within 0…1, or why it is refused.

    `labels` are yes and no; without weights every label counts alike.
    """
    yes, no = labels.labelled & (labels.people == 1), labels.labelled & (labels.people == 0)
    if min(yes.sum(), no.sum()) < FEWEST_OF_A_KIND:
        return undefined("fewer than two items are labelled yes, or fewer than two no")
    weights = np.where(labels.labelled, 1.0 if labels.weights is None else labels.weights, 0.0)
    ratio, sample = _ratio(labels, yes, no, weights), labels.sample(weights, spent=1)
    found = f"sensitivity {ratio.sensitivity:.3f} and specificity {ratio.specificity:.3f}"
    if ratio.below <= 0:
        return undefined(f"{found} sum to 1 or less: the judge is no better than chance")
    if sample.reason:
        return undefined(f"{sample.reason}, so the judge may be no better than chance")
    quantile = t_quantile(sample.freedom)
    least = ratio.below - quantile * float(np.sqrt(ratio.covariance[1, 1]))
    if least <= 0:
        return undefined(
            f"{found} sum to {ratio.below:.3f} more than 1, and may sum to {-least:.3f} less: the judge may be no "
            "better than chance"
        )
    value, (low, high) = min(max(ratio.above / ratio.below, 0.0), 1.0), ratio.interval(quantile)
    return Estimate(value, max(min(low, value), 0.0), min(max(high, value), 1.0), ratio.error, sample=sample)


def _ratio(labels: Labels, yes: BoolArray, no: BoolArray, weights: FloatArray) -> _Ratio:
    judged_yes = np.where(labels.judge == 1, 1.0, 0.0)
    apparent = float(labels.shares @ judged_yes)
    among_yes, among_no = (np.where(which, weights, 0.0) / weights[which].sum() for which in (yes, no))
    sensitivity, specificity = float(among_yes @ judged_yes), float(among_no @ (1 - judged_yes))
    of_apparent = labels.shares * (judged_yes - apparent)
    of_sensitivity = unbiased(int(yes.sum())) * among_yes * (judged_yes - sensitivity)
    of_specificity = unbiased(int(no.sum())) * among_no * (1 - judged_yes - specificity)

    def shared(*influences: FloatArray) -> FloatArray:
        return covariance(np.stack(influences, axis=1), labels.topics, labelled=labels.labelled)

    found = shared(of_apparent + of_specificity, of_sensitivity + of_specificity)
    of_both = np.diag(shared(of_sensitivity, of_specificity))
    lacking = np.maximum([_independent(judged_yes[yes]), _independent(judged_yes[no])] - of_both, 0)
    found = found + np.array([[lacking[1], lacking[1]], [lacking[1], lacking.sum()]])
    return _Ratio(sensitivity, specificity, apparent, found)


def _independent(values: FloatArray) -> float:
    """The variance of a share of independent yes and no, with one more of each."""
    share = (values.sum() + 1) / (len(values) + 2)
    return float(share * (1 - share) / (len(values) + 2))
