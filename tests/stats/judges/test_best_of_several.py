from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from stats.intervals import COEFFICIENT, Sample
from stats.judges.best_of_several import corrected_best, differences, pseudo_values

Values = NDArray[np.float64]


def drawn(rng: np.random.Generator, n_topics: int, truth: Values) -> Values:
    """Topics are hard or easy for all judges, and for each besides."""
    common = rng.normal(0, 0.1, (n_topics, 1))
    return np.asarray(truth + common + rng.normal(0, 0.1, (n_topics, len(truth))))


def test_pseudo_values_of_a_mean_are_the_topics_values() -> None:
    by_topic = np.random.default_rng(1).random((8, 3))
    left = np.stack([np.delete(by_topic, topic, axis=0).mean(axis=0) for topic in range(8)])

    assert pseudo_values(by_topic.mean(axis=0), left) == pytest.approx(by_topic)


def test_a_judge_far_ahead_keeps_its_figure_and_interval() -> None:
    parts = drawn(np.random.default_rng(2), 40, np.array([0.8, 0.1, 0.1]))
    values = parts.mean(axis=0)

    found = corrected_best(values, parts, Sample(40, 800), within=COEFFICIENT)

    half = stats.t.ppf(0.975, 39) * parts[:, 0].std(ddof=1) / np.sqrt(40)
    assert found.value == pytest.approx(values[0], abs=0.002)
    assert (found.low, found.high) == pytest.approx((values[0] - half, values[0] + half), abs=0.01)


def test_judges_that_are_alike_are_not_as_good_as_the_best_looks() -> None:
    """33 judges of one worth, .5, over 40 topics."""
    rng = np.random.default_rng(3)
    looked, corrected, held, above = [], [], 0, 0
    for _ in range(150):
        parts = drawn(rng, 40, np.full(33, 0.5))
        found = corrected_best(parts.mean(axis=0), parts, Sample(40, 800), within=COEFFICIENT)
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        looked.append(float(parts.mean(axis=0).max()))
        corrected.append(found.value)
        held += found.low <= 0.5 <= found.high
        above += found.value > 0.5

    assert np.mean(looked) > 0.52
    assert np.median(corrected) == pytest.approx(0.5, abs=0.006)
    assert above / 150 == pytest.approx(0.5, abs=0.12)
    assert held / 150 >= 0.9


def test_two_judges_differ_as_a_paired_t_test_says() -> None:
    parts = drawn(np.random.default_rng(4), 25, np.array([0.6, 0.5]))

    found = differences(parts.mean(axis=0), parts, Sample(len(parts)))

    interval = stats.ttest_rel(parts[:, 0], parts[:, 1]).confidence_interval()
    assert found.value[0, 1] == pytest.approx((parts[:, 0] - parts[:, 1]).mean())
    assert (found.low[0, 1], found.high[0, 1]) == pytest.approx((interval.low, interval.high), abs=0.006)
    assert found.low[1, 0] == pytest.approx(-found.high[0, 1])


def test_the_pair_that_looks_furthest_apart_of_many_is_told_apart_no_more_than_five_times_in_a_hundred() -> None:
    rng = np.random.default_rng(5)
    apart = 0
    for _ in range(60):
        parts = drawn(rng, 12, np.full(10, 0.5))
        values = parts.mean(axis=0)
        found = differences(values, parts, Sample(len(parts)))
        apart += found.told_apart(int(values.argmax()), int(values.argmin()))

    assert apart / 60 <= 0.12


def test_judges_that_say_the_same_are_not_apart() -> None:
    parts = np.repeat(np.random.default_rng(6).random((9, 1)), 2, axis=1)

    found = differences(parts.mean(axis=0), parts, Sample(len(parts)))

    assert not found.told_apart(0, 1)
    assert found.value[0, 1] == 0
