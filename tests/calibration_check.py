"""How often our 95 % intervals hold the truth: `python tests/calibration_check.py [--simulations 2000] [--json]`.

Draws a study many times from a population whose truth is known, and counts. Every interval of κ, AC1, α, PPI++ and
scores by the judge's grade is to hold it in 93 to 97 of 100 studies; the exit status is 1 where one does not. Rogan and
Gladen's, those of people alone, are printed beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evaluation import coefficients
from evaluation.active import draw_by_doubt, draw_by_strata
from evaluation.calibration import correct
from evaluation.intervals import Estimate, Statistic, estimate
from evaluation.labels import Labels, weights_of_waves
from evaluation.planner import strata_of
from evaluation.ratings import CountPatterns, FloatArray, IntArray, Ratings, count_patterns, pair_patterns

LEAST, MOST = 0.93, 0.97
SEED = 1971
N_ITEMS = 2_000
Intervals = dict[str, tuple[Estimate, float]]


@dataclass(frozen=True)
class Scenario:
    """A study that is simulated: what it draws, and for which of its intervals 93 to 97 % is demanded."""

    name: str
    n: int
    draw: Callable[[np.random.Generator], Intervals]
    demanded: tuple[str, ...]


@dataclass(frozen=True)
class Coverage:
    """How often an interval held the truth; `too_low` and `too_high` say on which side of it the others lay."""

    scenario: str
    n: int
    interval: str
    truth: float
    covered: float
    too_low: float
    too_high: float
    undefined: int
    demanded: bool

    @property
    def kept(self) -> bool:
        return not self.demanded or LEAST <= self.covered <= MOST


# Agreement: raters see a hidden grade with this accuracy and else give any other.


@dataclass(frozen=True)
class Graded:
    """A scale's grades by how often they are true, and how often a rater sees them; in topics, each has its own mix."""

    shares: tuple[float, ...]
    accuracy: float
    n_raters: int
    topic_size: int = 0

    def ratings(self, rng: np.random.Generator, n: int) -> Ratings:
        """Return n items. Items of a topic have one true grade half of the time."""
        k = len(self.shares)
        truth = rng.choice(k, size=n, p=self.shares)
        topics: IntArray | None = None
        if self.topic_size:
            topics = np.arange(n) // self.topic_size
            common = rng.choice(k, size=int(topics.max()) + 1, p=self.shares)
            truth = np.where(rng.random(n) < 0.5, common[topics], truth)
        seen = rng.random((n, self.n_raters)) < self.accuracy
        other = (truth[:, None] + rng.integers(1, k, (n, self.n_raters))) % k
        codes = np.asfortranarray(np.where(seen, truth[:, None], other).astype(np.int16))
        return Ratings(codes, tuple(map(float, range(k))), "ordinal", range(n), range(self.n_raters), topics=topics)


def statistics_of(ratings: Ratings) -> tuple[CountPatterns, dict[str, Statistic]]:
    patterns, numbers = count_patterns(ratings), ratings.numbers
    return patterns, {
        "Fleiss κ": partial(coefficients.fleiss_kappa, patterns=patterns),
        "Gwet AC1": partial(coefficients.gwet_ac1, patterns=patterns),
        "α nominal": partial(coefficients.krippendorff_alpha, patterns=patterns, level="nominal", numbers=numbers),
        "α ordinal": partial(coefficients.krippendorff_alpha, patterns=patterns, level="ordinal", numbers=numbers),
        "α interval": partial(coefficients.krippendorff_alpha, patterns=patterns, level="interval", numbers=numbers),
    }


def pair_statistics(ratings: Ratings) -> tuple[dict[str, Statistic], FloatArray, dict[str, Estimate]]:
    patterns = pair_patterns(ratings, 0, 1)
    found: dict[str, Statistic] = {
        f"Cohen κ {weighting}": partial(
            coefficients.cohen_kappa,
            patterns=patterns,
            differences=coefficients.pair_differences(weighting, ratings.numbers),
        )
        for weighting in ("plain", "linear", "quadratic")
    }
    return found, patterns.frequencies, estimate(found, patterns)


@cache
def true_agreement(graded: Graded) -> dict[str, float]:
    """The coefficients of two million independent items, which have the same grades as items in topics."""
    alone = Graded(graded.shares, graded.accuracy, graded.n_raters)
    ratings = alone.ratings(np.random.default_rng(SEED), 2_000_000)
    patterns, statistics = statistics_of(ratings)
    values = {name: float(one(patterns.frequencies[None, :])[0]) for name, one in statistics.items()}
    pairs = pair_patterns(ratings, 0, 1)
    for weighting in ("plain", "linear", "quadratic"):
        differences = coefficients.pair_differences(weighting, ratings.numbers)
        kappa = coefficients.cohen_kappa(pairs.frequencies[None, :], pairs, differences)
        values[f"Cohen κ {weighting}"] = float(kappa[0])
    return values


