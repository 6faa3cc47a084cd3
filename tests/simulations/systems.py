"""Simulated leaderboards: means of measures, differences of two systems, and orders by people and by a judge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pandas as pd
from scipy import stats as distributions

from stats.intervals import (
    CLIPPED_SHARE,
    DIFFERENCE_OF_SHARES,
    FEWEST_OF_CLIPPED,
    SHARE,
    UNBOUNDED,
    Range,
    mean_interval,
)
from stats.ranking.rank_correlation import bootstrap_over_topics
from stats.ratings import FloatArray
from tests.simulations.agreement import TOPICS
from tests.simulations.scenarios import Intervals, Scenario


@dataclass(frozen=True)
class Measure:
    """A measure's values by topic: which quantile of its distribution a system has on a topic."""

    name: str

    @property
    def within(self) -> Range:
        return CLIPPED_SHARE if self.name == "rubric-score" else SHARE

    @property
    def apart(self) -> Range:
        return UNBOUNDED if self.name == "rubric-score" else DIFFERENCE_OF_SHARES

    def values(self, places: FloatArray) -> FloatArray:
        """Return scores from places in 0…1."""
        found: FloatArray
        match self.name:
            case "nDCG@10":
                found = np.where(places < 0.1, 0.0, distributions.beta.ppf((places - 0.1).clip(0) / 0.9, 1.6, 1.4))
            case "P@10, sparse":
                found = np.round(10 * distributions.beta.ppf(places, 0.6, 2.4)) / 10
            case "AP of hard topics":
                found = distributions.beta.ppf(places, 0.5, 4.5)
            case name if name == NEAR_1:
                found = np.round(10 * distributions.beta.ppf(places, 9, 0.7)) / 10
            case "rubric-score":  # some topics have what should not be there
                found = distributions.beta.ppf(places, 3, 2) - 1.5 * (places < 0.15)
            case "coverage of 15 questions":
                found = np.round(15 * distributions.beta.ppf(places, 4, 1.3)) / 15
            case _:
                raise ValueError(self.name)
        return found


NEAR_1 = "P@10, near 1"
MEANS = ("mean of a system", "difference of two means")
BOARDS = {
    "5 systems": (5, 0.08),
    "10 systems": (10, 0.08),
    "30 systems": (30, 0.08),
    "10 close systems": (10, 0.03),
    "30 close systems": (30, 0.03),
}
MEASURES = tuple(
    map(
        Measure,
        (
            *("nDCG@10", "P@10, sparse", "coverage of 15 questions"),
            *("AP of hard topics", NEAR_1, "rubric-score"),
        ),
    )
)


def draw_scores(rng: np.random.Generator, measure: Measure, n: int) -> tuple[FloatArray, FloatArray]:
    """Return two systems' scores on each topic, which is easy or hard for both."""
    topic = rng.standard_normal(n)
    first, second = (0.8 * topic + 0.6 * rng.standard_normal(n) + ahead for ahead in (0.0, -0.3))
    return measure.values(distributions.norm.cdf(first)), measure.values(distributions.norm.cdf(second))


@cache
def truth_of(measure: Measure) -> tuple[float, float]:
    """The first system's mean, and the difference of the two."""
    first, second = draw_scores(np.random.default_rng(4), measure, 1_000_000)
    return measure.within.held(float(first.mean())), float((first - second).mean())


def draw_means(rng: np.random.Generator, measure: Measure, n: int) -> Intervals:
    mean, difference = truth_of(measure)
    first, second = draw_scores(rng, measure, n)
    found = (
        (mean_interval(first.tolist(), within=measure.within), mean),
        (mean_interval((first - second).tolist(), within=measure.apart), difference),
    )
    return dict(zip(MEANS, found, strict=True))


def draw_orders(rng: np.random.Generator, n: int, n_systems: int, apart: float) -> Intervals:
    """Draw systems, and what people and a judge make of them; the truth is τ of the systems' true means."""
    by_people = rng.normal(0.5, apart, n_systems)
    by_judge = by_people + rng.normal(0, apart / 2, n_systems)
    truth = float(distributions.kendalltau(by_people, by_judge).statistic)
    noise = rng.normal(0, 0.15, n) + rng.normal(0, 0.15, (n_systems, n))
    people = pd.DataFrame(by_people[:, None] + noise)
    judge = pd.DataFrame(by_judge[:, None] + 0.8 * noise + rng.normal(0, 0.1, (n_systems, n)))
    found = bootstrap_over_topics(people, judge, replicates=400, seed=int(rng.integers(2**32)))
    return {"Kendall’s τ_b of two orders, resampled": (found, truth)}


def scenarios() -> list[Scenario]:
    """Return the leaderboards."""
    found = []
    for measure in MEASURES:
        means = partial(draw_means, measure=measure)
        for n in TOPICS:
            # One item in a hundred that is wrong decides a mean near 1: it holds in 93 of 100 studies at least.
            demands = ((), MEANS) if measure.name == NEAR_1 else (MEANS, ())
            if measure.within != CLIPPED_SHARE or n >= FEWEST_OF_CLIPPED:
                found.append(Scenario("topics", measure.name, n, partial(means, n=n), *demands))
    for name, (n_systems, apart) in BOARDS.items():
        orders = partial(draw_orders, n_systems=n_systems, apart=apart)
        found += [Scenario("topics", name, n, partial(orders, n=n), part=0.2) for n in TOPICS]
    return found
