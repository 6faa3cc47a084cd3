from __future__ import annotations

import numpy as np
import pytest

from stats.agreement.by_grade import agreement_by_grade, agreement_by_rater, dispute
from stats.ratings import Level, Ratings
from stats.votes_on_items import votes_on


def ratings(rows: list[list[int]], *, scale: tuple[float, ...] = (0.0, 1.0), level: Level = "nominal") -> Ratings:
    """Rows of codes, −1 where a rater gave no grade."""
    codes = np.asfortranarray(np.array(rows, dtype=np.int16))
    return Ratings(codes, scale, level, list(range(len(rows))), [f"r{n}" for n in range(codes.shape[1])])


def test_agreement_on_a_grade_is_how_often_another_gives_it_too() -> None:
    # Ten times both yes, eight times split, 22 times both no: 2·10/(2·10 + 8) and 2·22/(2·22 + 8).
    table = ratings([[1, 1]] * 10 + [[1, 0]] * 3 + [[0, 1]] * 5 + [[0, 0]] * 22)

    no, yes = agreement_by_grade(table)

    assert yes.value == pytest.approx(20 / 28)
    assert no.value == pytest.approx(44 / 52)
    assert yes.low is not None
    assert yes.high is not None
    assert yes.low <= 20 / 28 <= yes.high


def test_a_grade_that_nobody_gave_has_no_agreement() -> None:
    unused = agreement_by_grade(ratings([[0, 1], [0, 0]], scale=(0.0, 1.0, 2.0)))[2]

    assert unused.value is None
    assert "nobody gave it" in unused.reason


def test_a_rater_is_compared_with_everybody_who_shares_the_item() -> None:
    first, second, third = agreement_by_rater(ratings([[1, 1, 0], [0, 0, -1]]))

    assert first.value == second.value == pytest.approx(2 / 3)
    assert third.value == 0


def test_a_rater_alone_is_compared_with_nobody() -> None:
    assert agreement_by_rater(ratings([[1], [0]]))[0].value is None


def test_disputes_are_the_mean_distance_of_two_people() -> None:
    rows = [[0, 0, 3], [2, 2, 2], [1, -1, -1]]

    ordinal = dispute(ratings(rows, scale=(0.0, 1.0, 2.0, 10.0), level="ordinal"))
    interval = dispute(ratings(rows, scale=(0.0, 1.0, 2.0, 10.0), level="interval"))
    nominal = dispute(ratings(rows, scale=(0.0, 1.0, 2.0, 10.0)))

    assert ordinal[:2].tolist() == [2, 0]
    assert interval[0] == pytest.approx(20 / 3)
    assert nominal[0] == pytest.approx(2 / 3)
    assert np.isnan(ordinal[2])


def test_votes_are_the_majority_with_ties_to_the_lower_and_how_far_it_is_divided() -> None:
    people = ratings([[1, 1, 0], [1, 0, -1], [1, -1, -1], [-1, -1, -1]])

    votes = votes_on(people, [2, 1, 0, 3, 9], at=1)

    assert votes.yes.tolist()[:3] == [1, 0, 1]
    assert np.isnan(votes.yes[3:]).all()
    assert votes.disagreement[1:3].tolist() == [0.5, pytest.approx(1 / 3)]
    assert np.isnan(votes.disagreement[0])
    assert votes.n_elsewhere == 0
    assert votes_on(people, [0], at=1).n_elsewhere == 2
