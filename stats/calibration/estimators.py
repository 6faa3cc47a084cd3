"""Scores of a judge corrected by human labels on a part of its items.

Every estimate is a sum over items plus something small; standard errors come from the items' parts (see `influence`)
or leave out each topic in turn (`corrected_means`), over topics where items belong to topics. Intervals follow the one
rule (`stats.intervals`), with the labelled items, or the topics that have labels, as what is drawn.

The population is what the items are a sample of. Ungraded replies stay in it: where a judge says nothing, a score rests
on human labels alone (see `predictions`).

Sources: PPI++: Angelopoulos, Duchi and Zrnic, PPI++: Efficient Prediction-Powered Inference (2023), arXiv 2311.01453.
Unequal probabilities: the difference estimator with Hájek's weights, Särndal, Swensson and Wretman, Model Assisted
Survey Sampling (1992), sections 5.7 and 6.3; as in Zrnic and Candès, Active Statistical Inference (2024), arXiv
2403.03208, which takes Horvitz and Thompson's. Post-stratification: Cochran, Sampling Techniques (3rd ed., 1977),
section 5A.9. Misclassification: Rogan and Gladen, Estimating prevalence from the results of a screening test (1978),
with the interval of Fieller, Some problems in interval estimation (1954).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stats.calibration.labels import Labels
from stats.calibration.misclassification import rogan_gladen
from stats.calibration.pilots import labels_worth
from stats.calibration.ppi import corrected_mean, label_weights, predictions
from stats.calibration.recalibration import FEWEST_PER_GRADE, crossfitted, grade_groups, is_sparse
from stats.influence import left_out, standard_error, unbiased
from stats.intervals import SHARE, UNBOUNDED, Estimate, interval, undefined
from stats.plurals import counted
from stats.ratings import FloatArray

FEWEST_LABELS = 50
FEWEST_OF_A_CLASS = 10
NO_LABELS = "no item is labelled"
ONE_LABEL = "only one item is labelled, so the spread is unknown"
UNKNOWN_DRAW = "the probabilities with which the labelled items were drawn are not recorded"
NOT_YES_OR_NO = "the values are not yes and no"
NO_LABEL_SHIFT = "label shift was not declared"
BY_PEOPLE = "count through human labels alone"
A_GRADE = "count as a grade of their own"


@dataclass(frozen=True)
class Score:
    """A score with its interval, and what it took.

    - `method`: how it was computed, in a few words;
    - `power`: how much of the judge is used (λ of PPI++): 0 is people alone;
    - `effective_labels`: how many human labels alone would tell as much (`pilots.labels_worth`).
    """

    estimate: Estimate
    method: str
    power: float | None = None
    effective_labels: float | None = None
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as the `calibrate` command prints it."""
        answer: dict[str, Any] = {**self.estimate.as_dict(), "method": self.method}
        if self.estimate.value is not None:
            answer |= {"se": self.estimate.se, "effective_labels": self.effective_labels}
            if self.estimate.reason:
                answer["reason"] = self.estimate.reason
        if self.power is not None:
            answer["lambda"] = self.power
        if self.warnings:
            answer["warnings"] = list(self.warnings)
        return answer


@dataclass(frozen=True)
class Corrected:
    """One population's score by people alone, by the judge alone, and by the judge as people correct it."""

    people: Score
    judge: Score
    ppi: Score
    post_stratified: Score
    rogan_gladen: Score
    n_items: int
    n_labelled: int
    n_ungraded: int

    @property
    def scores(self) -> dict[str, Score]:
        """The five by name."""
        return {
            "people": self.people,
            "judge": self.judge,
            "ppi": self.ppi,
            "post_stratified": self.post_stratified,
            "rogan_gladen": self.rogan_gladen,
        }

    def as_dict(self) -> dict[str, Any]:
        """Return it as the `calibrate` command prints it."""
        return {
            "n_items": self.n_items,
            "n_labelled": self.n_labelled,
            "n_ungraded": self.n_ungraded,
            "ungraded_share": self.n_ungraded / self.n_items if self.n_items else None,
            "scores": {name: score.as_dict() for name, score in self.scores.items()},
        }


