from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stats.votes import NOBODY, Ties, majority_of, most_given, most_given_of

items = st.lists(st.lists(st.integers(0, 3), max_size=6), min_size=1, max_size=8)
ways = st.sampled_from(["lower", "higher", "undecided"])


def counts_of(given: list[list[int]]) -> np.ndarray:
    return np.array([np.bincount(grades, minlength=4) for grades in given])


@pytest.mark.parametrize(
    ("ties", "expected"), [("lower", [1, 0, 2, NOBODY]), ("higher", [1, 3, 2, NOBODY]), ("undecided", [1, -1, 2, -1])]
)
def test_the_grade_given_most_often_wins_and_ties_go_by_the_declared_rule(ties: Ties, expected: list[int]) -> None:
    found, tied = most_given(counts_of([[1, 1, 0], [0, 3, 3, 0], [2], []]), ties=ties)

    assert found.tolist() == expected
    assert tied.tolist() == [False, True, False, False]


def test_people_who_tie_count_with_the_lower_grade_unless_somebody_chooses_otherwise() -> None:
    assert majority_of([5, 0, 0, 5, 2]) == 0
    assert most_given(counts_of([[3, 1]]))[0].tolist() == [1]


def test_nobody_has_no_majority() -> None:
    assert majority_of([]) is None
    assert most_given_of([]) == []
    assert most_given(np.zeros((2, 0)))[0].tolist() == [NOBODY, NOBODY]


@given(items, ways)
def test_one_item_and_many_follow_the_same_rule(given: list[list[int]], ties: Ties) -> None:
    found, tied = most_given(counts_of(given), ties=ties)

    one_by_one = [majority_of(map(float, grades), ties=ties) for grades in given]
    assert [None if place == NOBODY else float(place) for place in found.tolist()] == one_by_one
    assert tied.tolist() == [len(most_given_of(map(float, grades))) > 1 for grades in given]
