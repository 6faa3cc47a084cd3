"""How a grade is read: exactly, or not at all."""

from __future__ import annotations

import math

import pytest

from collection.models import Judgment
from judging.engines import GradeRequest, Reply
from judging.prompts.grade_parsing import read, read_reply

DIGITS = ("0", "1", "2", "3", "4", "5")
WORDS = ("disagree", "neutral", "agree")


@pytest.mark.parametrize(("text", "index"), [("3", 3), (" 3 \n", 3), ("\n\n5", 5), ("0\nBecause it says nothing.", 0)])
def test_reads_a_first_line_that_is_a_choice(text: str, index: int) -> None:
    assert read_reply(Reply(text=text, finish_reason="stop"), DIGITS) == (index, "", "")


@pytest.mark.parametrize(
    "text", ["", " ", "3.", "6", "-1", "3 or 4", "Grade: 3", "three", "3/5", "**3**", "Because\n3", "３", "0 1 2 3 4 5"]
)
def test_reads_nothing_into_any_other_reply(text: str) -> None:
    index, kind, reason = read_reply(Reply(text=text, finish_reason="stop"), DIGITS)

    assert (index, kind) == (None, Judgment.Ungraded.UNREADABLE)
    assert "first line" in reason


@pytest.mark.parametrize(("text", "index"), [("Agree", 2), ("NEUTRAL", 1), ("disagree\n", 0)])
def test_takes_words_in_capitals_or_not(text: str, index: int) -> None:
    assert read_reply(Reply(text=text, finish_reason="stop"), WORDS)[0] == index


def test_a_reply_that_was_cut_in_its_first_line_is_cut_off() -> None:
    assert read_reply(Reply(text="1", finish_reason="length"), DIGITS)[1] == Judgment.Ungraded.CUT_OFF
    assert read_reply(Reply(text="", finish_reason="length"), DIGITS)[1] == Judgment.Ungraded.CUT_OFF


def test_a_first_line_that_ended_is_read_though_the_rest_was_cut() -> None:
    assert read_reply(Reply(text="1\nThe report", finish_reason="length"), DIGITS)[0] == 1


def test_keeps_the_kind_that_the_engine_gave() -> None:
    refused = Reply(text="3", ungraded=Judgment.Ungraded.REFUSED, error="No.", finish_reason="stop")

    assert read_reply(refused, DIGITS) == (None, Judgment.Ungraded.REFUSED, "No.")


# The rules that a template may promise instead.


@pytest.mark.parametrize(("text", "index"), [("It says much.\n4", 4), ("4", 4), ("Grade: 2\n\n 3 ", 3), ("1\n2", 2)])
def test_reads_a_last_line_where_the_template_promised_that(text: str, index: int) -> None:
    assert read_reply(Reply(text=text, finish_reason="stop"), DIGITS, rule="last_line") == (index, "", "")


@pytest.mark.parametrize("text", ["4\nIt says much.", "Grade: 4", "It is a 4"])
def test_reads_nothing_into_another_last_line(text: str) -> None:
    assert read_reply(Reply(text=text, finish_reason="stop"), DIGITS, rule="last_line")[:2] == (
        None,
        Judgment.Ungraded.UNREADABLE,
    )


def test_a_reply_that_was_cut_has_no_last_line() -> None:
    reply = Reply(text="It says much.\n4", finish_reason="length")

    assert read_reply(reply, DIGITS, rule="last_line")[1] == Judgment.Ungraded.CUT_OFF


MARK = "##final score:"


@pytest.mark.parametrize(
    ("text", "index"),
    [("##final score: 2", 2), ("M: 3\n##Final Score:2\nThat is all.", 2), ("  ##final score:   5  \n", 5)],
)
def test_reads_the_one_line_that_begins_with_the_mark(text: str, index: int) -> None:
    assert read_reply(Reply(text=text, finish_reason="stop"), DIGITS, rule="marked_line", mark=MARK) == (index, "", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2", "No lines begin"),
        ("##final score: 2\n##final score: 3", "2 lines begin"),
        ("##final score: 2 of 3", "is not one of"),
        ("The ##final score: 2", "No lines begin"),
    ],
)
def test_reads_nothing_where_the_mark_is_missing_doubled_or_followed_by_something_else(text: str, said: str) -> None:
    index, kind, reason = read_reply(Reply(text=text, finish_reason="stop"), DIGITS, rule="marked_line", mark=MARK)

    assert (index, kind) == (None, Judgment.Ungraded.UNREADABLE)
    assert said in reason


@pytest.mark.parametrize("text", ["M: 3", "M: 3\n##final score: 2"])
def test_a_marked_line_that_did_not_end_is_cut_off(text: str) -> None:
    reply = Reply(text=text, finish_reason="length")

    assert read_reply(reply, DIGITS, rule="marked_line", mark=MARK)[1] == Judgment.Ungraded.CUT_OFF


def likely(**probabilities: float) -> Reply:
    """A reply whose text says nothing of what its log-probabilities say."""
    return Reply(
        text="?",
        finish_reason="stop",
        log_probabilities={name: math.log(share) for name, share in probabilities.items()},
    )


def yes_or_no(rule: str = "likeliest") -> GradeRequest:
    return GradeRequest(1, ("NO", "YES"), "q", "t", values=(0.0, 1.0), rule=rule)


def test_the_likeliest_reply_is_the_grade_whatever_was_sampled() -> None:
    reading = read(yes_or_no(), likely(YES=0.3, NO=0.1))

    assert (reading.grade, reading.ungraded) == (1.0, "")
    assert reading.expected_grade == pytest.approx(0.75)


@pytest.mark.parametrize("reply", [Reply(text="YES"), likely(YES=0.9), likely(YES=0.2, NO=0.2)])
def test_there_is_no_likeliest_reply_without_every_log_probability_or_between_equals(reply: Reply) -> None:
    reading = read(yes_or_no(), reply)

    assert (reading.grade, reading.ungraded) == (None, Judgment.Ungraded.UNREADABLE)


# What is kept of the probabilities.


def test_the_entropy_is_in_bits_and_of_grades_not_of_words() -> None:
    three = GradeRequest(1, ("no", "neutral", "yes"), "q", "t", values=(0.0, 0.0, 1.0))

    reading = read(three, Reply(text="yes", log_probabilities={"no": -1.5, "neutral": -1.5, "yes": -1.5 + math.log(2)}))

    assert reading.grade == 1
    assert reading.probabilities == pytest.approx({0.0: 0.5, 1.0: 0.5})
    assert reading.entropy == pytest.approx(1.0)
    assert reading.expected_grade == pytest.approx(0.5)


def test_a_sure_judge_has_no_entropy_even_where_the_others_are_impossible() -> None:
    reading = read(yes_or_no("first_line"), Reply(text="YES", log_probabilities={"YES": 0.0, "NO": -9999.0}))

    assert reading.entropy == 0
    assert reading.expected_grade == 1


def test_first_tokens_say_nothing_about_a_grade_that_comes_last() -> None:
    request = GradeRequest(1, ("0", "1"), "q", "t", values=(0.0, 1.0), rule="last_line", reply_tokens=50)

    reading = read(request, Reply(text="0 of it is said.\n1", log_probabilities={"0": -0.1, "1": -3.0}))

    assert (reading.grade, reading.expected_grade, reading.entropy) == (1.0, None, None)


def test_no_log_probabilities_are_no_expected_grade() -> None:
    reading = read(yes_or_no("first_line"), Reply(text="yes"))

    assert (reading.grade, reading.expected_grade, reading.entropy) == (1.0, None, None)
