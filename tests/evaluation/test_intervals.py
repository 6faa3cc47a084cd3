from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from evaluation.coefficients import fleiss_kappa, percent_agreement
from evaluation.intervals import bca_levels, estimate, jackknife, resamples
from evaluation.ratings import CountPatterns, count_patterns
from tests.evaluation.worked_examples import ratings_of

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


def test_a_resample_draws_as_many_items_as_there_are() -> None:
    patterns = count_patterns(ratings_of(random_rows(50), SCALE, "nominal"))

    draws = np.concatenate(list(resamples(patterns, replicates=200)))

    assert draws.shape == (200, len(patterns.frequencies))
    assert set(draws.sum(axis=1)) == {50.0}


def test_resampling_patterns_is_resampling_items() -> None:
    rows = random_rows(80)
    patterns = count_patterns(ratings_of(rows, SCALE, "nominal"))
    rng = np.random.default_rng(0)

    by_pattern = np.concatenate([fleiss_kappa(draw, patterns) for draw in resamples(patterns, replicates=4_000)])
    by_item = np.array([kappa_of([rows[row] for row in rng.integers(0, 80, 80)]) for _ in range(1_500)])

    assert by_pattern.mean() == pytest.approx(by_item.mean(), abs=0.005)
    assert by_pattern.std() == pytest.approx(by_item.std(), rel=0.06)
    assert np.quantile(by_pattern, [0.025, 0.975]) == pytest.approx(np.quantile(by_item, [0.025, 0.975]), abs=0.015)


def test_topics_are_drawn_whole() -> None:
    rows, topics = random_rows(30), [number // 10 for number in range(30)]
    patterns = count_patterns(ratings_of(rows, SCALE, "nominal", topics))

    draws = np.concatenate(list(resamples(patterns, replicates=50)))

    combinations = {tuple(np.array(times) @ patterns.by_topic) for times in np.ndindex(4, 4, 4) if sum(times) == 3}
    assert {tuple(draw) for draw in draws} <= combinations


def test_the_jackknife_leaves_out_each_item_once() -> None:
    rows = random_rows(25)
    patterns = count_patterns(ratings_of(rows, SCALE, "nominal"))

    se = jackknife({"kappa": partial(fleiss_kappa, patterns=patterns)}, patterns)["kappa"].se

    left = np.array([kappa_of(rows[:row] + rows[row + 1 :]) for row in range(25)])
    assert se == pytest.approx(np.sqrt(24 / 25 * ((left - left.mean()) ** 2).sum()), abs=1e-12)


def test_the_error_of_a_mean_is_the_textbooks() -> None:
    agreeing = CountPatterns(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([60.0, 40.0]))

    figure = estimate({"agreement": partial(percent_agreement, patterns=agreeing)}, agreeing)["agreement"]

    assert figure.value == pytest.approx(0.6)
    assert figure.se == pytest.approx(np.sqrt(0.6 * 0.4 / 99), abs=1e-12)
    assert figure.low == pytest.approx(0.6 - 1.96 * 0.049, abs=0.015)
    assert figure.high == pytest.approx(0.6 + 1.96 * 0.049, abs=0.015)


def test_without_skew_bca_is_the_percentile_interval() -> None:
    draws = np.concatenate([np.linspace(-1, -0.001, 500), np.linspace(0.001, 1, 500)])

    assert bca_levels(0.0, draws, 0.0) == pytest.approx((0.025, 0.975))


def test_a_biased_bootstrap_shifts_the_bca_interval() -> None:
    draws = np.linspace(-1, 1, 1_001)

    low, high = bca_levels(0.5, draws, 0.0)

    assert low > 0.025
    assert high > 0.975


def test_one_item_has_a_value_and_no_interval() -> None:
    patterns = count_patterns(ratings_of([[0.0, 1.0, 1.0]], SCALE, "nominal"))

    figure = estimate({"agreement": partial(percent_agreement, patterns=patterns)}, patterns)["agreement"]

    assert figure.as_dict() == {"value": pytest.approx(1 / 3), "low": None, "high": None}


@pytest.mark.parametrize("n_items", [100, 300])
def test_ninety_five_percent_intervals_hold_the_truth_that_often(n_items: int) -> None:
    truth = kappa_of(random_rows(400_000, seed=99))

    held = 0
    for seed in range(400):
        patterns = count_patterns(ratings_of(random_rows(n_items, seed=seed), SCALE, "nominal"))
        figure = estimate({"kappa": partial(fleiss_kappa, patterns=patterns)}, patterns, seed=seed)["kappa"]
        assert figure.low is not None
        assert figure.high is not None
        held += figure.low <= truth <= figure.high

    assert 0.925 <= held / 400 <= 0.975
