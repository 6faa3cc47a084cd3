"""How often the intervals of ARGUE's figures hold the truth, in simulated runs.

    python -m tests.cited_reports_check [--studies 4000]

A topic has 5 to 25 sentences and 8 to 15 nuggets; how well its sentences are supported and its nuggets answered is
drawn from a beta distribution each, and both go together where a topic is hard. What is estimated is what infinitely
many topics would give.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from stats.intervals import Estimate
from stats.measures.cited_reports import Counts, macro, micro
from stats.ratings import FloatArray

Topic = tuple[Counts, ...]
FIGURES = {"sentence support": slice(0, 1), "nugget coverage": slice(1, 2), "f1": slice(0, 2)}
N_TOPICS = (5, 10, 20, 50)
# Mean and concentration of sentence support and nugget coverage.
RUNS = {"middling": ((0.7, 6), (0.5, 8)), "good": ((0.92, 12), (0.75, 8)), "alike topics": ((0.8, 60), (0.4, 60))}
SEED = 1971


def draw_topics(run: str, n: int, rng: Generator) -> list[Topic]:
    hard = rng.uniform(size=n)
    found = []
    for quantile, n_sentences, n_nuggets in zip(hard, rng.integers(5, 26, n), rng.integers(8, 16, n), strict=True):
        sizes = n_sentences, n_nuggets
        counts = []
        for (mean, concentration), size in zip(RUNS[run], sizes, strict=True):
            draws = np.sort(rng.beta(mean * concentration, (1 - mean) * concentration, 3))
            counts.append(Counts(int(rng.binomial(size, draws[int(quantile * 3)])), int(size)))
        found.append(tuple(counts))
    return found


def truth_of(run: str) -> dict[tuple[str, str], float]:
    """Return what 40,000 topics give."""
    topics = draw_topics(run, 40_000, np.random.default_rng(SEED))
    found = {}
    for name, part in FIGURES.items():
        yes, of = (
            np.array([[getattr(one, field) for one in topic[part]] for topic in topics]) for field in ("yes", "of")
        )
        for mean, shares in (("micro", yes.sum(axis=0) / of.sum(axis=0)), ("macro", yes / of)):
            rows = np.atleast_2d(shares)
            values = rows[:, 0] if rows.shape[1] == 1 else _f1(rows)
            found[mean, name] = float(values.mean())
    return found


def _f1(rows: FloatArray) -> FloatArray:
    both = rows.sum(axis=1)
    return np.asarray(np.divide(2 * rows.prod(axis=1), both, out=np.zeros(len(rows)), where=both > 0), dtype=np.float64)


def holds(figure: Estimate, truth: float) -> bool:
    assert figure.low is not None
    assert figure.high is not None
    return figure.low <= truth <= figure.high


def coverage(
    run: str, n_topics: int, studies: int, *, truth: dict[tuple[str, str], float]
) -> dict[tuple[str, str], float]:
    """Return the share of simulated studies in which each interval holds the truth."""
    rng = np.random.default_rng([SEED, n_topics, len(run)])
    held: dict[tuple[str, str], int] = dict.fromkeys(truth, 0)
    for _ in range(studies):
        topics = draw_topics(run, n_topics, rng)
        for name, part in FIGURES.items():
            of_figure: Sequence[Topic] = [topic[part] for topic in topics]
            for mean, estimate in (("micro", micro(of_figure)), ("macro", macro(of_figure))):
                held[mean, name] += holds(estimate, truth[mean, name])
    return {key: n / studies for key, n in held.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=4_000)
    studies = parser.parse_args().studies
    for run in RUNS:
        truth = truth_of(run)
        for n_topics in N_TOPICS:
            found = coverage(run, n_topics, studies, truth=truth)
            figures = (f"{' '.join(key)} {share:.3f}" for key, share in found.items())
            sys.stdout.write(f"{run}, {n_topics} topics: {'; '.join(figures)}\n")


if __name__ == "__main__":
    main()
