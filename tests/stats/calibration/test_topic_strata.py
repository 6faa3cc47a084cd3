"""The mean over all topics of a stratified sample of them, and whether its interval holds."""

from __future__ import annotations

import math
from statistics import fmean, variance

import numpy as np
import pytest

from stats.calibration.topic_strata import stratified_mean
from stats.intervals import SHARE, UNBOUNDED, t_quantile
from tests.simulations import topic_strata

LOW = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.2, 0.3, 0.4, 0.5]
HIGH = [0.7, 0.8, 0.9, 0.6, 0.7, 0.8, 0.9, 0.8, 0.7, 0.6]


def test_weights_each_stratum_by_its_topics_and_not_by_those_drawn() -> None:
    found = stratified_mean({"a": LOW, "b": HIGH}, {"a": 300, "b": 100}, within=UNBOUNDED)

    parts = [
        (300 / 400) ** 2 * (1 - 10 / 300) * variance(LOW) / 10,
        (100 / 400) ** 2 * (1 - 10 / 100) * variance(HIGH) / 10,
    ]
    error = math.sqrt(sum(parts))
    freedom = sum(parts) ** 2 / sum(part**2 / 9 for part in parts)
    assert found.value == pytest.approx(0.75 * fmean(LOW) + 0.25 * fmean(HIGH))
    assert found.se == pytest.approx(error)
    assert found.low is not None
    assert found.value is not None
    assert found.low == pytest.approx(found.value - t_quantile(freedom) * error)


def test_a_stratum_that_was_drawn_whole_adds_no_uncertainty() -> None:
    found = stratified_mean({"a": LOW, "b": [0.0, 1.0]}, {"a": 300, "b": 2}, within=UNBOUNDED)

    assert found.se == pytest.approx(math.sqrt((300 / 302) ** 2 * (1 - 10 / 300) * variance(LOW) / 10))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"a": LOW, "b": HIGH[:9]}, "fewer than 10 topics were drawn of b"),
        ({"a": LOW, "b": [0.0, 1.0] * 5}, "the drawn topics of b have fewer than 4 different values"),
    ],
)
def test_gives_no_interval_where_a_stratum_says_too_little(values: dict[str, list[float]], said: str) -> None:
    found = stratified_mean(values, {"a": 300, "b": 100}, within=SHARE)

    assert found.value is not None
    assert (found.low, found.high, found.reason) == (None, None, said)


def test_there_is_no_mean_without_a_topic_of_each_stratum() -> None:
    found = stratified_mean({"a": LOW}, {"a": 300, "b": 100}, within=SHARE)

    assert (found.value, found.reason) == (None, "no topic with a score was drawn of b")


@pytest.mark.slow
def test_intervals_hold_in_93_to_97_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = ("40 of 300 and 10 of 300", "10 of 50 and 10 of 500", "30 of 40 and 15 of 20")
    monkeypatch.setattr(topic_strata, "DESIGNS", {name: topic_strata.DESIGNS[name] for name in kept})
    monkeypatch.setattr(
        topic_strata, "VALUES", {name: topic_strata.VALUES[name] for name in ("shares of 15", "shares with zeros")}
    )

    rows = list(topic_strata.coverages(600, 5))

    assert len(rows) == 6
    assert np.mean([held for *_, held, _ in rows]) == pytest.approx(0.95, abs=0.015)
    for _, _, given, held, off in rows:
        assert given > 590
        assert 0.92 < held < 0.98  # 600 draws: 93 to 97 % and a standard error
        assert abs(off) < 0.01
