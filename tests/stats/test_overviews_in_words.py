"""The sentence at the top of a page of many figures counts what is settled, and says what is not."""

from __future__ import annotations

import pytest

from stats.intervals import Estimate, Sample, undefined
from stats.judges.threshold_choice import Ceiling
from stats.measures.cited_reports import Counts
from stats.overviews_in_words import (
    EACH_ITS_OWN,
    assessors_differ,
    bank_of_questions,
    held_out,
    judges_beside_people,
    most_alike,
    passage_answers,
    people_by_criterion,
    people_disagree,
    planted_texts,
    report_supported,
    spot_checks_found,
)


def estimate(value: float, low: float, high: float, n_topics: int = 43) -> Estimate:
    return Estimate(value, low, high, sample=Sample(n_topics=n_topics))


def beside(difference: Estimate) -> Ceiling:
    return Ceiling(undefined(""), undefined(""), difference, "kappa", 100, 0)


MORE, ALIKE = beside(estimate(0.1, 0.02, 0.2)), beside(estimate(0.03, -0.04, 0.11, 7))
LESS, OPEN = beside(estimate(-0.1, -0.2, -0.01)), beside(estimate(0, -0.4, 0.4))
KAPPA = estimate(0.4, 0.3, 0.5)
FEW = beside(Estimate(0.1, reason="4 topics."))


@pytest.mark.parametrize(
    ("judges", "said"),
    [
        ([], "No judge can be compared with people yet."),
        ([LESS], "a agrees with people less than people do with one another (difference −0.10, −0.20 to −0.01, "),
        ([FEW], "Whether a agrees with people as they do with one another is not known: 4 topics."),
        (
            [MORE, ALIKE, LESS, LESS, OPEN],
            "Of 5 comparisons of a judge with people, beside how people agree with one another, the judge agrees with "
            "them more in 1, as well in 1 and less in 2 (1 not settled). Each rests on its own 95 % interval, without "
            "a correction for their number, over 7 to 43 topics.",
        ),
        (
            [OPEN, FEW],
            "In none of 2 comparisons of a judge with people is it settled whether the judge agrees with them as "
            "they do with one another (1 without an interval, for too few topics, people or items of another grade "
            "than the commonest).",
        ),
    ],
)
def test_says_of_how_many_judges_it_is_settled_how_they_agree(judges: list[Ceiling], said: str) -> None:
    assert judges_beside_people([("abcdefgh"[n], one, KAPPA) for n, one in enumerate(judges)]).startswith(said)


def test_beside_one_set_of_labels_it_is_counted_how_kappa_stands_to_chance() -> None:
    one = Ceiling(undefined(""), undefined(""), undefined("no item has two people’s grades"), "kappa", 0, 0)

    said = judges_beside_people([("a", one, KAPPA), ("b", one, KAPPA), ("c", one, estimate(0.1, -0.1, 0.3))])
    both = judges_beside_people([("a", one, KAPPA), ("b", LESS, KAPPA)])

    assert "chance in 2" in said
    assert "(1 not settled)" in said
    assert "less in 1" in both
    assert "chance in 1" in both


def test_nothing_is_said_of_intervals_where_there_is_none() -> None:
    assert judges_beside_people([("a", FEW, KAPPA), ("b", FEW, KAPPA)]).endswith(
        "(2 without an interval, for too few topics, people or items of another grade than the commonest)."
    )


def test_unfinished_judges_and_simulated_grades_are_told() -> None:
    some = judges_beside_people([("a", LESS, KAPPA), ("b", OPEN, KAPPA)], n_marked=1, n_simulated=2)
    every = judges_beside_people([("a", LESS, KAPPA)], n_simulated=1)
    none = judges_beside_people([], n_marked=2)

    assert "There is 1 more comparison of an unfinished or failing judge." in some
    assert some.endswith("2 of them rest on simulated grades, and say nothing about real ones.")
    assert every.endswith("These figures rest on simulated grades, and say nothing about real ones.")
    assert none.startswith("No finished judge can be compared with people yet. There are 2 more comparisons")


