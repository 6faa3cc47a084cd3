"""How often the intervals of agreement on nuggets hold the truth: `python -m tests.nugget_agreement_check`.

Two people make 6 to 15 nuggets for each topic; how many they have in common is drawn by topic, for topics differ in
that. Within a pair both call the nugget vital by chances that topics differ in too. What is estimated is what
infinitely many topics would give. Where a figure has no interval, that is counted apart.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from statistics import fmean

import numpy as np
from numpy.random import Generator

from stats.agreement.nugget_sets import IMPORTANCE, SetNugget, compare_nuggets
from stats.intervals import Estimate

SEED = 1971
N_TOPICS = (5, 10, 20, 50)
# Mean and concentration of the share in common, and how often both say the same of importance.
PEOPLE = {"middling": (0.5, 6, 0.8), "close": (0.85, 10, 0.9), "far": (0.2, 8, 0.65)}
VITAL = (0.5, 4)
FIGURES = ("f1", "precision", "recall", "cohen_kappa", "krippendorff_alpha")


def draw_sets(people: str, n: int, rng: Generator) -> tuple[dict[str, list[SetNugget]], dict[str, list[SetNugget]]]:
    mean, concentration, alike = PEOPLE[people]
    sets: tuple[dict[str, list[SetNugget]], dict[str, list[SetNugget]]] = ({}, {})
    for number in range(n):
        topic = f"t{number}"
        share = rng.beta(mean * concentration, (1 - mean) * concentration)
        vital = rng.beta(VITAL[0] * VITAL[1], (1 - VITAL[0]) * VITAL[1])
        size = int(rng.integers(6, 16))
        n_common = int(rng.binomial(size, share))
        sizes = size, max(n_common, int(rng.integers(6, 16)))
        said = rng.uniform(size=(n_common, 2)) < vital
        said[:, 1] = np.where(rng.uniform(size=n_common) < alike, said[:, 0], said[:, 1])
        for place, of in enumerate(sets):
            common = [SetNugget(f"both{one}", IMPORTANCE[int(said[one, place])]) for one in range(n_common)]
            of[topic] = common + [SetNugget(f"of{place}x{one}") for one in range(sizes[place] - n_common)]
    return sets


def figures_of(people: str, n: int, rng: Generator) -> dict[str, Estimate]:
    found = compare_nuggets(*draw_sets(people, n, rng))
    return {name: found.importance[name] if name in found.importance else getattr(found, name) for name in FIGURES}


def truth_of(people: str, *, times: int = 1) -> dict[str, float]:
    """Return what so many times 2,500 topics give."""
    rng = np.random.default_rng(SEED)
    found = [figures_of(people, 2_500, rng) for _ in range(times)]
    return {name: fmean(one[name].value or 0.0 for one in found) for name in FIGURES}


def coverage(people: str, n: int, studies: int, *, truth: dict[str, float]) -> dict[str, tuple[float, float]]:
    """Return for each figure the share of its intervals that hold the truth, and of studies in which it has one."""
    rng = np.random.default_rng([SEED, n, len(people)])
    held: Counter[str] = Counter()
    there: Counter[str] = Counter()
    for _ in range(studies):
        for name, figure in figures_of(people, n, rng).items():
            if figure.low is not None and figure.high is not None:
                there[name] += 1
                held[name] += figure.low <= truth[name] <= figure.high
    return {
        name: (held[name] / there[name] if there[name] else float("nan"), there[name] / studies) for name in FIGURES
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1_000)
    studies = parser.parse_args().studies
    for people in PEOPLE:
        truth = truth_of(people, times=10)
        for n in N_TOPICS:
            found = coverage(people, n, studies, truth=truth)
            figures = (f"{name} {share:.3f} of {there:.0%}" for name, (share, there) in found.items())
            sys.stdout.write(f"{people}, {n} topics: {'; '.join(figures)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
