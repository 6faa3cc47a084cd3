from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from stats.agreement.report import group_statistics
from stats.judges.side_by_side import compare_judges
from stats.judges.thresholds import kappa_at_threshold
from stats.ratings import Ratings, count_patterns
from tests.judges_check import kappas_of


def test_the_difference_of_two_judges_kappas_is_paired_over_the_same_items() -> None:
    rng = np.random.default_rng(7)
    topics = np.repeat(np.arange(12), 15)
    people = rng.random(180) < 0.4
    good = np.where(rng.random(180) < 0.9, people, ~people)
    like_it = np.where(rng.random(180) < 0.95, good, ~good)

    found = compare_judges(people, [good.astype(float), like_it.astype(float)], topics)

    difference = found.difference(0, 1)
    assert difference is not None
    value, low, high = difference
    assert value == pytest.approx(cohen_kappa_score(people, good) - cohen_kappa_score(people, like_it))
    alone = math.hypot(*((one.high or 0.0) - (one.low or 0.0) for one in found.kappas))
    assert high - low < 0.8 * alone


def test_items_of_nearly_one_grade_give_kappa_no_interval_over_topics() -> None:
    """Twelve yes among 400 items of ten topics: where chance drew them decides what κ looks like."""
    people = np.arange(400) % 33 == 0
    judge = np.roll(people, 1) | (np.arange(400) == 0)
    topics = np.arange(400) // 40

    found = kappa_at_threshold(people, judge, None, topics)

    assert found.value is not None
    assert (found.low, found.high) == (None, None)
    assert "13 of 400" in found.reason


def test_a_fifth_of_few_items_is_enough_for_kappas_interval() -> None:
    people = np.arange(60) % 5 == 0
    judge = np.where(np.arange(60) % 7 == 0, ~people, people)

    assert kappa_at_threshold(people, judge, None, np.arange(60) // 6).low is not None


@pytest.mark.parametrize(("others", "has_one"), [(4, False), (5, True)])
def test_without_topics_kappa_takes_five_items_of_another_grade(others: int, has_one: bool) -> None:
    people = np.arange(60) < others

    found = kappa_at_threshold(people, people, None, None)

    assert (found.low is not None) is has_one


def test_alpha_has_no_interval_of_nearly_one_grade_and_percent_agreement_has() -> None:
    codes = np.zeros((200, 2), dtype=np.int16)
    codes[::25] = 1
    codes[3, 0] = 1
    topics = np.arange(200) // 20
    ratings = Ratings(codes, (0.0, 1.0), "nominal", range(200), range(2), topics=topics)

    found = group_statistics(count_patterns(ratings), ratings)

    assert found["krippendorff_alpha"].low is None
    assert "8 of 200" in found["krippendorff_alpha"].reason
    assert found["percent_agreement"].low is not None


def test_simulated_counts_give_the_kappa_of_their_items() -> None:
    people = np.repeat([1, 1, 0, 0], [20, 5, 4, 31])
    judge = np.repeat([1, 0, 1, 0], [20, 5, 4, 31])

    of_counts = kappas_of(np.array([25]), np.array([20]), np.array([31]), 60)

    assert of_counts == pytest.approx(cohen_kappa_score(people, judge))
