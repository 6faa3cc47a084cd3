from __future__ import annotations

import numpy as np
import pytest

from stats.ranking.order_verdict import order_verdict, separated
from stats.ratings import FloatArray

TOPICS = 30


def scores(means: list[float], *, noise: float = 0.1, seed: int = 1) -> FloatArray:
    """Systems of these true means on thirty topics; sources with one seed share the topics' part alone."""
    rng = np.random.default_rng(seed)
    return np.asarray(np.array(means)[:, None] + rng.normal(0, noise, (len(means), TOPICS)))


APART = [0.1, 0.3, 0.5, 0.7, 0.9]


@pytest.mark.parametrize(
    ("people", "judge", "verdict"),
    [
        (APART, APART, "same"),
        (APART, [0.1, 0.3, 0.7, 0.5, 0.9], "other"),
        (APART, APART[::-1], "other"),
        ([0.5] * 5, [0.5] * 5, ""),
        (APART, [0.5] * 5, ""),
        ([0.5] * 5, APART, ""),
    ],
)
def test_both_verdicts_are_reached_and_noise_reaches_neither(
    people: list[float], judge: list[float], verdict: str
) -> None:
    found = order_verdict(scores(people), scores(judge, seed=2))

    assert found is not None
    assert found.verdict == verdict
    assert found.n_pairs == 10


def test_few_systems_or_topics_have_no_verdict() -> None:
    assert order_verdict(scores(APART)[:3], scores(APART)[:3]) is None
    assert order_verdict(scores(APART)[:, :4], scores(APART)[:, :4]) is None


def test_differences_without_spread_are_not_tested() -> None:
    table = np.tile([[0.2], [0.4], [0.4], [0.9]], (1, TOPICS))

    assert separated(table).tolist() == [0] * 6


@pytest.mark.parametrize("spread", [0.0, 0.05, 0.5])
def test_where_true_orders_are_equal_another_order_is_seldom_said(spread: float) -> None:
    means = np.linspace(-spread, spread, 8).tolist()

    found = [
        order_verdict(scores(means, seed=n), scores([mean / 5 for mean in means], noise=0.2, seed=n + 1_000))
        for n in range(60)
    ]

    assert sum(one is not None and one.verdict == "other" for one in found) <= 6


def test_one_of_several_comparisons_takes_more_to_be_called_another_order() -> None:
    people, judge = scores(APART), scores([0.1, 0.3, 0.7, 0.5, 0.9], seed=2)

    alone, among_many = order_verdict(people, judge), order_verdict(people, judge, among=10**9)

    assert alone is not None
    assert among_many is not None
    assert (alone.verdict, among_many.n_opposed) == ("other", 0)
