"""When a study will be done: a range that holds, and nothing where too little is known."""

from __future__ import annotations

import numpy as np
import pytest

from stats.completion import FEWEST_DAYS, Completion, forecast_completion


def test_work_that_never_varies_ends_when_it_must() -> None:
    found = forecast_completion([[10, 5]] * 20, left=150, left_for_each=[100, 50])

    assert (found.low, found.middle, found.high) == (10, 10, 10)
    assert found.n_days == 20


def test_half_a_days_work_ends_half_a_day_from_now() -> None:
    found = forecast_completion([[10]] * 20, left=5, left_for_each=[50])

    assert found.middle == 0.5


def test_the_slow_decide_where_only_they_have_work_left() -> None:
    # Together 11 a day, but the fast one has 10 left and the slow one 40.
    found = forecast_completion([[10, 1]] * 30, left=50, left_for_each=[10, 40])

    assert found.middle == 40


def test_days_that_vary_make_a_range() -> None:
    rng = np.random.default_rng(7)

    found = forecast_completion(rng.poisson(8, (20, 1)), left=80, left_for_each=[80])

    assert found.low is not None
    assert found.middle is not None
    assert found.high is not None
    assert 5 < found.low < found.middle < found.high < 20


def test_nothing_left_is_done_now() -> None:
    assert forecast_completion([[3]], left=0, left_for_each=[0]) == Completion(0.0, 0.0, 0.0, 1)


@pytest.mark.parametrize(
    ("by_day", "left_for_each", "reason"),
    [
        ([[9]] * (FEWEST_DAYS - 1), [50], "takes 14 days"),
        ([[0]] * 17 + [[30]] * 3, [50], "work on 4 of them"),
        ([], [50], "takes 14 days"),
        ([[5, 0]] * 20, [10, 50], "too few tasks left"),  # the second does nothing
        ([[1]] * 20, [5000], "too long to say"),
    ],
)
def test_says_why_there_is_no_range(by_day: list[list[int]], left_for_each: list[int], reason: str) -> None:
    left = max(left_for_each)

    found = forecast_completion(
        np.array(by_day).reshape(len(by_day), len(left_for_each)), left=left, left_for_each=left_for_each
    )

    assert found.low is None
    assert found.high is None
    assert reason in found.reason


@pytest.mark.parametrize("kind", ["steady", "sessions", "weekdays"])
def test_the_range_holds_in_eight_of_ten_simulated_studies(kind: str) -> None:
    """Work of three people for two weeks, half done: how often the truth is within the range that was foreseen."""
    held = []
    for seed in range(60):
        rng = np.random.default_rng([seed, len(kind)])
        pace = rng.gamma(3, 3, 3)
        counts = rng.poisson(pace, (200, 3))
        if kind == "sessions":
            counts = counts * (rng.random((200, 3)) < 0.5)
        elif kind == "weekdays":
            counts = counts * ((np.arange(200) + seed) % 7 < 5)[:, None]
        seen = counts[:14]
        left = int(seen.sum())
        found = forecast_completion(seen, left=left, left_for_each=[left] * 3)
        if found.low is not None and found.high is not None:
            done = np.cumsum(counts[14:].sum(axis=1))
            end = int(np.argmax(done >= left)) + 1
            held.append(np.floor(found.low) < end <= np.ceil(found.high))

    assert len(held) > 50
    assert np.mean(held) >= 0.8