def draw_agreement(rng: np.random.Generator, graded: Graded, n: int) -> Intervals:
    ratings = graded.ratings(rng, n)
    patterns, statistics = statistics_of(ratings)
    _, _, cohens = pair_statistics(ratings)
    truth = true_agreement(graded)
    return {name: (one, truth[name]) for name, one in (estimate(statistics, patterns) | cohens).items()}


# Calibration: a judge gives grades 0–5 and people say yes with a probability that goes with the grade.


@dataclass(frozen=True)
class Judged:
    """How often each grade is given and how often people say yes there; `ungraded` replies say nothing."""

    shares: tuple[float, ...]
    yes: tuple[float, ...]
    ungraded: float = 0.0
    n_topics: int = 0

    @property
    def truth(self) -> float:
        return float(np.dot(self.shares, self.yes))

    def population(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, IntArray | None]:
        """Return people's yes, the judge's grades and the topics; three items in ten have their topic's grade."""
        grades = rng.choice(len(self.shares), size=N_ITEMS, p=self.shares)
        topics: IntArray | None = None
        if self.n_topics:
            topics = np.arange(N_ITEMS) % self.n_topics
            common = rng.choice(len(self.shares), size=self.n_topics, p=self.shares)
            grades = np.where(rng.random(N_ITEMS) < 0.3, common[topics], grades)
        yes = (rng.random(N_ITEMS) < np.asarray(self.yes)[grades]).astype(np.float64)
        given = np.where(rng.random(N_ITEMS) < self.ungraded, np.nan, grades.astype(np.float64))
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
    return {
        label: (scores[name].estimate, judged.truth)
        for name, label in (
            ("people", "people alone"),
            ("ppi", "PPI++"),
            ("post_stratified", "by grade"),
            ("rogan_gladen", "Rogan–Gladen"),
        )
    }


def at_random(rng: np.random.Generator, yes: FloatArray, grades: FloatArray, n: int) -> FloatArray:
    weights = np.full(N_ITEMS, np.nan)
    weights[rng.choice(N_ITEMS, n, replace=False)] = N_ITEMS / n
    return weights


def by_doubt(rng: np.random.Generator, yes: FloatArray, grades: FloatArray, n: int) -> FloatArray:
    doubt = 0.5 - np.abs(grades / 5 - 0.5)
    drawn = draw_by_doubt(doubt, n, available=np.ones(N_ITEMS, bool), seed=int(rng.integers(2**32)))
    return np.where(drawn.items, 1 / np.where(drawn.items, drawn.probabilities, 1.0), np.nan)


