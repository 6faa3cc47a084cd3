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
from stats.intervals import SIGNED, Estimate, Sample, interval, undefined
from stats.judges.threshold_choice import Ceiling
from stats.ranking.filled_scores import FilledScores, SystemChange
from stats.ranking.leaderboard import compare_pairs, leaderboard
from stats.ranking.order_verdict import OrderVerdict

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
        (Estimate(0.7, reason="Below 5 topics."), "How far assessors agree is not known: Below 5 topics."),
        (undefined("All grades are equal."), "How far assessors agree is not known: All grades are equal."),
    ],
)
def test_says_how_far_labels_can_be_relied_on(estimate: Estimate, said: str) -> None:
    assert agreement_of_people(estimate).partition(" (")[0] == said


def test_shows_the_figures_with_what_they_rest_on() -> None:
    assert agreement_of_people(alpha(0.85, 0.81, 0.9)).endswith(" (α 0.85, 0.81 to 0.90, 43 topics).")
    assert "0.7" not in agreement_of_people(Estimate(0.7, reason="4 topics."))
    beside = judge_beside_people("llm-a", ceiling(alpha(0.03, -0.04, 0.11)), alpha(0.4, 0.3, 0.5))
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
            "Whether llm-a agrees with people as they do with one another is not known: 4 topics.",
        ),
        (
            undefined("No item has two people."),
            "Whether llm-a agrees with people as they do with one another is not known: No item has two people.",
        ),
    ],
)
def test_says_whether_a_judge_agrees_as_people_do(estimate: Estimate, said: str) -> None:
    assert judge_beside_people("llm-a", ceiling(estimate), alpha(0.4, 0.3, 0.5)).partition(" (")[0] == said


@pytest.mark.parametrize(
    ("kappa", "said"),
    [
        (alpha(0.4, 0.3, 0.5), "llm-a agrees with the one set of human labels more than by chance"),
        (alpha(-0.2, -0.3, -0.1), "llm-a agrees with the one set of human labels less than by chance"),
        (
            alpha(0.1, -0.1, 0.3),
            "Whether llm-a agrees with the one set of human labels more than by chance is not settled",
        ),
        (undefined("4 topics."), "How far llm-a agrees with the one set of human labels is not known: 4 topics."),
    ],
)
def test_beside_one_set_of_labels_nothing_is_said_of_a_ceiling(kappa: Estimate, said: str) -> None:
    none = Ceiling(undefined(""), undefined(""), undefined("no item has two people’s grades"), "kappa", 0, 0)

    assert judge_beside_people("llm-a", none, kappa).partition(" (")[0] == said


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


def measured(value: float, error: float) -> Estimate:
    return interval(value, error, TOPICS, within=SIGNED)


def test_groups_that_are_furthest_apart_are_named_with_their_number() -> None:
    groups = {"art": measured(0.9, 0.03), "law": measured(0.5, 0.05), "sea": measured(0.7, 0.08)}

    apart = furthest_groups("domain", groups)
    alike = furthest_groups("domain", groups | {"art": measured(0.72, 0.08)})

    assert apart.startswith("By domain, assessors agree least for law (α 0.50, ")
    assert apart.endswith("of the 3 groups with an interval these are furthest apart. They differ by more than chance.")
    assert alike.endswith("It may be chance.")
    assert furthest_groups("domain", {"art": groups["art"], "law": Estimate(0.5)}) == ""


def test_groups_that_differ_when_there_are_two_may_be_chance_among_many() -> None:
    two = {"a": measured(0.5, 0.06), "b": measured(0.75, 0.06)}
    between = {f"c{n}": measured(0.6, 0.06) for n in range(18)}

    assert furthest_groups("domain", two).endswith("more than chance.")
    assert furthest_groups("domain", two | between).endswith("may be chance.")


def test_the_least_alike_orders_have_no_interval_and_say_so() -> None:
    pairs = {("nDCG", "P"): Estimate(0.9), ("nDCG", "RR"): Estimate(0.2), ("P", "RR"): undefined("few")}

    assert furthest_orders("Kendall’s τ_b", pairs, 43) == (
        "nDCG and RR put the systems in the least alike order (Kendall’s τ_b 0.20, over 43 topics, "
        "without an interval); the lowest of 2 figures is biased downwards."
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
            {"verify": measured(0.2, 0.05), "after": measured(0.02, 0.05)},
            "Seeing owl’s grade moves labels towards it under verify (shift +0.20, 0.08 to 0.31, 43 topics). "
            "Under after it is not settled. The intervals hold for all 2 arms at once.",
        ),
        (
            {"verify": measured(-0.3, 0.05), "after": measured(0.2, 0.05)},
            "Seeing owl’s grade moves labels towards it under after (shift +0.20, 0.08 to 0.31, 43 topics) and away "
            "from it under verify (shift −0.30, −0.41 to −0.18, 43 topics). "
            "The intervals hold for all 2 arms at once.",
        ),
        (
            {"verify": measured(0.05, 0.07)},
            "Whether seeing owl’s grade moves labels is not settled under verify "
            "(shift +0.05, −0.09 to 0.19, 43 topics).",
        ),
        ({"verify": undefined("few")}, "Whether seeing owl’s grade moves labels cannot be told yet."),
    ],
)
def test_says_whether_suggestions_move_labels(shifts: dict[str, Estimate], said: str) -> None:
    assert pull_of_suggestions("owl", shifts) == said


