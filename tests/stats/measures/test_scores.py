from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.tokenizers import DefaultTokenizer

from stats.measures.scores import Score, length_bins, mean_by_attribute, mean_over_topics
from stats.measures.words import WHITESPACE, WORDS, UnicodeRougeTokenizer, word_spans, words


def test_a_mean_over_topics_leaves_out_and_names_what_is_undefined() -> None:
    found = mean_over_topics({"t1": Score(0.2, ungraded=1), "t2": Score(None, "No nugget."), "t3": Score(0.6)})

    assert found.value == pytest.approx(0.4)
    assert found.standard_error == pytest.approx(math.sqrt(0.08) / math.sqrt(2))
    assert (found.n, found.undefined, found.ungraded) == (2, {"t2": "No nugget."}, 1)


def test_one_topic_has_a_mean_and_no_standard_error() -> None:
    found = mean_over_topics({"t1": Score(0.2)})

    assert (found.value, found.standard_error) == (0.2, None)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [({}, "There is no topic."), ({"t": Score(None, "x")}, "The measure is undefined for every topic.")],
)
def test_without_any_value_the_mean_is_none_and_says_why(scores: dict[str, Score], reason: str) -> None:
    found = mean_over_topics(scores)

    assert (found.value, found.n, found.reason) == (None, 0, reason)


def test_means_by_attribute_keep_topics_that_lack_it() -> None:
    found = mean_by_attribute(
        {"t1": Score(0.0), "t2": Score(1.0), "t3": Score(0.5)}, {"t1": "law", "t2": "law", "t4": "art"}
    )

    assert {value: (mean.value, mean.n) for value, mean in found.items()} == {"": (0.5, 1), "law": (0.5, 2)}


def test_length_bins_take_the_edge_upwards_and_sort_as_text() -> None:
    bins = length_bins({"t1": 999, "t2": 1000, "t3": 5000}, [1000, 2000])

    assert bins == {"t1": "1: under 1000", "t2": "2: 1000 to under 2000", "t3": "3: 2000 and more"}
    assert length_bins({"t": 3}, []) == {"t": "1: any"}
    with pytest.raises(ValueError, match="rise strictly"):
        length_bins({"t": 3}, [2, 1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Café—au lait!", ["café", "au", "lait"]),
        ("Москва́ и Ру́сь", ["москва́", "и", "ру́сь"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("東京は2024年", ["東", "京", "は", "2024", "年"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("ภาษา", ["ภ", "า", "ษ", "า"]),
        ("snake_case a.b", ["snake", "case", "a", "b"]),
        ("ＦＵＬＬ straße", ["full", "strasse"]),
        ("😀 👍🏽", []),
        ("", []),
    ],
)
def test_words_of_many_scripts(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_places_of_words_count_code_points() -> None:
    assert word_spans("a 😀 é́x") == [(0, 1), (4, 7)]


@settings(deadline=None)
@given(st.text())
def test_places_of_words_rise_and_lie_in_the_text(text: str) -> None:
    spans = word_spans(text)

    places = [place for span in spans for place in span]
    assert all(start < end for start, end in spans)
    assert places == sorted(places)
    assert not places or places[-1] <= len(text)


@settings(deadline=None)
@given(st.text(alphabet=st.characters(max_codepoint=127)), st.booleans())
def test_on_ascii_the_tokens_are_those_of_rouge_score(text: str, stem: bool) -> None:
    ours = UnicodeRougeTokenizer(stem=stem).tokenize(text)

    assert ours == DefaultTokenizer(use_stemmer=stem).tokenize(text)


def test_tokenizers_count_over_all_texts() -> None:
    assert WORDS.count(["one-two", "three"]) == 3
    assert WHITESPACE.count(["one-two", "three"]) == 2
    assert WORDS.count([]) == 0