def correct(labels: Labels, *, label_shift: bool = False) -> Corrected:
    """Return all scores of a population.

    `label_shift` declares that the judge errs alike on labelled items and on all others once the truth is given, which
    Rogan and Gladen's correction needs; then it needs no probabilities of the draw. All others but the judge's own do.
    """
    return Corrected(
        people=people_score(labels),
        judge=judge_score(labels),
        ppi=ppi_score(labels),
        post_stratified=post_stratified_score(labels),
        rogan_gladen=rogan_gladen_score(labels, label_shift=label_shift),
        n_items=labels.n_items,
        n_labelled=labels.n_labelled,
        n_ungraded=labels.n_ungraded,
    )


def people_score(labels: Labels) -> Score:
    """Return the mean of people's labels, the judge left aside (λ = 0)."""
    return _ppi(labels, None, method="human labels alone")


def judge_score(labels: Labels) -> Score:
    """Return the mean of the judge's values. Its interval tells of the sample of items, not of the judge's errors.

    An ungraded reply is no yes: among yes and no it stays in the denominator. Grades have no value for it, so a mean of
    grades is over the graded replies.
    """
    method = "judge alone"
    counted = np.ones(labels.n_items, dtype=bool) if labels.yes_or_no else labels.graded
    if not labels.graded.any():
        return Score(undefined("the judge graded no item"), method)
    shares = np.where(counted, labels.shares, 0.0)
    shares = shares / shares.sum()
    values = np.where(labels.graded, labels.judge, 0.0)
    value = float(shares @ values)
    error = standard_error(shares * (values - value) * unbiased(int(counted.sum())), labels.topics)
    fate = "count as no" if labels.yes_or_no else "are left out"
    estimate = _interval(value, error, labels, shares, like=value)
    return Score(estimate, method, warnings=_ungraded(labels, fate))


def ppi_score(labels: Labels) -> Score:
    """Return the judge's mean plus what people's labels correct in it, the judge used as far as it helps (PPI++).

    Without topics and with equal probabilities: θ = λ·mean(f_U) + mean(Y − λf_L) over the unlabelled and the labelled,
    SE² = λ² var(f_U)/N + var(Y − λf_L)/n. Else: θ = λ Σ a_i f_i + Σ_L v_i (Y_i − λf_i), with a_i the items' shares in
    the score and v_i ∝ a_i × weight, summing to 1 (Hájek), and λ in 0…1 + n/N that gives the least standard error; with
    equal probabilities the two have the same form.
    """
    return _ppi(labels, predictions(labels), method="PPI++", fate=BY_PEOPLE)


def post_stratified_score(labels: Labels) -> Score:
    """Return Σ_g (N_g/N)·Ȳ_g over the judge's grades, ungraded being one of them.

    Where a grade has fewer than five labels, the grades are recalibrated by isotonic regression, fitted crosswise so
    that no item is predicted from its own label, and corrected by PPI++.
    """
    groups, _ = grade_groups(labels)
    if (reason := _reason_against(labels)) is not None:
        return Score(undefined(reason), "post-stratified by the judge’s grade")
    if is_sparse(labels):
        method = f"isotonic, cross-fitted: a grade has fewer than {FEWEST_PER_GRADE} labels"
        return _ppi(labels, crossfitted(labels), method=method, fate=A_GRADE)
    labelled, weights = labels.labelled, label_weights(labels)
    n_groups = int(groups.max()) + 1
    in_group = np.bincount(groups, weights=weights, minlength=n_groups)
    people = np.where(labelled, labels.people, 0.0)
    means = np.bincount(groups, weights=weights * people, minlength=n_groups) / in_group
    sizes = np.bincount(groups, weights=labels.shares, minlength=n_groups)
    value = float(sizes @ means)
    within = sizes[groups] * left_out(weights / in_group[groups]) * (people - means[groups])
    influence = within + labels.shares * (means[groups] - value)
    error = standard_error(influence, labels.topics, labelled=labelled)
    estimate = _interval(value, error, labels, weights, spent=n_groups - 1)
    score = Score(estimate, "post-stratified by the judge’s grade")
    return _with_labels(score, labels, A_GRADE, means[groups])