HIGH, MIDDLE, LOW = estimate(0.85, 0.81, 0.9), estimate(0.72, 0.68, 0.79), estimate(0.4, -0.1, 0.6)
WIDE = estimate(0.7, 0.5, 0.9)


@pytest.mark.parametrize(
    ("alphas", "said"),
    [
        ({}, "How far assessors agree cannot be told yet: no item has the grades of two."),
        (
            {"a": HIGH},
            "a: Assessors agree well enough for their labels to be relied on (α 0.85, 0.81 to 0.90, 43 topics).",
        ),
        (
            {"a": HIGH, "b": MIDDLE, "c": LOW, "d": WIDE, "e": Estimate(0.9, reason="4 topics.")},
            "Assessors agree well enough for firm conclusions under a; well enough for tentative conclusions under b; "
            "too little under c. Whether they agree well enough is not settled under d. There is no interval under e. "
            f"α is lowest under c (α 0.40, −0.10 to 0.60, 43 topics). {EACH_ITS_OWN}.",
        ),
        (
            {"a": WIDE, "b": estimate(0.71, 0.5, 0.9)},
            "Whether assessors agree well enough is not settled under a and b. α is lowest under a "
            f"(α 0.70, 0.50 to 0.90, 43 topics). {EACH_ITS_OWN}.",
        ),
    ],
)
def test_says_under_which_criteria_people_can_be_relied_on(alphas: dict[str, Estimate], said: str) -> None:
    assert people_by_criterion(alphas) == said


def test_simulated_people_are_told_criterion_by_criterion() -> None:
    assert people_by_criterion({"a": HIGH, "b": LOW}, n_simulated=1).endswith(
        "1 of them rests on simulated grades, and says nothing about real ones."
    )


@pytest.mark.parametrize(
    ("citations", "nuggets", "said"),
    [
        (Counts(0, 0), Counts(0, 0), "The report cites nothing."),
        (Counts(0, 0, 3), Counts(0, 0, 2), "people has judged none of the report’s 3 citations."),
        (
            Counts(3, 4),
            Counts(2, 5),
            "By people, 3 of all 4 citations support their sentence in full (this report alone). "
            "It answers 2 of 5 nuggets.",
        ),
        (
            Counts(3, 4, 2),
            Counts(2, 5, 1),
            "By people, 3 of 4 judged citations support their sentence in full (this report alone): 2 more are not "
            "judged, so of 6 at least 3 and at most 5 do. It answers 2 of 5 judged nuggets, so of 6 at least 2 and "
            "at most 3.",
        ),
    ],
)
def test_says_what_one_source_finds_of_a_report(citations: Counts, nuggets: Counts, said: str) -> None:
    assert report_supported("people", citations, nuggets) == said


@pytest.mark.parametrize(
    ("n_test", "readings", "said"),
    [
        (8, [], "8 of 25 topics are held out; no judge has graded anything yet."),
        (8, [0, 0], "8 of 25 topics are held out; none of 2 judges has been tested on them yet."),
        (8, [0, 1], "8 of 25 topics are held out; 1 of 2 judges has been tested on them, once."),
        (8, [3, 1], "8 of 25 topics are held out; 2 of 2 judges have been tested on them, 4 times in all."),
        (
            1,
            [0],
            "1 of 25 topics is held out; no judge has been tested on them yet. "
            "They are too few for an interval, which takes 5 topics.",
        ),
    ],
)
def test_says_how_many_topics_are_held_out_and_how_often_they_were_used(
    n_test: int, readings: list[int], said: str
) -> None:
    assert held_out(n_test, 25, readings) == said


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ({}, "Whether a can be talked round cannot be told: no text is graded twice."),
        ({"an order": undefined("Nothing is below η.")}, "Whether a can be talked round cannot be told: Nothing is"),
        ({"an order": estimate(0, 0, 0.1)}, "Nothing that was planted lifted a grade of a (share 0.00, 0.00 to 0.10, "),
        (
            {"an order": estimate(0.3, 0.2, 0.4)},
            "What lifts most grades of a is “an order” (share 0.30, 0.20 to 0.40, ",
        ),
        (
            {"an order": estimate(0.3, 0.2, 0.4), "words": estimate(0.1, 0, 0.2)},
            "What lifts most grades of a is “an order” (share 0.30, 0.20 to 0.40, 43 topics), the highest of 2 shares, "
            "which is biased upwards.",
        ),
    ],
)
def test_says_what_lifts_a_judges_grades_most(rates: dict[str, Estimate], said: str) -> None:
    assert planted_texts("a", rates).startswith(said)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((0, 0, 0), "Whether people disagree cannot be told yet: no question has the grades of two."),
        ((120, 0, 0), "People agree about yes and no in all 120 questions that two or more have judged."),
        (
            (120, 12, 9),
            "Of 120 questions that two or more people judged, 12 have a yes and a no (10 %); 3 are decided.",
        ),
        (
            (120, 12, 11),
            "Of 120 questions that two or more people judged, 12 have a yes and a no (10 %); 1 is decided.",
        ),
    ],
)
def test_says_how_often_people_disagree(counts: tuple[int, int, int], said: str) -> None:
    assert people_disagree(*counts) == said


