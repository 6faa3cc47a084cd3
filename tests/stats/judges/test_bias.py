from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import statsmodels.formula.api as smf
from pandas import DataFrame

from stats.judges.bias import circular, length_bias, position_bias, self_preference
from stats.pattern_intervals import Estimate
from stats.ratings import FloatArray

NAN = np.nan


def holds(estimate: Estimate, truth: float) -> bool:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low <= truth <= estimate.high


def test_a_judge_that_rewards_length_is_found_out_where_people_do_not() -> None:
    rng = np.random.default_rng(1)
    people, lengths = rng.integers(0, 4, 300).astype(float), rng.integers(50, 800, 300).astype(float)
    judge = people + 0.3 * np.log2(lengths) + rng.normal(scale=0.5, size=300)

    bias = length_bias(people, judge, lengths)

    assert holds(bias.per_doubling, 0.3)
    assert not holds(bias.per_doubling, 0)


def test_length_that_people_reward_too_is_no_bias() -> None:
    rng = np.random.default_rng(2)
    lengths = rng.integers(50, 800, 300).astype(float)
    people = np.clip(np.round(np.log2(lengths) - 6 + rng.normal(scale=0.4, size=300)), 0, 4)

    bias = length_bias(people, people + rng.normal(scale=0.5, size=300), lengths)

    assert holds(bias.per_doubling, 0)


def test_the_slope_is_statsmodels_and_its_error_that_of_topics_left_out() -> None:
    rng = np.random.default_rng(3)
    topics = np.repeat(np.arange(15), 10)
    people, lengths = rng.integers(0, 3, 150).astype(float), rng.integers(50, 800, 150).astype(float)
    judge = people + rng.normal(size=15)[topics] + rng.normal(size=150)
    judge[:7] = NAN

    bias = length_bias(people, judge, lengths, topics)

    table = DataFrame({"judge": judge, "longer": np.log2(lengths), "people": people, "topic": topics}).dropna()
    fits = [table, *(table[table["topic"] != topic] for topic in range(15))]
    slope, *left = (smf.ols("judge ~ longer + C(people)", one).fit().params["longer"] for one in fits)
    assert bias.per_doubling.value == pytest.approx(slope)
    assert bias.per_doubling.se == pytest.approx(np.sqrt(14 / 15 * ((left - np.mean(left)) ** 2).sum()))
    assert (bias.n_items, bias.n_ungraded) == (143, 7)
    assert bias.per_doubling.over == "15 topics"


def test_a_slope_of_yes_stays_between_minus_one_and_one() -> None:
    rng = np.random.default_rng(8)
    topics, lengths = np.repeat(np.arange(6), 8), rng.integers(50, 400, 48).astype(float)
    people = np.tile([0.0, 1.0], 24)
    judge = (lengths > 140).astype(float)

    bias = length_bias(people, judge, lengths, topics).per_doubling

    assert bias.high is not None
    assert bias.high <= 1


@pytest.mark.parametrize(
    ("n", "lengths", "topics", "reason"),
    [
        (8, np.arange(8.0) + 1, None, "too few"),
        (40, np.linspace(100.0, 190.0, 40), None, "differ twofold in length"),
        (40, np.arange(40.0) + 1, np.zeros(40, int), "1 topic is too few"),
        (12, np.geomspace(100, 900, 12), np.arange(12), "12 items are too few"),
    ],
)
def test_length_bias_says_why_it_cannot_be_told(n: int, lengths: FloatArray, topics: Any, reason: str) -> None:
    people = (np.arange(n) % 2).astype(np.float64)

    bias = length_bias(people, 1 - people, lengths, topics)

    assert bias.per_doubling.value is None
    assert reason in bias.per_doubling.reason


def test_a_judge_of_pairs_that_takes_the_first_is_found_out() -> None:
    as_given = np.array([1, 1, 1, 0, 0.5, 1, NAN])
    swapped = np.array([0, 0, 1, 0, 0.5, 0, 1])

    bias = position_bias(as_given, swapped)

    assert bias.towards_first.value == pytest.approx(3 / 6 / 2)
    assert bias.consistent == pytest.approx(3 / 6)
    assert (bias.n_pairs, bias.n_first_twice, bias.n_second_twice, bias.n_ungraded) == (6, 3, 0, 1)


def test_the_bias_towards_the_first_is_how_often_it_wins_in_both_orders() -> None:
    rng = np.random.default_rng(4)
    as_given, swapped = rng.choice([0, 0.5, 1], 80), rng.choice([0, 0.5, 1], 80)

    bias = position_bias(as_given, swapped)

    assert bias.towards_first.value == pytest.approx((as_given.mean() + (1 - swapped).mean()) / 2 - 0.5)


def test_without_pairs_in_both_orders_there_is_no_position_bias() -> None:
    bias = position_bias(np.array([1.0, NAN]), np.array([NAN, 0.0]))

    assert bias.towards_first.reason == "no pair was decided in both orders"
    assert (bias.consistent, bias.n_ungraded) == (None, 2)


def test_a_family_that_favours_itself_is_told_from_a_generous_one() -> None:
    """Both judges add a grade to everything; one adds half a grade more to its own."""
    rng = np.random.default_rng(5)
    judges = np.repeat(["Llama", "qwen"], 400)
    systems = np.tile(np.repeat(["llama", "qwen"], 200), 2)
    people = rng.integers(0, 4, 800).astype(float)
    judge = people + 1 + 0.5 * ((judges == "Llama") & (systems == "llama")) + rng.normal(scale=0.5, size=800)

    found = self_preference(judges.tolist(), systems.tolist(), judge, people, np.tile(np.arange(40), 20))

    assert holds(found.preference["llama"], 0.5)
    assert not holds(found.preference["llama"], 0)
    assert holds(found.preference["qwen"], 0)
    cells = {(cell.judge_family, cell.system_family): cell for cell in found.cells}
    assert cells["llama", "llama"].own
    assert not cells["qwen", "llama"].own
    assert holds(cells["qwen", "llama"].difference, 1)


def test_the_preference_is_the_difference_of_two_means_with_welchs_error() -> None:
    rng = np.random.default_rng(6)
    systems = ["own"] * 30 + ["other"] * 50
    extra = rng.normal(size=80)

    found = self_preference(["own"] * 80, systems, extra, np.zeros(80)).preference["own"]

    assert found.value == pytest.approx(extra[:30].mean() - extra[30:].mean())
    assert found.se == pytest.approx(np.sqrt(extra[:30].var(ddof=1) / 30 + extra[30:].var(ddof=1) / 50))


def test_a_system_of_no_known_family_is_nobodys_own() -> None:
    found = self_preference(["", "llama"], ["", ""], np.array([1.0, NAN]), np.array([0.0, 1.0]))

    assert [(cell.judge_family, cell.own) for cell in found.cells] == [("", False)]
    assert "fewer than two items" in found.preference["llama"].reason
    assert found.n_ungraded == 1


def test_a_circle_is_named_by_what_the_family_did() -> None:
    families = {"wrote the report": {"Llama "}, "ranked the passages": {"bm25"}, "made the nuggets": {"LLAMA", "qwen"}}

    assert circular("llama", families) == ["wrote the report", "made the nuggets"]
    assert circular("gemma", families) == []
    assert circular("", {"wrote the report": {""}}) == []
