from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.agreement.highlights import SpanOutsideText, highlight_alpha, marked, mean_pairwise, span_f1, span_jaccard
from stats.ratings import BoolArray

TEXT = "The old bridge was closed in May."


def flags(bits: str) -> BoolArray:
    return np.array([bit == "1" for bit in bits], dtype=bool)


marks = st.integers(0, 12).flatmap(lambda n: st.tuples(*[st.text("01", min_size=n, max_size=n).map(flags)] * 2))


def test_a_word_is_marked_if_any_of_its_characters_is() -> None:
    found = marked(TEXT, [(6, 14)])

    assert found.tolist() == [False, True, True, False, False, False, False]


def test_characters_leave_white_space_out_and_overlaps_count_once() -> None:
    found = marked("ab cd", [(0, 4), (1, 4)], level="character")

    assert found.tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("text", "span", "expected"),
    [
        ("😀 é́x y", (4, 5), [True, False]),
        ("שלום עולם", (5, 9), [False, True]),
        ("東京都", (1, 2), [False, True, False]),
        ("a\r\nb", (3, 4), [False, True]),
    ],
)
def test_spans_count_code_points_in_any_script(text: str, span: tuple[int, int], expected: list[bool]) -> None:
    assert marked(text, [span]).tolist() == expected


@pytest.mark.parametrize("span", [(-1, 2), (2, 2), (3, 2), (0, 34)])
def test_a_span_outside_its_text_is_refused(span: tuple[int, int]) -> None:
    with pytest.raises(SpanOutsideText, match="33 characters"):
        marked(TEXT, [span])


def test_f1_and_jaccard_of_a_case_worked_by_hand() -> None:
    first, second = marked(TEXT, [(0, 14)]), marked(TEXT, [(8, 25)])

    # Three words and three words, of which one is the same.
    assert span_f1(first, second).value == pytest.approx(2 / 6)
    assert span_jaccard(first, second).value == pytest.approx(1 / 5)


def test_nobody_marking_anything_is_no_agreement_and_no_disagreement() -> None:
    nothing, something = flags("000"), flags("010")

    assert span_f1(nothing, nothing).value is None
    assert span_f1(nothing, nothing).reason == "Neither highlighted anything."
    assert span_f1(nothing, something).value == 0.0
    assert span_jaccard(nothing, something).value == 0.0


@settings(deadline=None)
@given(marks)
def test_overlaps_are_symmetric_and_f1_follows_from_jaccard(both: tuple[BoolArray, BoolArray]) -> None:
    first, second = both

    f1, jaccard = span_f1(first, second), span_jaccard(first, second)

    assert (f1, jaccard) == (span_f1(second, first), span_jaccard(second, first))
    if f1.value is not None and jaccard.value is not None:
        assert f1.value == pytest.approx(2 * jaccard.value / (1 + jaccard.value))
        assert span_f1(first, first).value in {1.0, None}


def test_the_mean_over_pairs_leaves_out_pairs_without_marks() -> None:
    mean, pairs = mean_pairwise({"ada": flags("110"), "ben": flags("100"), "cleo": flags("000")})
    unmarked, _ = mean_pairwise({"ada": flags("00"), "ben": flags("00")}, measure="jaccard")
    only, _ = mean_pairwise({"ada": flags("110")})

    assert {pair: score.value for pair, score in pairs.items()} == {
        ("ada", "ben"): pytest.approx(2 / 3),
        ("ada", "cleo"): 0.0,
        ("ben", "cleo"): 0.0,
    }
    assert mean.value == pytest.approx(2 / 9)
    assert unmarked.reason == "Neither highlighted anything."
    assert only.reason == "There is only one assessor."


def test_alpha_of_krippendorffs_binary_example() -> None:
    # Computing Krippendorff's Alpha-Reliability (2011), example A: ten binary units, α = .095.
    texts = [{"ada": flags("0100000010"), "ben": flags("1110010000")}]

    assert highlight_alpha(texts).value == pytest.approx(0.095, abs=0.0005)


def test_alpha_takes_all_texts_together_and_only_people_who_were_asked() -> None:
    texts = [
        {"ada": flags("1100"), "ben": flags("1100")},
        {"ada": flags("0011"), "cleo": flags("0011")},
        {"cleo": flags("1111")},
        {},
    ]

    assert highlight_alpha(texts).value == pytest.approx(1)


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        ([], "No token was read by two assessors."),
        ([{"ada": flags("101")}], "No token was read by two assessors."),
        ([{"ada": flags("00"), "ben": flags("00")}], "Nothing is highlighted."),
        ([{"ada": flags("11"), "ben": flags("11")}], "Everything is highlighted by all."),
    ],
)
def test_alpha_is_undefined_where_there_is_nothing_to_vary(texts: list[dict[str, BoolArray]], reason: str) -> None:
    found = highlight_alpha(texts)

    assert (found.value, found.reason) == (None, reason)


def test_marks_of_one_text_have_one_length() -> None:
    with pytest.raises(ValueError, match=r"\[2, 3\]"):
        highlight_alpha([{"ada": flags("00"), "ben": flags("000")}])


@settings(deadline=None)
@given(st.text(max_size=40), st.data())
def test_marking_a_whole_text_marks_every_word(text: str, data: st.DataObject) -> None:
    cuts = sorted({0, len(text), *data.draw(st.lists(st.integers(0, len(text)), max_size=3))})

    assert marked(text, pairwise(cuts)).all()