def in_two_waves(rng: np.random.Generator, yes: FloatArray, grades: FloatArray, n: int) -> FloatArray:
    """Half at random, and half by strata as the first half's labels suggest."""
    first = at_random(rng, yes, grades, n // 2)
    drawn = np.isfinite(first)
    pilot = Labels(np.where(drawn, yes, np.nan), np.where(np.isnan(grades), np.nan, grades >= 3), grades, first)
    strata = strata_of(grades)
    second = draw_by_strata(pilot, strata, n - n // 2, available=~drawn, seed=int(rng.integers(2**32)))
    chances = np.where(drawn, (n // 2) / N_ITEMS, second.probabilities)
    return weights_of_waves(second.items.astype(np.int64), chances, drawn=drawn | second.items)


DESIGNS = {"at random": at_random, "by doubt": by_doubt, "two waves, Neyman": in_two_waves}

GOOD = Judged((0.3, 0.1, 0.1, 0.1, 0.1, 0.3), (0.05, 0.2, 0.4, 0.6, 0.8, 0.95))
FAIR = Judged((0.35, 0.2, 0.15, 0.1, 0.1, 0.1), (0.1, 0.2, 0.3, 0.4, 0.5, 0.7))
RARE = Judged((0.65, 0.1, 0.05, 0.05, 0.05, 0.1), (0.02, 0.05, 0.15, 0.4, 0.5, 0.8))
USELESS = Judged((0.2, 0.2, 0.2, 0.2, 0.1, 0.1), (0.3,) * 6)


def scenarios() -> list[Scenario]:
    """Return all that is simulated."""
    found = []
    agreement = {
        "2 grades, even": (Graded((0.5, 0.5), 0.85, 3), (100, 300)),
        "2 grades, .15 yes": (Graded((0.85, 0.15), 0.9, 3), (100, 300)),
        "6 grades, skewed": (Graded((0.4, 0.2, 0.1, 0.1, 0.1, 0.1), 0.7, 3), (100, 300)),
        "2 grades, in 100 topics": (Graded((0.5, 0.5), 0.85, 3, topic_size=5), (500,)),
        "6 grades, in 100 topics": (Graded((0.4, 0.2, 0.1, 0.1, 0.1, 0.1), 0.7, 3, topic_size=5), (500,)),
        "2 grades, in 30 topics": (Graded((0.5, 0.5), 0.85, 3, topic_size=10), (300,)),
        "6 grades, in 30 topics": (Graded((0.4, 0.2, 0.1, 0.1, 0.1, 0.1), 0.7, 3, topic_size=10), (300,)),
    }
    for name, (graded, sizes) in agreement.items():
        names = tuple(true_agreement(graded))
        found += [Scenario(name, n, partial(draw_agreement, graded=graded, n=n), names) for n in sizes]
    demanded = ("PPI++", "by grade")
    judges = {
        "good judge, .49 yes": GOOD,
        "fair judge, .29 yes": FAIR,
        "good judge, .15 yes": RARE,
        "useless judge, .30 yes": USELESS,
        "good judge, 10 % ungraded": Judged(GOOD.shares, GOOD.yes, ungraded=0.1),
        "good judge, 50 topics": Judged(GOOD.shares, GOOD.yes, n_topics=50),
        "good judge, .15 yes, 50 topics": Judged(RARE.shares, RARE.yes, n_topics=50),
        "good judge, 15 topics": Judged(GOOD.shares, GOOD.yes, n_topics=15),
    }
    for name, judged in judges.items():
        for design in DESIGNS if judged in (GOOD, FAIR, RARE) else ("at random",):
            for n in (100, 300):
                draw = partial(draw_calibration, judged=judged, n=n, design=design)
                found.append(Scenario(f"{name}; {design}", n, draw, demanded))
    return found


def simulate(number: int, simulations: int, seed: int) -> list[Coverage]:
    """Run one scenario."""
    scenario = scenarios()[number]
    rng = np.random.default_rng([seed, number])
    sides: dict[str, list[int]] = {}
    truths: dict[str, float] = {}
    for _ in range(simulations):
        for name, (interval, truth) in scenario.draw(rng).items():
            if interval.low is None or interval.high is None:
                side = 3
            else:
                side = 1 if interval.high < truth else 2 if interval.low > truth else 0
            sides.setdefault(name, []).append(side)
            truths[name] = truth
    rows = []
    for name, counted in sides.items():
        times = np.bincount(counted, minlength=4)
        defined = max(simulations - int(times[3]), 1)
        rows.append(
            Coverage(
                scenario=scenario.name,
                n=scenario.n,
                interval=name,
                truth=truths[name],
                covered=float(times[0] / defined),
                too_low=float(times[1] / defined),
                too_high=float(times[2] / defined),
                undefined=int(times[3]),
                demanded=name in scenario.demanded,
            )
        )
    return rows


def table_of(rows: list[Coverage]) -> str:
    """Return the rows as Markdown: a line a scenario and n, intervals beside one another."""
    lines: list[str] = []
    heads: tuple[str, ...] = ()
    for key in dict.fromkeys((row.scenario, row.n) for row in rows):
        own = [row for row in rows if (row.scenario, row.n) == key]
        if heads != (heads := tuple(row.interval for row in own)):
            lines += ["", f"| study | n | {' | '.join(heads)} |", f"| --- | --- |{' --- |' * len(heads)}"]
        cells = [f"{100 * row.covered:.1f}{'' if row.kept else ' ✗'}" for row in own]
        lines.append(f"| {key[0]} | {key[1]} | {' | '.join(cells)} |")
    return "\n".join(lines).strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=2_000, help="studies drawn for each line (2000)")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true", help="print every figure, and on which side intervals missed")
    arguments = parser.parse_args()
    started, numbers = time.monotonic(), range(len(scenarios()))
    with ProcessPoolExecutor(min(os.cpu_count() or 1, 4)) as pool:
        run = partial(simulate, simulations=arguments.simulations, seed=arguments.seed)
        rows = [row for found in pool.map(run, numbers) for row in found]
    if arguments.json:
        json.dump([asdict(row) for row in rows], sys.stdout, indent=1, ensure_ascii=False)
    else:
        sys.stdout.write(f"{table_of(rows)}\n\n")
    outside = [row for row in rows if not row.kept]
    sys.stderr.write(
        f"{arguments.simulations} simulations, seed {arguments.seed}, {time.monotonic() - started:.0f} s: "
        f"{len(outside)} of {sum(row.demanded for row in rows)} intervals lie outside 93–97 %.\n"
    )
    sys.exit(bool(outside))


if __name__ == "__main__":
    main()
