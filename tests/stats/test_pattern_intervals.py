from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from stats.agreement.coefficients import fleiss_kappa, percent_agreement
from stats.pattern_intervals import SHARE, Estimate, estimate, estimate_share, leave_out
from stats.ratings import CountPatterns, count_patterns
from tests.stats.worked_examples import ratings_of

SCALE = (0.0, 1.0, 2.0)


def random_rows(n: int, seed: int = 1) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    noisy = [np.where(rng.random(n) < 0.7, truth, rng.integers(0, 3, n)) for _ in range(3)]
    rows: list[list[float]] = np.stack(noisy, axis=1).astype(float).tolist()
    return rows


def kappa_of(rows: list[list[float]]) -> float:
    patterns = count_patterns(ratings_of(rows, SCALE, "nominal"))
    return float(fleiss_kappa(patterns.frequencies[None, :], patterns)[0])


def fleiss(patterns: CountPatterns) -> Estimate:
    return estimate({"kappa": partial(fleiss_kappa, patterns=patterns)}, patterns)["kappa"]


def test_each_item_is_left_out_once() -> None:
    rows = random_rows(35)

    figure = fleiss(count_patterns(ratings_of(rows, SCALE, "nominal")))

    left = np.array([kappa_of(rows[:row] + rows[row + 1 :]) for row in range(35)])
    assert figure.se == pytest.approx(np.sqrt(34 / 35 * ((left - left.mean()) ** 2).sum()), abs=1e-12)
    assert figure.over == "35 items"


def test_each_topic_is_left_out_whole() -> None:
    rows, topics = random_rows(60), [number // 10 for number in range(60)]

    figure = fleiss(count_patterns(ratings_of(rows, SCALE, "nominal", topics)))

    left = np.array([kappa_of([row for row, own in zip(rows, topics, strict=True) if own != one]) for one in range(6)])
    assert figure.se == pytest.approx(np.sqrt(5 / 6 * ((left - left.mean()) ** 2).sum()), abs=1e-12)
    assert figure.over == "6 topics"


def test_topics_in_which_nothing_counts_have_no_say() -> None:
    by_topic = np.array([[4.0, 2.0, 9.0]] * 6 + [[0.0, 0.0, 20.0]] * 3)
    patterns = CountPatterns(np.zeros((3, 1)), by_topic.sum(axis=0), by_topic)

    figure = estimate_share(patterns, of=[1, 0, 0], among=[1, 1, 0])

    assert figure.value == pytest.approx(2 / 3)
    assert figure.over == "6 topics"


def test_many_topics_are_left_out_in_groups_with_nearly_the_same_error() -> None:
    rows, topics = random_rows(6_000), [number // 3 for number in range(6_000)]
    patterns = count_patterns(ratings_of(rows, SCALE, "nominal", topics))

    left = leave_out(patterns, np.ones(len(patterns.frequencies)))

    exact = fleiss_kappa(patterns.frequencies - patterns.by_topic, patterns)
    error = np.sqrt(1_999 / 2_000 * ((exact - exact.mean()) ** 2).sum())
    assert left.frequencies.shape[0] == 1_000
    assert left.error(fleiss_kappa(left.frequencies, patterns)) == pytest.approx(error, rel=0.1)


def test_the_error_of_a_mean_is_the_textbooks() -> None:
    agreeing = CountPatterns(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([60.0, 40.0]))

    figure = estimate({"agreement": partial(percent_agreement, patterns=agreeing)}, agreeing, within=SHARE)["agreement"]

    assert figure.value == pytest.approx(0.6)
    assert figure.se == pytest.approx(np.sqrt(0.6 * 0.4 / 99), abs=1e-12)


def test_a_figure_that_hangs_on_one_topic_has_no_interval() -> None:
    by_topic = np.array([[10.0, 0.0]] * 7 + [[5.0, 60.0]])
    patterns = CountPatterns(np.array([[2.0, 0.0], [0.0, 2.0]]), by_topic.sum(axis=0), by_topic)

    figure = fleiss(patterns)

    assert figure.value == pytest.approx(1.0)
    assert figure.low is None
    assert figure.reason == "no interval, for it is undefined without one of its topics or items"


def test_full_agreement_is_not_certain() -> None:
    by_topic = np.array([[10.0, 5.0]] * 8)
    patterns = CountPatterns(np.array([[2.0, 0.0], [0.0, 2.0]]), by_topic.sum(axis=0), by_topic)

    figure = fleiss(patterns)

    assert figure.high == pytest.approx(1.0)
    assert figure.low is not None
    assert 0.85 < figure.low < 0.97


@pytest.mark.parametrize("n_items", [100, 300])
def test_ninety_five_percent_intervals_hold_the_truth_that_often(n_items: int) -> None:
    truth = kappa_of(random_rows(400_000, seed=99))

    held = 0
    for seed in range(400):
        figure = fleiss(count_patterns(ratings_of(random_rows(n_items, seed=seed), SCALE, "nominal")))
        assert figure.low is not None
        assert figure.high is not None
        held += figure.low <= truth <= figure.high

    assert 0.925 <= held / 400 <= 0.975
