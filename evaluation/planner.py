"""How many human labels a study needs, and on which kinds of items.

Sources: the variance of PPI++, Angelopoulos, Duchi and Zrnic, arXiv 2311.01453: with the best λ,
SE² = sd²/n · (1 − ρ² N/(N + n)) for n human labels beside N items that the judge alone graded, ρ the correlation of
human and judge. Design effect: Kish, Survey Sampling (1965), section 8.2. Allocation: Neyman, On the two different
aspects of the representative method (1934), in whole numbers after Wright, A simple method of exact optimal sample
allocation under stratification with any mixed constraint patterns (2014).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np

from evaluation.calibration import people_score, predictions
from evaluation.influence import standard_error
from evaluation.labels import Labels
from evaluation.ratings import FloatArray, IntArray

POWER = 0.8
FEWEST_A_STRATUM = 2
FEWEST_PILOT_LABELS = 10
# As many labels as these is the common spread worth where a stratum has none or few of its own.
BORROWED = 2
# For a difference of more than one sd statsmodels' solver may not end; few topics do, so they are tried in turn.
LARGE_EFFECT = 1.0


class NoPlan(ValueError):
    """The question has no answer with these numbers."""


def labels_for_half_width(half_width: float, *, sd: float, correlation: float, n_judged: int) -> int:
    """Return how many human labels give a 95 % interval of ± `half_width` beside `n_judged` items of the judge alone.

    `sd` is that of the human values (0.5 at most for shares of yes); without a judge `correlation` is 0. To the nearest
    whole number.
    """
    return round(_with_judge(_alone(half_width, sd), correlation, n_judged))


def pairs_to_separate(difference: float, *, sd: float, correlation: float, n_judged: int, power: float = POWER) -> int:
    """Return how many pairs people must label to find two systems different in a two-sided test at 5 %.

    A pair is one question asked of both systems, so it costs two labels. `sd` and `correlation` are those of the
    pairs' differences, `difference` their expected mean.
    """
    return round(_with_judge(_alone(_margin(difference, power), sd), correlation, n_judged))


def topics_to_separate(differences: Sequence[float] | FloatArray, *, power: float = POWER) -> int:
    """Return how many topics a paired t-test at 5 % needs, given a pilot's differences between two systems by topic.

    For fully labelled topics. Source: statsmodels' TTestPower. Raises NoPlan where the pilot shows no difference.
    """
    from statsmodels.stats.power import TTestPower

    known = np.asarray(differences, dtype=np.float64)
    known = known[np.isfinite(known)]
    if len(known) < 2 or not np.ptp(known):
        raise NoPlan("The pilot needs two topics or more with different differences between the systems.")
    if not known.mean():
        raise NoPlan("The pilot shows no difference between the systems, so no number of topics separates them.")
    effect = abs(float(known.mean() / known.std(ddof=1)))
    test = TTestPower()
    if effect > LARGE_EFFECT:
        return next(n for n in count(2) if test.power(effect, n, 0.05) >= power)
    return ceil(float(test.solve_power(effect_size=effect, power=power, alpha=0.05)))


@dataclass(frozen=True)
class Pilot:
    """What the labels at hand tell about those to come.

    - `sd`: of people's values; `correlation`: with the judge's, ungraded replies telling nothing;
    - `design_effect`: by how much more items of a topic vary together than apart, at least 1.
    """

    sd: float
    correlation: float
    design_effect: float
    n_labelled: int
    n_items: int


@dataclass(frozen=True)
class Plan:
    """How many labels are needed in all, and how many more. None where these items cannot give it, with the reason."""

    needed: int | None
    more: int | None
    reason: str = ""


def pilot_of(labels: Labels) -> Pilot:
    """Return the spread and correlation of the labels at hand, weighted as they were drawn.

    For two systems, `labels` holds the differences between the pairs' values. Raises NoPlan below ten labels.
    """
    if labels.n_labelled < FEWEST_PILOT_LABELS:
        raise NoPlan(f"{labels.n_labelled} labels are too few to plan from; label {FEWEST_PILOT_LABELS} at least.")
    labelled = labels.labelled
    weights = np.ones(labels.n_items) if labels.weights is None else labels.weights
    shared = np.cov(labels.people[labelled], predictions(labels)[labelled], aweights=weights[labelled])
    sd, spread = sqrt(shared[0, 0]), float(np.prod(np.diag(shared)))
    effect = 1.0
    influence = people_score(labels).influence
    if labels.topics is not None and len(influence) and sd:
        effect = max(1.0, (standard_error(influence, labels.topics) / standard_error(influence, None)) ** 2)
    correlation = float(shared[0, 1]) / sqrt(spread) if spread > 0 else 0.0
    return Pilot(sd, correlation, effect, labels.n_labelled, labels.n_items)


def plan_half_width(pilot: Pilot, half_width: float) -> Plan:
    """Return how many of the pilot's items people must label for a 95 % interval of ± `half_width`."""
    return _plan(pilot, half_width)


def plan_separation(pilot: Pilot, difference: float, *, power: float = POWER) -> Plan:
    """Return how many of the pilot's pairs people must label to find a difference this large in a test at 5 %."""
    return _plan(pilot, _margin(difference, power))


