"""A bank of questions held against people's relevance: three passages by two questions, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from stats.measures.grades import GradeTable
from stats.measures.question_banks import (
    CheckedQuestion,
    check_questions,
    duplicates,
    relevant_passages,
    share_answered,
    share_uncovered,
)

NONE = np.nan
# Passages a to f by questions q and r.
TABLE = GradeTable(
    ("a", "b", "c", "d", "e", "f"),
    ("q", "r"),
    np.array([[5, 0], [4, 0], [0, 4], [3, 2], [1, NONE], [NONE, NONE]]),
)
RELEVANT = {"t": {"a": False, "b": False, "c": True, "d": True, "e": True, "f": True, "g": True}}


def test_a_question_is_bad_where_most_passages_called_not_relevant_answer_it() -> None:
    q, r = check_questions({"t": TABLE}, RELEVANT)

    assert q == CheckedQuestion("t", "q", n_not_relevant=2, n_wrongly=2, n_relevant=3, n_rightly=0)
    assert r == CheckedQuestion("t", "r", n_not_relevant=2, n_wrongly=0, n_relevant=2, n_rightly=1)
    assert (q.mostly, r.mostly) == (True, False)
    assert q.share.value == 1
    assert "too few for an interval" in q.share.reason


def test_half_of_the_passages_is_not_most_of_them() -> None:
    assert not check_questions({"t": TABLE}, RELEVANT, minimum=5)[0].mostly


def test_a_passage_without_a_label_counts_nowhere() -> None:
    found = check_questions({"t": TABLE}, {"t": {"a": False}})

    assert [(one.n_not_relevant, one.n_relevant) for one in found] == [(1, 0), (1, 0)]


def test_a_relevant_passage_is_uncovered_only_where_no_missing_grade_could_cover_it() -> None:
    found = {one.passage: one for one in relevant_passages({"t": TABLE}, RELEVANT)}

    assert {name: one.state for name, one in found.items()} == {
        "c": "covered",
        "d": "uncovered",
        "e": "unknown",
        "f": "ungraded",
        "g": "ungraded",
    }
    assert (found["d"].best, found["d"].question) == (3, "q")
    assert found["e"].n_missing == 1


def test_shares_leave_out_what_is_not_known() -> None:
    questions = check_questions({"t": TABLE}, RELEVANT)

    assert share_answered(questions, relevant=False).value == 2 / 4
    assert share_answered(questions, relevant=True).value == 1 / 5
    assert share_uncovered(relevant_passages({"t": TABLE}, RELEVANT)).value == 1 / 2
    assert share_uncovered([]).reason == "there are no such passages"


def test_shares_have_intervals_over_topics() -> None:
    topics = [f"t{number}" for number in range(20)]
    tables = dict.fromkeys(topics[:10], TABLE) | dict.fromkeys(
        topics[10:], GradeTable(("a", "d"), ("q", "r"), np.array([[0, 0], [4, 0]]))
    )
    relevance = dict.fromkeys(topics, RELEVANT["t"])

    found = share_answered(check_questions(tables, relevance), relevant=False)

    assert found.value == 20 / 60
    assert found.low is not None
    assert found.high is not None
    assert found.low < 1 / 3 < found.high
    assert found.sample is not None
    assert found.sample.n_topics == 20


def test_duplicates_are_what_rouge_score_says_within_a_topic() -> None:
    first = "What are the common symptoms of vicarious trauma in nurses?"
    second = "What are the common symptoms of vicarious traumas in nurses"
    third = "How can organizations support individuals?"

    found = duplicates({"t": [("1", first), ("2", second), ("3", third)], "u": [("4", first)]})

    assert [(one.first, one.second) for one in found] == [("1", "2")]
    by_package = RougeScorer(["rougeL"], use_stemmer=True).score(first, second)["rougeL"].fmeasure
    assert found[0].likeness == pytest.approx(by_package)


def test_nothing_as_alike_as_the_bound_is_a_duplicate_and_no_text_is_like_none() -> None:
    listed = {"t": [("1", "one two"), ("2", "one two"), ("3", ""), ("4", "")]}

    assert duplicates(listed, likeness=1.0) == []
    assert len(duplicates(listed, likeness=0.99)) == 1
