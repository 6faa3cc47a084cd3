"""How sure a difference of two judges is: drawn again by topic, and called established only where it is."""

from __future__ import annotations

import random
from collections.abc import Sequence
from statistics import fmean

import pytest

from stats.share_intervals import difference_by_topic


def by_item(rows: Sequence[tuple[int, bool, bool]]) -> tuple[dict[int, bool], dict[int, bool], dict[int, int]]:
    """Return what both said by item, and each item's topic."""
    first = {item: one for item, (_, one, _) in enumerate(rows)}
    second = {item: two for item, (_, _, two) in enumerate(rows)}
    return first, second, {item: topic for item, (topic, _, _) in enumerate(rows)}


def test_only_items_of_both_are_compared() -> None:
    found = difference_by_topic({1: True, 2: True, 3: False}, {2: False, 3: False, 4: True}, {1: 1, 2: 1, 3: 2, 4: 2})

    assert found is not None
    assert (found.items, found.topics, found.first, found.second, found.difference) == (2, 2, 0.5, 0.0, 0.5)


def test_nothing_in_common_tells_nothing() -> None:
    assert difference_by_topic({1: True}, {2: True}, {1: 1, 2: 1}) is None


def test_one_topic_has_no_interval_and_establishes_nothing() -> None:
    found = difference_by_topic(*by_item([(1, True, False)] * 50))

    assert found is not None
    assert (found.interval, found.established) == (None, False)


def test_a_difference_in_every_topic_is_established() -> None:
    found = difference_by_topic(
        *by_item([(topic, number < 8, number < 4 + topic % 2) for topic in range(12) for number in range(10)])
    )

    assert found is not None
    assert found.interval == pytest.approx((0.32, 0.38), abs=0.005)
    assert found.established


def test_a_difference_in_one_topic_alone_is_not_though_its_items_are_many() -> None:
    rows = [(0, True, False)] * 40 + [(topic, True, True) for topic in range(1, 10) for _ in range(40)]

    found = difference_by_topic(*by_item(rows))

    assert found is not None
    assert found.difference == pytest.approx(0.1)
    assert not found.established


def test_too_few_topics_establish_nothing_even_if_all_say_the_same() -> None:
    found = difference_by_topic(*by_item([(topic, True, False) for topic in range(4) for _ in range(10)]))

    assert found is not None
    assert found.estimate.reason == "4 topics are too few for an interval, which takes 5"
    assert not found.established


def test_the_same_comparison_gives_the_same_interval() -> None:
    chance = random.Random(3)
    rows = [(topic, chance.random() < 0.8, chance.random() < 0.6) for topic in range(15) for _ in range(6)]

    assert difference_by_topic(*by_item(rows)) == difference_by_topic(*by_item(rows))


@pytest.mark.slow
def test_ninety_five_percent_intervals_hold_the_truth_about_that_often_over_topics() -> None:
    chance = random.Random(11)
    held = []
    for _ in range(200):
        rows = []
        for topic in range(40):
            harder = chance.gauss(0, 0.15)
            rows += [(topic, chance.random() < 0.75 + harder, chance.random() < 0.65 + harder) for _ in range(8)]
        found = difference_by_topic(*by_item(rows))
        assert found is not None
        assert found.interval is not None
        low, high = found.interval
        held.append(low <= 0.1 <= high)

    assert 0.89 <= fmean(held) <= 0.99
