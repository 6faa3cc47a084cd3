"""How a grade is read: exactly, or not at all."""

from __future__ import annotations

import math

import pytest

from collection.models import Judgment
from judging.engines import Reply
from judging.replies import choice_log_probabilities, expected_grade, read_reply

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


def test_sums_the_tokens_that_begin_one_choice_alone() -> None:
    found = choice_log_probabilities(
        ("yes", "no"),
        [(" Yes", math.log(0.5)), ("Y", math.log(0.1)), ("No", math.log(0.3)), ("Maybe", math.log(0.1))],
    )

    assert found is not None
    assert math.exp(found["yes"]) == pytest.approx(0.6)
    assert math.exp(found["no"]) == pytest.approx(0.3)


def test_makes_up_no_probability_for_a_choice_without_a_token() -> None:
    assert choice_log_probabilities(DIGITS, [("3", -0.1), ("4", -2.0)]) is None
    assert choice_log_probabilities(("1", "10"), [("1", -0.1)]) is None
    assert choice_log_probabilities(DIGITS, []) is None


def test_the_expected_grade_scales_the_choices_to_one() -> None:
    log_probabilities = {"0": math.log(0.1), "1": math.log(0.3)}

    assert expected_grade(log_probabilities, ("0", "1"), (0, 1)) == pytest.approx(0.75)
