"""A sample that is declared random is doubted where its labels are the top of the rankings, and hardly ever else."""

from __future__ import annotations

import numpy as np
import pytest

from collection.judgments.declarations import UNLIKELY
from stats.ranking.sampled_labels import chance_of_the_top
from stats.ratings import FloatArray


def pool(random: np.random.Generator, *, n: int, deepest: int, unranked: float = 0.0) -> FloatArray:
    """The best ranks of a pool's passages."""
    depths = random.integers(1, deepest + 1, n).astype(float)
    depths[random.random(n) < unranked] = np.inf
    return depths


@pytest.mark.parametrize(("n", "n_labelled"), [(20, 3), (60, 10), (400, 40), (400, 390)])
@pytest.mark.parametrize("unranked", [0.0, 0.3])
def test_a_random_sample_is_doubted_no_more_often_than_it_is_said(n: int, n_labelled: int, unranked: float) -> None:
    random = np.random.default_rng(7)
    doubted = 0
    for _ in range(1_000):
        depths = pool(random, n=n, deepest=20, unranked=unranked)
        labelled = np.zeros(n, dtype=bool)
        labelled[random.choice(n, n_labelled, replace=False)] = True
        doubted += chance_of_the_top(depths, labelled) < UNLIKELY

    assert doubted / 1_000 <= 2 * UNLIKELY  # three standard errors above 0.01


@pytest.mark.parametrize(("n", "depth"), [(100, 10), (400, 5)])
def test_the_top_of_the_rankings_is_doubted(n: int, depth: int) -> None:
    depths = pool(np.random.default_rng(7), n=n, deepest=20)

    assert chance_of_the_top(depths, depths <= depth) < 1e-9


def test_the_chance_is_that_of_the_deepest_of_a_sample() -> None:
    depths = np.array([1.0, 1.0, 2.0, 3.0, np.inf])

    assert chance_of_the_top(depths, depths <= 1) == pytest.approx(1 / 10)  # of 10 pairs one lies within rank 1
    assert chance_of_the_top(depths, depths > 2) == pytest.approx(1)
    assert chance_of_the_top(depths, np.zeros(5, dtype=bool)) == 1
