"""From tokens to choices: several tokens of one choice, one choice that begins another, raw values among many."""

from __future__ import annotations

import math
from typing import Any

import pytest

from judging.engines.log_probabilities import Position, choice_log_probabilities, positions_of

DIGITS = ("0", "1", "2")
MASKED = -9999.0


def position(token: str, **likeliest: float) -> Position:
    """A token with the probabilities of what could have stood in its place."""
    return Position(token, tuple((other, math.log(value)) for other, value in likeliest.items()))


def probabilities(choices: tuple[str, ...], *positions: Position) -> dict[str, Any]:
    found = choice_log_probabilities(choices, positions)
    assert found is not None
    return {choice: pytest.approx(math.exp(value)) for choice, value in found.items()}


def test_gives_each_choice_its_token() -> None:
    found = probabilities(DIGITS, Position("1", (("0", math.log(0.2)), ("1", math.log(0.7)), ("2", math.log(0.1)))))

    assert found == {"0": 0.2, "1": 0.7, "2": 0.1}


def test_leaves_out_what_the_constraint_forbids() -> None:
    allowed = [("0", math.log(0.25)), ("1", math.log(0.25)), ("2", math.log(0.5))]

    found = probabilities(DIGITS, Position("2", (*allowed, ("!", MASKED), ("\n", MASKED), ("<|im_end|>", MASKED))))

    assert found == {"0": 0.25, "1": 0.25, "2": 0.5}


def test_picks_raw_values_out_of_many_tokens_and_does_not_scale_them() -> None:
    others = [("The", math.log(0.6)), ("", math.log(0.1)), (" ", math.log(0.05))]
    digits = [("0", math.log(0.02)), (" 1", math.log(0.03)), ("1", math.log(0.1)), ("2", math.log(0.01))]

    found = probabilities(DIGITS, Position("1", (*others, *digits)))

    assert found == {"0": 0.02, "1": 0.13, "2": 0.01}


def test_one_token_that_leaves_one_choice_speaks_for_all_of_it() -> None:
    found = probabilities(("YES", "NO"), position("Y", Y=0.5, YES=0.1, N=0.3, NO=0.1), position("ES", ES=0.4, EAH=0.6))

    assert found == {"YES": 0.6, "NO": 0.4}


def test_sums_over_the_tokens_where_choices_begin_alike() -> None:
    found = probabilities(
        ("partly", "partial", "no"),
        position("part", part=0.8, no=0.2),
        position("ly", ly=0.75, ial=0.25),
    )

    assert found == {"partly": 0.6, "partial": 0.2, "no": 0.2}


def test_a_choice_that_begins_another_ends_where_nothing_goes_on() -> None:
    end = Position("<|im_end|>", (("<|im_end|>", math.log(0.9)), ("0", math.log(0.1))))

    found = probabilities(("1", "10", "2"), Position("1", (("1", math.log(0.5)), ("2", math.log(0.5)))), end)

    assert found == {"1": 0.45, "10": 0.05, "2": 0.5}


def test_says_nothing_where_the_way_that_was_not_taken_stays_open() -> None:
    beside = Position("10", (("10", math.log(0.6)), ("1", math.log(0.4))))

    assert choice_log_probabilities(("1", "10"), [beside]) is None


def test_a_reply_that_says_nothing_about_its_end_leaves_it_open() -> None:
    assert choice_log_probabilities(("1", "10"), [position("1", **{"1": 1.0})]) is None


def test_makes_up_no_probability_for_a_choice_without_a_token() -> None:
    assert choice_log_probabilities(DIGITS, [position("1", **{"1": 0.9, "2": 0.1})]) is None
    assert choice_log_probabilities(DIGITS, []) is None


def test_blanks_keep_their_place_inside_a_choice_and_none_before_it() -> None:
    choices = ("no key point", "no", "yes")

    found = probabilities(
        choices,
        Position(" ", ((" ", 0.0),)),
        Position("no", (("no", math.log(0.8)), ("yes", math.log(0.2)))),
        Position(" ", ((" ", math.log(0.5)), ("", math.log(0.5)))),
        Position("key", (("key", 0.0),)),
    )

    assert found == {"no key point": 0.4, "no": 0.4, "yes": 0.2}


def test_reads_both_shapes_alike() -> None:
    chat = {"logprobs": {"content": [{"token": "1", "logprob": -0.5, "top_logprobs": [{"token": "2", "logprob": -1}]}]}}
    legacy = {"logprobs": {"tokens": ["1"], "token_logprobs": [-0.5], "top_logprobs": [{"2": -1}]}}

    assert positions_of(chat) == positions_of(legacy) == [Position("1", (("2", -1.0), ("1", -0.5)))]


@pytest.mark.parametrize(
    "brought",
    [
        None,
        [],
        {},
        {"content": None},
        {"content": [{}]},
        {"content": [{"token": "1", "logprob": "much", "top_logprobs": []}]},
        {"content": ["1"]},
        {"tokens": ["1"], "top_logprobs": [None]},
        {"tokens": [], "token_logprobs": [], "top_logprobs": [{"1": 0}]},
    ],
)
def test_reads_nothing_into_another_shape(brought: object) -> None:
    assert positions_of({"logprobs": brought}) == []


# --- Under a JSON schema ---------------------------------------------------------------------------


QUOTE = position('"', **{'"': 1.0})


def test_a_quoted_reply_of_three_tokens_is_read_behind_its_quote() -> None:
    found = choice_log_probabilities(
        DIGITS, [QUOTE, position("2", **{"0": 0.1, "1": 0.2, "2": 0.7}), QUOTE], quoted=True
    )

    assert found is not None
    assert {choice: round(math.exp(value), 3) for choice, value in found.items()} == {"0": 0.1, "1": 0.2, "2": 0.7}


def test_a_quote_may_be_a_part_of_the_grades_token() -> None:
    first = position('"2', **{'"2': 0.5, '"': 0.3, '"1': 0.1, '"0': 0.1})

    assert choice_log_probabilities(DIGITS, [first, QUOTE], quoted=True) is None  # .3 went on nobody knows how


def test_the_closing_quote_tells_1_from_10() -> None:
    found = choice_log_probabilities(
        ("1", "10", "2"), [QUOTE, position("1", **{"1": 0.8, "2": 0.2}), position('"', **{'"': 0.75, "0": 0.25})],
        quoted=True,
    )  # fmt: skip

    assert found is not None
    assert {choice: round(math.exp(value), 3) for choice, value in found.items()} == {"1": 0.6, "10": 0.2, "2": 0.2}


def test_a_server_that_leaves_the_quotes_out_is_read_as_it_replied() -> None:
    found = choice_log_probabilities(DIGITS, [position("2", **{"0": 0.1, "1": 0.2, "2": 0.7})], quoted=True)

    assert found is not None
    assert math.exp(found["2"]) == pytest.approx(0.7)


def test_a_grade_within_an_object_is_read_behind_what_all_replies_share() -> None:
    replies = tuple(f'{{"grade": {grade}}}' for grade in range(3))
    shared = [Position(token, ((token, 0.0),)) for token in ('{"', "grade", '":', " ")]
    grade = position("1", **{"0": 0.25, "1": 0.5, "2": 0.25})

    found = choice_log_probabilities(replies, [*shared, grade, Position("}", (("}", 0.0),))])

    assert found is not None
    assert {choice: round(math.exp(value), 3) for choice, value in found.items()} == dict(
        zip(replies, (0.25, 0.5, 0.25), strict=True)
    )