def rogan_gladen_score(labels: Labels, *, label_shift: bool) -> Score:
    """Return (p + Sp − 1)/(Se + Sp − 1), p the judge's share of yes.

    Under label shift: given the truth, the judge errs on labelled items as on all others; labelled items may hold yes
    and no in another proportion. Refused unless Se + Sp − 1 is above 0 by more than chance. An ungraded reply is no
    yes, in p as in Se and Sp.
    """
    method = "Rogan–Gladen"
    if not label_shift:
        return Score(undefined(NO_LABEL_SHIFT), method)
    if not labels.yes_or_no:
        return Score(undefined(NOT_YES_OR_NO), method)
    return _with_labels(Score(rogan_gladen(labels), method), labels, "count as no")


def _ppi(labels: Labels, judge: FloatArray | None, *, method: str, fate: str = "") -> Score:
    """Correct these predictions, one for each item, by the labels; without predictions take the labels alone."""
    if (reason := _reason_against(labels)) is not None:
        return Score(undefined(reason), method)
    found = corrected_mean(labels, judge)
    estimate = _interval(found.value, found.error, labels, label_weights(labels))
    score = Score(estimate, method, power=None if judge is None else found.power)
    return _with_labels(score, labels, fate, np.zeros(labels.n_items) if judge is None else found.power * judge)


def _reason_against(labels: Labels) -> str | None:
    """Why people's labels give no score, or None."""
    if labels.n_labelled < 2:
        return ONE_LABEL if labels.n_labelled else NO_LABELS
    if labels.weights is None:
        return UNKNOWN_DRAW
    return None


def _with_labels(score: Score, labels: Labels, fate: str, predicted: FloatArray | None = None) -> Score:
    """Add what the labels are worth with these predictions, and the warnings with the `fate` of ungraded replies."""
    effective = None
    if predicted is not None and score.estimate.se:
        effective = labels_worth(labels, predicted)
    warnings = (*_too_few(labels), *(_ungraded(labels, fate) if fate else ()))
    return replace(score, effective_labels=effective, warnings=warnings)


def _too_few(labels: Labels) -> tuple[str, ...]:
    """What makes an interval of these labels too short."""
    found = []
    if labels.n_labelled < FEWEST_LABELS:
        found.append(
            f"{counted(labels.n_labelled, 'labels')}; with fewer than {FEWEST_LABELS}, intervals are too short"
        )
    values = labels.people[labels.labelled]
    if np.isin(values, (0, 1)).all():
        rarer = int(min(values.sum(), (1 - values).sum()))
        if rarer < FEWEST_OF_A_CLASS:
            few = f"with fewer than {FEWEST_OF_A_CLASS}, intervals are too short"
            found.append(f"{counted(rarer, 'labels')} of the rarer class; {few}")
    return tuple(found)


def _ungraded(labels: Labels, fate: str) -> tuple[str, ...]:
    if not labels.n_ungraded:
        return ()
    return (f"{labels.n_ungraded:,} of {counted(labels.n_items, 'replies')} ungraded: they {fate}",)


def _interval(
    value: float, error: float, labels: Labels, counting: FloatArray, *, spent: int = 0, like: float | None = None
) -> Estimate:
    """Return the interval over the items, or their topics, that count (`counting` is above 0: by how much).

    A share of yes has the spread of the share `like`, or else of people's. `spent` degrees of freedom went to estimates
    on the way.
    """
    sample = labels.sample(counting, spent=spent)
    if not labels.yes_or_no:
        return interval(value, error, sample, within=UNBOUNDED)
    if like is None:
        like = float(np.average(np.nan_to_num(labels.people), weights=counting))
    value = min(max(value, 0.0), 1.0)
    return interval(value, error, sample, within=SHARE, spread=like * (1 - like), n=int((counting > 0).sum()))
