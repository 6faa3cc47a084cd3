"""Errors of a rater, counted by hand; and what may be said of them in one sentence."""

from __future__ import annotations

import numpy as np
import pytest

from stats.answers_in_words import direction_of_errors
from stats.judges.errors import Direction, direction_of, error_group, pairs_of_raters
from stats.ratings import MISSING


def found(expected: list[int], given: list[int | None], topics: list[int]) -> Direction:
    answers = np.array([np.nan if one is None else one for one in given], dtype=np.float64)
    return direction_of(np.array(expected) == 1, answers == 1, np.isnan(answers), np.array(topics))


def test_counts_each_way_and_an_ungraded_reply_is_wrong_but_in_no_direction() -> None:
    one = found([0, 0, 0, 1, 1], [1, 0, None, 0, 1], [0, 0, 1, 1, 1])

    assert (one.n, one.n_wrong, one.n_ungraded) == (5, 3, 1)
    assert (one.n_false_yes, one.n_no, one.n_false_no, one.n_yes) == (1, 3, 1, 2)
    assert one.wrong.value == pytest.approx(3 / 5)
    assert one.surplus.value == 0


def test_says_yes_too_often_with_the_share_over_topics() -> None:
    expected = ([0] * 4 + [1] * 2) * 9
    given = [1, 0, 0, 0, 1, 1] * 9
    given[0], given[1] = 1, 1  # one topic says it twice
    one = found(expected, list(given), np.repeat(np.arange(9), 6).tolist())

    said = direction_of_errors("llm-a", one, reference="people")

    assert said.startswith("llm-a says yes too often: in 10 of 36 items where people said no (28 %, ")
    assert said.endswith(" %, 9 topics).")


def test_says_no_too_often_the_other_way_round() -> None:
    expected = ([1] * 4 + [0] * 2) * 9
    given = [0, 1, 1, 1, 0, 0] * 9
    given[0], given[1] = 0, 0

    said = direction_of_errors(
        "llm-a", found(expected, list(given), np.repeat(np.arange(9), 6).tolist()), reference="ada"
    )

    assert said.startswith("llm-a says no too often: in 10 of 36 items where ada said yes (28 %, ")


def test_errors_both_ways_settle_no_direction() -> None:
    chance = np.random.default_rng(3)
    expected = chance.integers(0, 2, 200)
    given = np.where(chance.random(200) < 0.2, 1 - expected, expected)

    said = direction_of_errors(
        "llm-a", found(expected.tolist(), given.tolist(), np.repeat(np.arange(10), 20).tolist()), reference="people"
    )

    assert "whether it says yes or no too often is not settled" in said


def test_few_topics_settle_nothing_and_say_why() -> None:
    said = direction_of_errors("llm-a", found([0] * 40, [1] * 40, [0] * 20 + [1] * 20), reference="people")

    assert "too often is not settled" in said
    assert "no interval: 2 topics are too few for an interval, which takes 5" in said


def test_no_error_and_no_item_are_said_too() -> None:
    none = found([0, 1] * 30, [0, 1] * 30, np.repeat(np.arange(6), 10).tolist())
    nothing = found([], [], [])

    assert direction_of_errors("llm-a", none, reference="people").startswith(
        "llm-a gives another answer than people in none of 60 items (0 %, 0 to "
    )
    assert direction_of_errors("llm-a", nothing, reference="people") == "llm-a and people have no item in common."


def test_a_group_has_its_share_and_its_signed_difference() -> None:
    differences = np.array([2.0, -1.0, 0.0, np.nan])
    group = error_group("a", np.array([1, 1, 0, 1], bool), differences, np.array([0, 0, 1, 1]), width=3)

    assert group.wrong.value == pytest.approx(3 / 4)
    assert group.difference.value == pytest.approx(1 / 3)
    assert group.wrong.low is None
    assert "2 topics are too few" in group.wrong.reason


def test_items_of_one_topic_stand_for_that_topic() -> None:
    wrong = np.arange(40) % 4 == 0

    group = error_group("a", wrong, wrong.astype(float), np.zeros(40, dtype=int), width=1)

    assert group.wrong.over == "40 items"
    assert group.wrong.low is not None


def test_pairs_of_raters_leave_out_what_one_of_them_did_not_grade() -> None:
    a = np.array([0, 1, 1, MISSING, 0], dtype=np.int16)
    b = np.array([0, 1, 0, 1, MISSING], dtype=np.int16)
    c = np.full(5, MISSING, dtype=np.int16)

    first, second, _ = pairs_of_raters([a, b, c], 2, np.arange(5))

    assert first.n == 3
    assert first.same.value == pytest.approx(2 / 3)
    assert first.kappa.value == pytest.approx(0.4)
    assert (second.n, second.kappa.reason) == (0, "no item was graded by both")
