"""Simulated calibration: a judge gives grades 0–5, and people say yes with a probability that goes with the grade."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from stats.calibration.active_sampling import draw_by_doubt, draw_by_strata
from stats.calibration.allocation import strata_of
from stats.calibration.estimators import correct
from stats.calibration.labels import Labels, weights_of_waves
from stats.ratings import FloatArray, IntArray
from tests.simulations.agreement import TOPICS
from tests.simulations.scenarios import Intervals, Scenario

N_ITEMS = 2_000
SCORES = {"people": "people alone", "ppi": "PPI++", "post_stratified": "by grade", "rogan_gladen": "Rogan–Gladen"}


@dataclass(frozen=True)
class Judged:
    """How often each grade is given and how often people say yes there; `ungraded` replies say nothing.

    Three items in ten have their topic's grade. Topics have log sizes of sd `unequal`.
    """

    shares: tuple[float, ...]
    yes: tuple[float, ...]
    ungraded: float = 0.0
    n_topics: int = 0
    n_items: int = N_ITEMS
    unequal: float = 0.0

    @property
    def truth(self) -> float:
        return float(np.dot(self.shares, self.yes))

    def population(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, IntArray | None]:
        """Return people's yes, the judge's grades and the topics."""
        grades = rng.choice(len(self.shares), size=self.n_items, p=self.shares)
        topics: IntArray | None = None
        if self.n_topics:
            sizes = np.exp(self.unequal * rng.standard_normal(self.n_topics))
            topics = np.append(
                np.arange(self.n_topics), rng.choice(self.n_topics, self.n_items - self.n_topics, p=sizes / sizes.sum())
            )
            common = rng.choice(len(self.shares), size=self.n_topics, p=self.shares)
            grades = np.where(rng.random(self.n_items) < 0.3, common[topics], grades)
        yes = (rng.random(self.n_items) < np.asarray(self.yes)[grades]).astype(np.float64)
        given = np.where(rng.random(self.n_items) < self.ungraded, np.nan, grades.astype(np.float64))
        return yes, given, topics


def draw_calibration(rng: np.random.Generator, judged: Judged, n: int, design: str) -> Intervals:
    yes, grades, topics = judged.population(rng)
    weights = DESIGNS[design](rng, yes, grades, n)
    labels = Labels(
        people=np.where(np.isfinite(weights), yes, np.nan),
        judge=np.where(np.isnan(grades), np.nan, grades >= 3),
        grades=grades,
        weights=weights,
        topics=topics,
        per_topic=topics is not None,
    )
    scores = correct(labels, label_shift=True).scores
    return {label: (scores[name].estimate, judged.truth) for name, label in SCORES.items()}


def at_random(rng: np.random.Generator, yes: FloatArray, grades: FloatArray, n: int) -> FloatArray:
    weights = np.full(len(yes), np.nan)
    weights[rng.choice(len(yes), n, replace=False)] = len(yes) / n
    return weights


def by_doubt(rng: np.random.Generator, yes: FloatArray, grades: FloatArray, n: int) -> FloatArray:
    doubt = 0.5 - np.abs(grades / 5 - 0.5)
    drawn = draw_by_doubt(doubt, n, available=np.ones(len(yes), bool), seed=int(rng.integers(2**32)))
    return np.where(drawn.items, 1 / np.where(drawn.items, drawn.probabilities, 1.0), np.nan)


def in_two_waves(rng: np.random.Generator, yes: FloatArray, grades: FloatArray, n: int) -> FloatArray:
    """Half at random, and half by strata as the first half's labels suggest."""
    first = at_random(rng, yes, grades, n // 2)
    drawn = np.isfinite(first)
    pilot = Labels(np.where(drawn, yes, np.nan), np.where(np.isnan(grades), np.nan, grades >= 3), grades, first)
    strata = strata_of(grades)
    second = draw_by_strata(pilot, strata, n - n // 2, available=~drawn, seed=int(rng.integers(2**32)))
    chances = np.where(drawn, (n // 2) / len(yes), second.probabilities)
    return weights_of_waves(second.items.astype(np.int64), chances, drawn=drawn | second.items)


DESIGNS = {"at random": at_random, "by doubt": by_doubt, "two waves, Neyman": in_two_waves}

GOOD = Judged((0.3, 0.1, 0.1, 0.1, 0.1, 0.3), (0.05, 0.2, 0.4, 0.6, 0.8, 0.95))
FAIR = Judged((0.35, 0.2, 0.15, 0.1, 0.1, 0.1), (0.1, 0.2, 0.3, 0.4, 0.5, 0.7))
RARE = Judged((0.65, 0.1, 0.05, 0.05, 0.05, 0.1), (0.02, 0.05, 0.15, 0.4, 0.5, 0.8))
USELESS = Judged((0.2, 0.2, 0.2, 0.2, 0.1, 0.1), (0.3,) * 6)
ITEMS_A_TOPIC, LABELS_A_TOPIC = 60, 20


def scenarios() -> list[Scenario]:
    """Return the calibrations, by topics and by labels."""
    found = []
    demanded = ("PPI++", "by grade")
    judges = {
        "good judge, .49 yes": GOOD,
        "fair judge, .29 yes": FAIR,
        "good judge, .15 yes": RARE,
        "useless judge, .30 yes": USELESS,
        "good judge, 10 % ungraded": replace(GOOD, ungraded=0.1),
    }
    for name, judged in judges.items():
        for design in DESIGNS if judged in (GOOD, FAIR, RARE) else ("at random",):
            for n in (100, 300):
                draw = partial(draw_calibration, judged=judged, n=n, design=design)
                found.append(Scenario("labels", f"{name}; {design}", n, draw, demanded))
    for name, judged in {"good judge, .49 yes": GOOD, "good judge, .15 yes": RARE}.items():
        for n in TOPICS:
            of = replace(judged, n_topics=n, n_items=ITEMS_A_TOPIC * n, unequal=0.7)
            draw = partial(draw_calibration, judged=of, n=LABELS_A_TOPIC * n, design="at random")
            found.append(Scenario("topics", f"{name}, unequal sizes", n, draw, demanded))
    return found