def test_says_between_which_assessors_agreement_lies() -> None:
    said = "1 of 3 assessors has flags. Agreement with others is from 0.61 (ben, 34 pairs of grades) to 0.90 (ada, "

    assert assessors_differ({}, 0, 0) == ""
    assert (
        assessors_differ({"ada": (0.9, 4)}, 0, 2)
        == "0 of 2 assessors have flags; nobody can be compared with others yet."
    )
    assert assessors_differ({"ada": (0.9, 40), "ben": (0.61, 34)}, 1, 3).startswith(said)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((0, 0, 0), ""),
        ((0, 0, 3), "None of 3 drawn tasks has been checked yet."),
        ((1, 0, 0), "0 of 1 checked task is flawed."),
        ((9, 1, 0), "1 of 10 checked tasks is flawed."),
        ((8, 2, 5), "2 of 10 checked tasks are flawed; 5 more are not checked, so of 15 at least 2 and at most 7."),
    ],
)
def test_says_how_many_drawn_tasks_are_flawed(counts: tuple[int, int, int], said: str) -> None:
    assert spot_checks_found(*counts) == said


@pytest.mark.parametrize(
    ("shares", "n_marked", "said"),
    [
        ({}, 0, "No finished judge can be compared with people yet."),
        (
            {},
            2,
            "No finished judge can be compared with people yet. There are 2 more judges that are unfinished or "
            "failing.",
        ),
        ({"a": HIGH}, 0, "a is the only finished judge compared with people’s majority (share 0.85, 0.81 to 0.90, "),
        (
            {"a": HIGH, "b": MIDDLE},
            1,
            "Of 2 judges, a says most often what people’s majority says (share 0.85, 0.81 to 0.90, 43 topics); the "
            "highest of several shares is biased upwards. There is 1 more judge that is unfinished or failing.",
        ),
    ],
)
def test_says_which_judge_is_most_like_people(shares: dict[str, Estimate], n_marked: int, said: str) -> None:
    assert most_alike(shares, commonest=0.5, n_marked=n_marked).startswith(said)


def test_no_judge_is_called_most_like_people_where_one_grade_alone_would_be_as_like() -> None:
    shares = {"a": HIGH, "b": MIDDLE}

    said = [most_alike(shares, commonest=commonest) for commonest in (0.8, 0.81, 0.98)]

    assert ["a says most often" in one for one in said] == [True, False, False]
    assert "98 %" in said[2]


def test_many_raters_of_a_passage_are_said_by_their_range_and_those_without_grades_are_left_out() -> None:
    raters = [("a", 4, 10), ("b", 9, 10), ("c", 0, 0), ("d", 5, 9), ("e", 6, 10)]

    assert passage_answers(4, raters) == (
        "At grade 4 or more, this passage answers between 4 and 9 questions, by 4 raters."
    )
    assert passage_answers(4, [("c", 0, 0)]) == "Nobody has graded this passage yet."


def test_a_bank_without_passages_called_not_relevant_or_fully_graded_says_so() -> None:
    missed = undefined("there are no such passages")

    assert bank_of_questions("judge", 4, 0, 0, 0, missed) == (
        "By judge, no question was graded on passages that people called not relevant; "
        "no passage that people called relevant has all its grades."
    )
