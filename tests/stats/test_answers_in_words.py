"""The sentence at the top of a page of numbers says what its interval allows, and no more."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from stats.answers_in_words import agreement_of_people, first_system, judge_beside_people, listed
from stats.intervals import Estimate, Sample, undefined
from stats.judges.threshold_choice import Ceiling
from stats.ranking.leaderboard import compare_pairs, leaderboard

TOPICS = Sample(n_topics=43)


def alpha(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, low, high, sample=TOPICS)


@pytest.mark.parametrize(
    ("estimate", "said"),
    [
        (alpha(0.85, 0.81, 0.9), "Assessors agree well enough for their labels to be relied on"),
        (alpha(0.72, 0.68, 0.79), "Assessors agree well enough for tentative conclusions"),
        (alpha(0.4, -0.1, 0.6), "Assessors agree too little for firm conclusions from single labels"),
        (
            alpha(0.7, 0.6, 0.79),
            "Whether assessors agree too little or well enough for tentative conclusions is not settled",
        ),
        (alpha(0.7, 0.5, 0.9), "Whether assessors agree too little or well enough to be relied on is not settled"),
        (
            alpha(0.79, 0.7, 0.85),
            "Whether assessors agree well enough for tentative conclusions or well enough to be relied on "
            "is not settled",
        ),
        (Estimate(0.7, reason="Below 5 topics."), "How far assessors agree is uncertain"),
        (undefined("All grades are equal."), "How far assessors agree cannot be told: All grades are equal."),
    ],
)
def test_says_how_far_labels_can_be_relied_on(estimate: Estimate, said: str) -> None:
    assert agreement_of_people(estimate).partition(" (")[0] == said


def test_shows_the_figures_with_what_they_rest_on() -> None:
    assert agreement_of_people(alpha(0.85, 0.81, 0.9)).endswith(" (α 0.85, 0.81 to 0.90, 43 topics).")
    assert agreement_of_people(Estimate(0.7, reason="4 topics.")).endswith(" (α 0.70; no interval: 4 topics).")
    beside = judge_beside_people("llm-a", ceiling(alpha(0.03, -0.04, 0.11)))
    assert beside.endswith(" (difference +0.03, −0.04 to 0.11, 43 topics).")


def ceiling(difference: Estimate) -> Ceiling:
    return Ceiling(undefined(""), undefined(""), difference, "kappa", 100, 0)


@pytest.mark.parametrize(
    ("estimate", "said"),
    [
        (alpha(0.03, -0.04, 0.11), "llm-a agrees with people as well as people do with one another"),
        (alpha(0.1, 0.02, 0.2), "llm-a agrees with people more than people do with one another"),
        (alpha(-0.1, -0.2, -0.01), "llm-a agrees with people less than people do with one another"),
        (
            alpha(0.0, -0.4, 0.4),
            "Whether llm-a agrees with people as well as people do with one another is not settled",
        ),
        (
            Estimate(0.1, reason="4 topics."),
            "Whether llm-a agrees with people as they do with one another is uncertain",
        ),
        (
            undefined("No item has two people."),
            "llm-a cannot be compared with how people agree with one another: No item has two people.",
        ),
    ],
)
def test_says_whether_a_judge_agrees_as_people_do(estimate: Estimate, said: str) -> None:
    assert judge_beside_people("llm-a", ceiling(estimate)).partition(" (")[0] == said


def board(scores: dict[str, list[float]]) -> Any:
    table = pd.DataFrame(scores, index=[f"t{n}" for n in range(len(next(iter(scores.values()))))]).T
    return leaderboard(table), compare_pairs(table)


FLAT = [0.1, 0.2, 0.15, 0.12, 0.18, 0.11, 0.19, 0.2]
HIGH = [0.8, 0.9, 0.85, 0.82, 0.88, 0.81, 0.89, 0.86]
NEAR = [0.9, 0.8, 0.82, 0.85, 0.81, 0.88, 0.86, 0.88]


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ({"a": HIGH, "b": FLAT}, ", better than every other system."),
        ({"a": HIGH, "b": NEAR, "c": FLAT}, ", but cannot be told from "),
        ({"a": HIGH, "b": NEAR}, ", but cannot be told from any other system."),
        ({"a": HIGH, "b": HIGH, "c": FLAT}, "By people, a and b share the first rank."),
        ({"a": HIGH}, "people: fewer than two systems can be ranked."),
    ],
)
def test_says_which_system_is_first(scores: dict[str, list[float]], said: str) -> None:
    standings, pairs = board(scores)

    assert said in first_system("people", standings, pairs)


def test_names_what_the_first_cannot_be_told_from() -> None:
    standings, pairs = board({"a": HIGH, "b": NEAR, "c": FLAT})
    second = standings[1].system

    assert first_system("people", standings, pairs).endswith(f", but cannot be told from {second}.")


@pytest.mark.parametrize(
    ("names", "said"),
    [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c"), (list("abcdef"), "a, b, c and 3 others")],
)
def test_lists_names(names: list[str], said: str) -> None:
    assert listed(names) == said