def test_what_one_arm_alone_would_settle_is_open_among_three() -> None:
    alone = {"verify": measured(0.11, 0.05)}
    three = alone | {"after": measured(0, 0.05), "post-edit": measured(0, 0.05)}

    assert pull_of_suggestions("owl", alone).startswith("Seeing")
    assert pull_of_suggestions("owl", three).startswith("Whether")


def a_filling(places: list[int | None], measure: str = "nDCG@10", *, withheld: str = "") -> FilledScores:
    """Systems that move so many places; those of None have no rank before."""
    tau = alpha(0.8, 0.6, 0.9)
    systems = tuple(
        SystemChange(
            f"s{n}", 43, None if moved is None else n + 1, n + 1, None, 0, 1, 0.5, 0, 1, None, None, moved, "", ""
        )
        for n, moved in enumerate(places)
    )
    return FilledScores(measure, 10, 43, systems, 0, 0, 0, tau, tau, withheld)


def test_filling_holes_keeps_or_moves_systems() -> None:
    assert filled_order("owl", a_filling([1, -1, 2, 0, 0]), n_filled=9) == (
        "With holes filled by owl, nDCG@10 moves 3 of 5 systems to another rank (τ 0.80, 0.60 to 0.90, 43 topics)."
    )
    assert "moves 1 of 2 systems that can" in (filled_order("owl", a_filling([1, 0, None]), n_filled=9))
    assert "keeps all 2 systems in their order" in filled_order("owl", a_filling([0, 0]), n_filled=9)
    assert filled_order("owl", a_filling([0]), n_filled=0) == "owl fills no hole, so nothing changes."
    few = filled_order("owl", a_filling([None, None, 0], withheld="half is unjudged"), n_filled=9)
    assert "half is unjudged" in few
    assert few.endswith("3 of 3.")


def test_says_how_alike_two_answers_are() -> None:
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
    rare = Estimate(0.7, reason="too few")
    unknown = [
        best_judge("a", kappa, undefined("few"), 2, None, n_all=2),
        best_judge("a", rare, rare, 1, None, n_all=1),
    ]
    assert [said.partition(" is not known: ")[2] for said in unknown] == ["few.", "too few."]
    assert "of a" not in unknown[0]
    assert "2 of them are compared" in best_judge("a", kappa, kappa, 2, [], n_all=33)


# Of 10 pairs, how many people separate, how many of these the other has alike, at least, and how many both separate
# in opposite ways.
SAME, OTHER, OPEN = OrderVerdict(10, 8, 8, 8, 0), OrderVerdict(10, 8, 5, 4, 2), OrderVerdict(10, 3, 3, 3, 0)
TAU = alpha(0.5, 0.3, 0.79)


@pytest.mark.parametrize(
    ("kendall", "verdict", "said"),
    [
        (TAU, SAME, "a keeps people’s order of systems (τ_b 0.50"),
        (TAU, OTHER, "a puts the systems in another order than people"),
        (TAU, OPEN, "Whether a keeps people’s order of systems is not settled"),
        (TAU, None, "Whether a keeps people’s order of systems is uncertain"),
        (undefined("Two systems."), None, "Whether a keeps people’s order of systems cannot be told: two systems."),
    ],
)
def test_says_whether_a_judge_keeps_the_order_of_systems(
    kendall: Estimate, verdict: OrderVerdict | None, said: str
) -> None:
    assert order_of_judge("a", kendall, verdict).startswith(said)


def test_says_how_many_citations_support_their_sentence_and_how_many_could() -> None:
    everything = "By people, 3 of all 4 citations support their sentence in full (2 topics)."

    assert citations_supported("people", 3, 4, 0, over="2 topics") == everything
    some = citations_supported("a", 3, 4, 2, over="1 topic")
    assert some.endswith("2 more are not judged, so of 6 at least 3 and at most 5 do.")
    assert citations_supported("a", 0, 0, 2, over="1 topic") == ""


@pytest.mark.parametrize(
    ("verdict", "n", "said"),
    [
        (SAME, 1, "a orders the runs as b does"),
        (OTHER, 1, "a orders the runs unlike b"),
        (OPEN, 3, "Whether a orders the runs as b does is not settled"),
    ],
)
def test_says_whether_two_evaluations_order_the_runs_alike(verdict: OrderVerdict, n: int, said: str) -> None:
    found = order_of_evaluation("a", "b", TAU, verdict, n=n)

    assert found.startswith(f"{said} (τ_b 0.50")
    assert ("the least alike" in found) == (n > 1)


def test_a_range_of_resampled_values_is_called_resampled() -> None:
    kendall = Estimate(0.96, 0.91, 1.0, sample=TOPICS, resampled=True)

    assert "(τ_b 0.96, 0.91 to 1.00, resampled, 43 topics)" in order_of_judge("a", kendall, OPEN)


def test_says_how_many_judges_put_the_same_system_first() -> None:
    assert same_first(["x"], 2, 3, does=True) == "It puts x first, as people do; 2 of 3 judges do."
    assert same_first(["x", "y"], 1, 3, does=False) == "People put x and y first, and it does not; 1 of 3 judges does."
    assert same_first(["x"], 1, 1, does=True) == "It puts x first, as people do."
