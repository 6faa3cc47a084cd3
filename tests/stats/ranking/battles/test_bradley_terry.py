"""Battles by Bradley and Terry's model with ties and sides."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import log

import numpy as np
import pytest

from stats.ranking.battles.bradley_terry import ALL_TIES, NO_VOTES, PENALISED, TOO_FEW, bradley_terry, by_topic, why_not
from stats.ranking.battles.bradley_terry_fit import Fit, Votes
from tests.simulations.battles import Battles

# Games won by the row's team against the column's, American League 1987, eastern division: Agresti, Categorical Data
# Analysis (1990), table 10.10.
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
GAMES = (
    (0, 7, 9, 7, 7, 9, 11),
    (6, 0, 7, 5, 11, 9, 9),
    (4, 6, 0, 7, 7, 8, 12),
    (6, 8, 6, 0, 6, 7, 10),
    (6, 2, 6, 7, 0, 7, 12),
    (4, 4, 5, 6, 6, 0, 6),
    (2, 4, 1, 3, 1, 7, 0),
)


def votes(rows: Sequence[tuple[str, str, float]], *, topics: int = 10, sided: bool = True, raters: int = 1) -> Votes:
    """Return votes on (left, right), each topic and rater in turn."""
    names = tuple(sorted({name for row in rows for name in row[:2]}))
    n = np.arange(len(rows))
    left, right = (np.array([names.index(str(row[side])) for row in rows], dtype=np.int64) for side in (0, 1))
    outcome = np.array([row[2] for row in rows], dtype=np.float64)
    return Votes(names, left, right, outcome, n % topics, n % raters, np.full(len(rows), sided))


def abilities(given: Votes, *, side: bool = False) -> dict[str, float]:
    found = bradley_terry(given, side=side)
    return {one.system: one.log_odds.value for one in found.standings if one.log_odds.value is not None}


def test_two_systems_have_the_shares_of_their_votes() -> None:
    found = bradley_terry(votes([("A", "B", 1)] * 6 + [("A", "B", 0.5)] * 2 + [("A", "B", 0)] * 2), side=False)

    best, other = found.standings
    assert (best.system, best.wins, best.ties, best.losses) == ("A", 6, 2, 2)
    assert best.log_odds.value == pytest.approx(log(6 / 2) / 2)
    assert other.log_odds.value == pytest.approx(-log(6 / 2) / 2)
    assert found.fit is not None
    assert found.fit.expected_of(found.fit.parameters)[0, 1] == pytest.approx(0.7)  # six wins, two halves
    # ν = ties / √(wins · losses) = 2/√12, and equals tie in ν/(2 + ν)
    assert found.tie_rate == pytest.approx(2 / 12**0.5 / (2 + 2 / 12**0.5))


def test_fits_a_textbook_example_without_ties() -> None:
    rows = [
        (TEAMS[one], TEAMS[other], 1.0)
        for one, won in enumerate(GAMES)
        for other, n in enumerate(won)
        for _ in range(n)
    ]

    found = abilities(votes(rows))

    # the coefficients of BradleyTerry2 (R) for these data, Baltimore being 0
    expected = {"Boston": 1.1077, "Cleveland": 0.6839, "Detroit": 1.4364, "Milwaukee": 1.5814}
    expected |= {"New York": 1.2476, "Toronto": 1.2945, "Baltimore": 0}
    assert {name: value - found["Baltimore"] for name, value in found.items()} == pytest.approx(expected, abs=5e-5)
    assert sum(found.values()) == pytest.approx(0)


def test_is_where_the_votes_are_as_many_as_expected() -> None:
    given = Battles(5, 2, 2).draw(np.random.default_rng(3), 30)

    fit = Fit.of(given, side=True)
    slopes, _ = fit.parts(given.topic)

    assert slopes.sum(axis=0) == pytest.approx(np.zeros(len(fit.parameters)), abs=1e-4)


def test_the_left_of_equals_wins_as_often_as_it_does() -> None:
    rows = [("A", "B", 1)] * 30 + [("A", "B", 0)] * 20 + [("B", "A", 1)] * 30 + [("B", "A", 0)] * 20

    found = bradley_terry(votes(rows))

    assert found.left is not None
    assert found.left.value == pytest.approx(0.6)
    assert [one.log_odds.value for one in found.standings] == pytest.approx([0, 0])
    assert [one.rank for one in found.standings] == [1, 1]


def test_without_a_side_effect_the_side_counts_for_ability() -> None:
    rows = [("A", "B", 1)] * 45 + [("A", "B", 0)] * 15 + [("B", "A", 1)] * 10 + [("B", "A", 0)] * 10

    with_side, without = bradley_terry(votes(rows)), bradley_terry(votes(rows), side=False)

    assert with_side.left is not None
    assert without.left is None
    # by hand: logit P(A left) = θ + δ = log 3, logit P(A right) = θ − δ = 0
    assert with_side.standings[0].log_odds.value == pytest.approx(log(3) / 4)
    assert with_side.left.value == pytest.approx(3**0.5 / (1 + 3**0.5))


def test_sides_that_are_not_known_tell_nothing_of_sides() -> None:
    found = bradley_terry(votes([("A", "B", 1)] * 30 + [("A", "B", 0)] * 10, sided=False))

    assert found.left is None
    assert found.standings[0].log_odds.value == pytest.approx(log(3) / 2)


def test_ungraded_votes_are_counted_and_left_out() -> None:
    rows = [("A", "B", 1.0)] * 6 + [("A", "B", 0.0)] * 2 + [("A", "B", float("nan"))] * 5

    found = bradley_terry(votes(rows), side=False)

    assert found.n_ungraded == 5
    assert (found.standings[0].wins, found.standings[0].losses) == (6, 2)
    assert found.standings[0].log_odds.value == pytest.approx(log(3) / 2)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], NO_VOTES),
        ([("A", "B", 0.5), ("B", "A", 0.5)], ALL_TIES),
        ([("A", "B", 1), ("B", "A", 1), ("C", "D", 1)], "no chain of votes leads “A” and “B” from “C” and “D”"),
        ([("A", "B", 1), ("B", "C", 1), ("C", "B", 1)], "“A” never lost to any other system, nor tied with one"),
        ([("A", "B", 1), ("B", "A", 1), ("B", "C", 1)], "“A” and “B” never lost to any other system"),
        # A beats C by more than a tie, and is as near to B as B to C: the likelihood only grows with ν and θ
        ([("A", "C", 1), ("A", "B", 0.5), ("B", "C", 0.5)], TOO_FEW),
    ],
)
def test_says_why_it_has_no_numbers(rows: list[tuple[str, str, float]], reason: str) -> None:
    found = bradley_terry(votes(rows), side=False)

    assert reason in found.reason
    assert all(one.rank is None and one.log_odds.value is None for one in found.standings)
    assert sum(one.wins for one in found.standings) == sum(outcome == 1 for *_, outcome in rows)


def test_a_declared_penalty_gives_a_number_without_an_interval() -> None:
    rows = ([("A", "B", 1)] * 4 + [("B", "C", 1), ("C", "B", 1)]) * 10

    found = bradley_terry(votes(rows), side=False, penalty=0.1)

    assert found.reason == ""
    assert found.standings[0].system == "A"
    assert found.standings[0].win_rate.low is None
    assert found.standings[0].win_rate.reason == PENALISED
    assert found.standings[0].ranks is None


def test_no_penalty_joins_what_never_met() -> None:
    given = votes([("A", "B", 1), ("B", "A", 1), ("C", "D", 1), ("D", "C", 1)])

    assert why_not(given, penalty=1).startswith("Not connected")


@pytest.mark.parametrize(("topics", "n", "reason"), [(4, 80, "4 topics are too few"), (20, 20, "20 votes are too few")])
def test_too_few_topics_or_votes_have_no_interval(topics: int, n: int, reason: str) -> None:
    rows: list[tuple[str, str, float]] = [("A", "B", 1), ("A", "B", 0.5), ("A", "B", 1), ("A", "B", 0)] * (n // 4)

    found = bradley_terry(votes(rows, topics=topics), side=False)

    assert found.standings[0].win_rate.value is not None
    assert reason in found.standings[0].win_rate.reason
    assert found.told_apart is None


def test_a_topic_counts_once_however_many_vote_on_it() -> None:
    """Thirty raters who say the same are no more topics."""
    given = Battles(4, 1, 1).draw(np.random.default_rng(5), 20)
    rows = np.tile(np.arange(len(given.left)), 3)
    names = ("left", "right", "outcome", "topic", "rater", "sided")
    copied = Votes(given.systems, **{name: getattr(given, name)[rows] for name in names})

    once, thrice = bradley_terry(given), bradley_terry(copied)

    for one, three in zip(once.standings, thrice.standings, strict=True):
        assert three.log_odds.value == pytest.approx(one.log_odds.value)
        assert three.log_odds.se == pytest.approx(one.log_odds.se)


def test_leaves_out_each_topic() -> None:
    given = Battles(4, 1, 1).draw(np.random.default_rng(6), 30)
    fit = Fit.of(given, side=True)
    without = fit.without_each(given.topic)
    exact = [Fit.of(given.where(given.topic != topic), side=True).parameters for topic in range(30)]

    assert without is not None
    assert without == pytest.approx(np.array(exact), abs=0.01)


def test_intervals_are_over_raters_too_from_five_on() -> None:
    battles = Battles(4, 8, 2, own=0.8)
    given = battles.draw(np.random.default_rng(7), 40)

    of_all, of_these = Fit.of(given, side=True), Fit.of(given.where(given.rater < 4), side=True)

    assert of_all.over_raters
    assert not of_these.over_raters
    by_topics = Fit.of(Votes(given.systems, given.left, given.right, given.outcome, given.topic, given.rater % 4,
                             given.sided), side=True)  # fmt: skip
    wide, narrow = of_all.error_of(of_all.abilities_of), by_topics.error_of(by_topics.abilities_of)
    assert wide is not None
    assert narrow is not None
    assert (wide > narrow).all()


def test_places_are_as_sure_as_the_votes() -> None:
    given = Battles(4, 2, 2, topics=0.2).draw(np.random.default_rng(8), 100)

    found = bradley_terry(given)

    assert [one.ranks for one in found.standings] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert found.told_apart is not None
    assert found.told_apart[~np.eye(4, dtype=bool)].all()
    assert not found.told_apart.diagonal().any()
    few = bradley_terry(given.where(given.topic < 6))
    assert all(one.ranks is not None and one.ranks[0] <= (one.rank or 0) <= one.ranks[1] for one in few.standings)


def test_resampled_topics_spread_as_the_standard_error_says() -> None:
    given = Battles(5, 1, 1).draw(np.random.default_rng(9), 60)
    fit = Fit.of(given, side=True)
    drawn = np.random.default_rng(1).multinomial(60, np.full(60, 1 / 60), 2_000)

    spread, error = by_topic(fit, drawn).std(axis=0), fit.error_of(fit.abilities_of)

    assert spread == pytest.approx(error, rel=0.1)
    assert by_topic(fit, np.ones((1, 60), dtype=np.int64))[0] == pytest.approx(
        fit.abilities_of(fit.parameters), abs=1e-4
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"outcome": np.array([2.0])}, "An outcome is 1"),
        ({"right": np.array([0])}, "cannot meet itself"),
        ({"right": np.array([9])}, "numbers from 0 to 1"),
        ({"topic": np.array([0, 1])}, "Each vote needs"),
    ],
)
def test_refuses_what_is_no_vote(change: dict[str, np.ndarray], message: str) -> None:
    arrays = {
        "left": np.array([0]),
        "right": np.array([1]),
        "outcome": np.array([1.0]),
        "topic": np.array([0]),
        "rater": np.array([0]),
        "sided": np.array([True]),
    }

    with pytest.raises(ValueError, match=message):
        Votes(("A", "B"), **(arrays | change))


def test_every_pair_of_the_simulation_meets_once_a_topic() -> None:
    given = Battles(5, 1, 1).draw(np.random.default_rng(2), 3)

    met = sorted((min(pair), max(pair)) for pair in zip(given.left.tolist(), given.right.tolist(), strict=True))

    assert met == sorted(3 * list(combinations(range(5), 2)))
