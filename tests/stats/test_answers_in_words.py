"""The sentence at the top of a page of numbers says what its interval allows, and no more."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from stats.answers_in_words import (
    agreement_of_people,
    best_judge,
    citations_supported,
    corrected_score,
    elements_unfulfilled,
    filled_order,
    first_system,
    furthest_groups,
    furthest_orders,
    judge_beside_people,
    labels_cover,
    likeness,
    listed,
    order_by_coverage,
    order_of_evaluation,
    order_of_judge,
    passages_needed,
    pull_of_suggestions,
    same_first,
)
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
        ({"a": HIGH}, "By people, fewer than two systems can be ranked."),
    ],
)
def test_says_which_system_is_first(scores: dict[str, list[float]], said: str) -> None:
    standings, pairs = board(scores)

    assert said in first_system("people", standings, pairs)


def test_says_why_systems_cannot_be_ranked() -> None:
    said = first_system("people", *board({"a": HIGH}), withheld="half is unjudged")

    assert said == "By people, fewer than two systems can be ranked, since half is unjudged."


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


def share(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, low, high, sample=TOPICS)


@pytest.mark.parametrize(
    ("alone", "corrected", "said"),
    [
        (0.7, share(0.5, 0.4, 0.6), "owl alone scores too high, 0.70 (corrected 0.50, 0.40 to 0.60, 43 topics)."),
        (0.3, share(0.5, 0.4, 0.6), "owl alone scores too low, 0.30 (corrected 0.50, 0.40 to 0.60, 43 topics)."),
        (
            0.6,
            share(0.5, 0.4, 0.6),
            "Whether owl’s score of 0.60 is too high or too low is not settled "
            "(corrected 0.50, 0.40 to 0.60, 43 topics).",
        ),
        (
            0.6,
            Estimate(0.5, reason="4 topics."),
            "Whether owl’s score of 0.60 is right is uncertain (corrected 0.50; no interval: 4 topics).",
        ),
        (0.6, undefined("no labels"), "Whether owl scores too high or too low cannot be told: no labels."),
    ],
)
def test_says_whether_a_judge_scores_too_high(alone: float, corrected: Estimate, said: str) -> None:
    assert corrected_score("owl", Estimate(alone), corrected) == said


@pytest.mark.parametrize(
    ("kendall", "said"),
    [
        (alpha(0.6, 0.4, 0.8), "By coverage, owl orders the reports more as people do than by chance"),
        (alpha(-0.6, -0.8, -0.4), "By coverage, owl orders the reports against people"),
        (alpha(0.2, -0.1, 0.5), "Whether owl orders the reports as people do, rather than by chance, is not settled"),
        (Estimate(0.2, reason="few"), "Whether owl orders the reports as people do is uncertain"),
        (undefined("few"), "Whether owl orders the reports as people do cannot be told: few."),
    ],
)
def test_says_whether_a_judge_orders_texts_as_people_do(kendall: Estimate, said: str) -> None:
    assert order_by_coverage("owl", "report", kendall).partition(" (")[0] == said


def test_groups_that_are_furthest_apart_are_named_with_their_number() -> None:
    groups = {"art": share(0.9, 0.8, 0.95), "law": share(0.5, 0.4, 0.6), "sea": share(0.7, 0.5, 0.85)}

    apart = furthest_groups("domain", groups)
    alike = furthest_groups("domain", groups | {"art": share(0.72, 0.55, 0.9)})

    assert apart.startswith("By domain, assessors agree least for law (agreement 0.50, ")
    assert apart.endswith("of the 3 groups with an interval these are furthest apart. The intervals do not overlap.")
    assert alike.endswith("The intervals overlap, so it may be chance.")
    assert furthest_groups("domain", {"art": groups["art"], "law": Estimate(0.5)}) == ""


def test_the_least_alike_orders_have_no_interval_and_say_so() -> None:
    pairs = {("nDCG", "P"): Estimate(0.9), ("nDCG", "RR"): Estimate(0.2), ("P", "RR"): undefined("few")}

    assert furthest_orders("Kendall’s τ_b", pairs, 43) == (
        "nDCG and RR put the systems in the least alike order (Kendall’s τ_b 0.20, over 43 topics, "
        "without an interval)."
    )
    assert furthest_orders("τ", {("P", "RR"): undefined("few.")}, 43) == (
        "No two orders of the systems can be compared: few."
    )
    assert furthest_orders("τ", {}, 43) == ""


def test_labels_cover_a_share_of_the_runs_and_least_of_one() -> None:
    assert labels_cover(10, {"a": 1.0, "b": 0.5, "c": None}, 43) == (
        "75% of the runs’ top 10 is labelled on average (43 topics), least of b, 50%; the rest counts as not relevant."
    )
    assert labels_cover(10, {"a": 1.0}, 1) == "All of every run’s top 10 is labelled (1 topic)."
    assert labels_cover(10, {"a": None}, 0) == ""


def test_counts_are_said_with_what_is_unknown() -> None:
    assert passages_needed("people", {"required": 2, "fully redundant": 3, "unjudged": 4}, 6) == (
        "By people, 2 of 5 passages are required (6 topics); 4 more have no ratings."
    )
    assert passages_needed("people", {"required": 0, "unjudged": 4}, 6) == ""
    assert elements_unfulfilled("people", 2, 0, 9) == "By people, no passage fulfils 2 of 9 elements."
    assert elements_unfulfilled("people", 0, 0, 9) == "By people, some passage fulfils each of 9 elements."
    assert "at least 2 and at most 5 of 9 elements" in elements_unfulfilled("people", 2, 3, 9)


@pytest.mark.parametrize(
    ("shifts", "said"),
    [
        (
            {"verify": alpha(0.2, 0.1, 0.3), "after": alpha(0.02, -0.1, 0.1)},
            "Seeing owl’s grade moves labels towards it, most under verify (shift +0.20, 0.10 to 0.30, 43 topics). "
            "Under after it is not settled.",
        ),
        (
            {"verify": alpha(0.05, -0.1, 0.2)},
            "Whether seeing owl’s grade moves labels is not settled "
            "(shift under verify +0.05, −0.10 to 0.20, 43 topics).",
        ),
        ({"verify": undefined("few")}, "Whether seeing owl’s grade moves labels cannot be told yet."),
    ],
)
def test_says_whether_suggestions_move_labels(shifts: dict[str, Estimate], said: str) -> None:
    assert pull_of_suggestions("owl", shifts) == said


def test_filling_holes_keeps_or_moves_systems() -> None:
    tau = alpha(0.8, 0.6, 0.9)

    assert filled_order("owl", "nDCG@10", 3, 8, tau, n_filled=9) == (
        "With holes filled by owl, nDCG@10 moves 3 of 8 systems to another rank (τ 0.80, 0.60 to 0.90, 43 topics)."
    )
    assert "keeps all 8 systems in their order" in filled_order("owl", "nDCG@10", 0, 8, tau, n_filled=9)
    assert filled_order("owl", "P@5", 0, 8, tau, n_filled=0) == "owl fills no hole, so nothing changes."
    assert likeness("Two answers", "ROUGE-L", undefined("none")) == ""
    assert likeness("Two answers", "ROUGE-L", share(0.6, 0.5, 0.7)) == (
        "Two answers are alike to a degree of 0.60 of 1 (ROUGE-L 0.60, 0.50 to 0.70, 43 topics)."
    )


@pytest.mark.parametrize(
    ("alike", "said"),
    [
        (None, "."),
        ([], ", more than every other."),
        (["b", "c"], ", but cannot be told from any other."),
        (["b"], ", but cannot be told from b."),
    ],
)
def test_says_which_judge_agrees_most_and_whom_it_cannot_be_told_from(alike: list[str] | None, said: str) -> None:
    kappa, corrected = alpha(0.7, 0.6, 0.8), alpha(0.66, 0.55, 0.78)

    found = best_judge("a", kappa, corrected, 3, alike, n_all=3)

    assert (
        found
        == f"Of 3 judges a agrees most with people (κ corrected for the choice 0.66, 0.55 to 0.78, 43 topics){said}"
    )
    assert best_judge("a", kappa, undefined("one judge"), 1, None, n_all=1).startswith(
        "a is the only judge compared with people (κ 0.70"
    )
    assert "(κ 0.70, 0.60" in best_judge("a", kappa, undefined("too few"), 2, None, n_all=2)
    assert best_judge("a", kappa, kappa, 2, [], n_all=33).startswith("Of 2 of 33 judges a agrees most")


@pytest.mark.parametrize(
    ("kendall", "said"),
    [
        (alpha(0.96, 0.91, 1.0), "a keeps people’s order of systems (τ_b 0.96"),
        (alpha(0.5, 0.3, 0.79), "a puts the systems in another order than people"),
        (alpha(0.9, 0.7, 1.0), "Whether a keeps people’s order of systems is not settled"),
        (Estimate(0.9, reason="4 topics."), "Whether a keeps people’s order of systems is uncertain"),
        (undefined("Two systems."), "Whether a keeps people’s order of systems cannot be told: two systems."),
    ],
)
def test_says_whether_a_judge_keeps_the_order_of_systems(kendall: Estimate, said: str) -> None:
    assert order_of_judge("a", kendall).startswith(said)


def test_says_how_many_citations_support_their_sentence_and_how_many_could() -> None:
    everything = "By people, 3 of all 4 citations support their sentence in full (2 topics)."

    assert citations_supported("people", 3, 4, 0, over="2 topics") == everything
    some = citations_supported("a", 3, 4, 2, over="1 topic")
    assert some.endswith("2 more are not judged, so of 6 at least 3 and at most 5 do.")
    assert citations_supported("a", 0, 0, 2, over="1 topic") == ""


@pytest.mark.parametrize(
    ("kendall", "n", "said"),
    [
        (alpha(0.96, 0.91, 1.0), 1, "a orders the runs as b does (τ_b 0.96, 0.91 to 1.00, 43 topics)."),
        (alpha(0.5, 0.3, 0.79), 1, "a orders the runs unlike b (τ_b 0.50, 0.30 to 0.79, 43 topics)."),
        (
            alpha(0.9, 0.7, 1.0),
            3,
            "Whether a orders the runs as b does is not settled (τ_b 0.90, 0.70 to 1.00, 43 topics). "
            "Of 3 comparisons these two are the least alike.",
        ),
        (undefined("Two runs."), 1, "Whether a orders the runs as b does cannot be told: two runs."),
    ],
)
def test_says_whether_two_evaluations_order_the_runs_alike(kendall: Estimate, n: int, said: str) -> None:
    assert order_of_evaluation("a", "b", kendall, n=n) == said


def test_a_range_of_resampled_values_is_called_resampled() -> None:
    kendall = Estimate(0.96, 0.91, 1.0, sample=TOPICS, resampled=True)

    assert order_of_judge("a", kendall).endswith("(τ_b 0.96, 0.91 to 1.00, resampled, 43 topics).")


def test_says_how_many_judges_put_the_same_system_first() -> None:
    assert same_first(["x"], 2, 3, does=True) == "It puts x first, as people do; 2 of 3 judges do."
    assert same_first(["x", "y"], 1, 3, does=False) == "People put x and y first, and it does not; 1 of 3 judges does."
    assert same_first(["x"], 1, 1, does=True) == "It puts x first, as people do."
