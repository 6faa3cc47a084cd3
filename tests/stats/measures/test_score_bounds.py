"""Bounds of scores and what they say of an order, by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from stats.measures.score_bounds import ScoreBounds, open_pairs, possible_ranks

BOUNDS = {"a": (0.5, 0.75), "b": (0.6, 0.6), "c": (0.1, 0.2), "d": (0.2, 0.2)}


def test_an_order_is_open_where_either_may_be_ahead() -> None:
    # c reaches d, and cannot pass it.
    assert open_pairs(BOUNDS) == [("a", "b")]


def test_ranks_go_from_the_best_to_the_worst_that_grades_allow() -> None:
    assert possible_ranks(BOUNDS) == {"a": (1, 2), "b": (1, 2), "c": (3, 4), "d": (3, 3)}


def test_bounds_of_a_mean_are_means_of_bounds_over_the_topics_there_are() -> None:
    low = pd.DataFrame({"t1": [0.2, 0.5], "t2": [0.4, float("nan")]}, index=["a", "b"])

    assert ScoreBounds(low, low + 0.1).means() == {
        "a": pytest.approx((0.3, 0.4)),
        "b": pytest.approx((0.5, 0.6)),
    }