def _plan(pilot: Pilot, margin: float) -> Plan:
    """Solve n for N = items − n: what people label, the judge no longer grades alone."""
    alone = _alone(margin, pilot.sd) * pilot.design_effect
    unexplained = 1 - max(pilot.correlation, 0.0) ** 2
    left = 1 - alone * (1 - unexplained) / pilot.n_items
    needed = ceil(alone * unexplained / left) if left > 0 else pilot.n_items + 1
    if needed > pilot.n_items:
        return Plan(None, None, f"{pilot.n_items} items are too few, even if people label all of them")
    needed = max(needed, FEWEST_A_STRATUM)
    return Plan(needed, max(0, needed - pilot.n_labelled))


def _alone(half_width: float, sd: float) -> float:
    """How many labels it takes without a judge."""
    if half_width <= 0:
        raise NoPlan("The half-width, or the difference, must be above 0.")
    return (NormalDist().inv_cdf(0.975) * sd / half_width) ** 2


def _margin(difference: float, power: float) -> float:
    """The half-width of an interval that excludes 0 this often if the difference is this large."""
    normal = NormalDist()
    quantile = normal.inv_cdf(0.975)
    return abs(difference) * quantile / (quantile + normal.inv_cdf(power))


def _with_judge(alone: float, correlation: float, n_judged: int) -> float:
    """Solve sd²/n · (1 − ρ² N/(N + n)) = sd²/alone for n."""
    lacking = alone - n_judged
    return (lacking + sqrt(lacking**2 + 4 * alone * (1 - correlation**2) * n_judged)) / 2


@dataclass(frozen=True)
class Strata:
    """Kinds of items: the number of each item's kind, shape (items,), and the kinds' names."""

    numbers: IntArray
    names: tuple[str, ...]

    @property
    def sizes(self) -> IntArray:
        return np.bincount(self.numbers, minlength=len(self.names)).astype(np.int64)


def strata_of(grades: FloatArray, disagreement: FloatArray | None = None) -> Strata:
    """Part the items by the judge's grade, and each grade by whether judges disagree more than their median there.

    `disagreement` is any number that grows with it: the sd of several judges, or the entropy of one. NaN grades are
    ungraded, NaN disagreements little.
    """
    _, places = np.unique(grades, return_inverse=True)
    high = np.zeros(len(grades), dtype=bool)
    if disagreement is not None:
        known = np.nan_to_num(disagreement)
        for place in np.unique(places):
            here = places == place
            high[here] = known[here] > np.median(known[here])
    kinds, numbers = np.unique(places * 2 + high, return_inverse=True)
    values = np.unique(grades)
    names = tuple(_stratum_name(float(values[kind // 2]), high=bool(kind % 2)) for kind in kinds)
    return Strata(numbers.ravel().astype(np.int64), names)


def _stratum_name(grade: float, *, high: bool) -> str:
    name = "ungraded" if np.isnan(grade) else f"grade {grade:g}"
    return f"{name}, disputed" if high else name


def spreads(labels: Labels, strata: Strata) -> FloatArray:
    """Return the sd of people's values in each stratum, shape (strata,).

    A stratum borrows two labels' worth of the spread within all strata, so one with few labels that happen to agree is
    not taken for certain, and one without labels counts as the others do.
    """
    labelled = labels.labelled
    people, kinds, n_kinds = labels.people[labelled], strata.numbers[labelled], len(strata.names)
    n = np.bincount(kinds, minlength=n_kinds)
    means = np.bincount(kinds, weights=people, minlength=n_kinds) / np.maximum(n, 1)
    squares = np.bincount(kinds, weights=(people - means[kinds]) ** 2, minlength=n_kinds)
    freedom = np.maximum(n - 1, 0)
    common = float(squares.sum() / freedom.sum()) if freedom.sum() else 1.0
    return np.asarray(np.sqrt((squares + BORROWED * common) / (freedom + BORROWED)))


def allocate(sizes: IntArray, sds: FloatArray, n: int, *, floor: int = FEWEST_A_STRATUM) -> IntArray:
    """Return how many of `n` labels each stratum gets: the least variance of Σ_h N_h Ȳ_h in whole numbers.

    Every stratum gets `floor` (or all it has), none more than it has. Where no spread is known to differ from 0, labels
    go by size. Raises NoPlan where `n` is below the floors or above the items.
    """
    least = np.minimum(sizes, floor)
    if not least.sum() <= n <= sizes.sum():
        raise NoPlan(f"{n} labels: {len(sizes)} strata need {least.sum()} at least and hold {sizes.sum()}.")
    gains = sizes * (sds if sds.any() else np.ones(len(sizes)))
    given = least.astype(np.int64).copy()
    waiting = [
        (-float(gains[h] / np.sqrt(given[h] * (given[h] + 1)) if given[h] else np.inf), h)
        for h in range(len(sizes))
        if given[h] < sizes[h]
    ]
    heapq.heapify(waiting)
    for _ in range(n - int(given.sum())):
        _, h = heapq.heappop(waiting)
        given[h] += 1
        if given[h] < sizes[h]:
            heapq.heappush(waiting, (-float(gains[h] / np.sqrt(given[h] * (given[h] + 1))), h))
    return given
