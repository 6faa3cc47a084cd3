"""What corrected scores of rankings tell about the labels to come: how much topics, and how much labels, add to a mean.

A mean over T topics of corrected scores, or of their differences, has the variance S² / T, S² being the topics' own.
Part of it is the draw's: other labels of the same draw move the topics' scores, as resampling shows (`deviations`). By
that, SE² = between + within·(1/n − 1/N) with n of N items labelled, and the rest is `calibration.planning`'s.

How sure the number of labels is, resampling topics shows. Both variances are skewed, a few topics having much of them,
so the range's ends lie further out than a tenth of the resamples: `tests/label_plans_check.py` shows how often it
holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from stats.calibration.pilots import NoPlan, Pilot
from stats.calibration.planning import POWER, Plan, noncentrality, plan_half_width, plan_separation
from stats.intervals import FEWEST_TOPICS, t_quantile
from stats.pattern_intervals import SEED
from stats.plurals import counted
from stats.ratings import FloatArray

RESAMPLES, RESAMPLES_OF_LABELS = 400, 24
ENDS = (0.06, 0.95)


@dataclass(frozen=True)
class TopicPilot:
    """What so many labels among so many items tell of a mean over topics.

    `values`: of each topic, shape (topics,); `deviations`: how far other labels of the same draw move it, resamples ×
    topics; `by_judge`: the judge's own, shape (topics,).
    """

    values: FloatArray
    deviations: FloatArray
    by_judge: FloatArray
    n_labelled: int
    n_items: int

    def __post_init__(self) -> None:
        if self.n_topics < FEWEST_TOPICS:
            few = counted(self.n_topics, "topics")
            raise NoPlan(f"A plan needs labels in {FEWEST_TOPICS} topics; there are {few}.")
        if self.left <= 0:
            raise NoPlan("Assessors have labelled every item, so only more topics tell more.")

    @property
    def n_topics(self) -> int:
        return len(self.values)

    @property
    def left(self) -> float:
        return 1 / self.n_labelled - 1 / self.n_items

    @property
    def least(self) -> float:
        """The variance that topics have at least: the judge's, since what is left beside a large draw's may be 0."""
        return float(self.by_judge.var(ddof=1))

    @property
    def pilot(self) -> Pilot:
        """Return it as `calibration.planning` takes it."""
        variance = float(self.values.var(ddof=1))
        drawn = float(self.deviations.var(axis=0, ddof=1).mean())
        return Pilot(
            value=float(self.values.mean()),
            sd=variance**0.5,
            correlation=None,
            between=max(variance - drawn, self.least) / self.n_topics,
            within=drawn / self.n_topics / self.left,
            uneven=0.0,
            uneven_labels=0.0,
            n_topics=self.n_topics,
            n_labelled=self.n_labelled,
            n_items=self.n_items,
            yes_or_no=False,
        )

    def plan_half_width(self, half_width: float) -> Plan:
        """Return what a 95 % interval of ± `half_width` takes."""
        error = half_width / t_quantile(self.n_topics - 1)
        return self._with_range(plan_half_width(self.pilot, half_width), error)

    def plan_separation(self, difference: float) -> Plan:
        """Return what finding a difference this large in a test at 5 % takes, four times in five."""
        error = abs(difference) / noncentrality(self.n_topics - 1, POWER)
        return self._with_range(plan_separation(self.pilot, difference), error)

    def _with_range(self, plan: Plan, error: float) -> Plan:
        """Say between which numbers of labels the one lies that gives this standard error."""
        n = self.n_topics
        rows = np.random.default_rng(SEED).integers(0, n, (RESAMPLES, n))
        variances = self.values[rows].var(axis=1, ddof=1) * n / (n - 1)
        drawn = self.deviations.var(axis=0, ddof=1)[rows].mean(axis=1)
        least = self.by_judge[rows].var(axis=1, ddof=1)
        between, within = np.maximum(variances - drawn, least) / n, drawn / n / self.left
        spare = error**2 - between
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = np.where(spare > 0, 1 / (spare / within + 1 / self.n_items), np.inf)
        low, high = np.quantile(np.maximum(needed, n), ENDS, method="inverted_cdf").tolist()
        if plan.needed is not None:  # few labels have few degrees of freedom too
            low, high = min(low, plan.needed), max(high, plan.needed)
        most = None if high > self.n_items or plan.needed is None else ceil(high)
        return replace(plan, needed_range=(ceil(min(low, self.n_items)), most))
