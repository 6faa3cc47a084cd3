"""What counts as a word, in scripts with and without spaces."""

from __future__ import annotations

import pytest

from collection.texts.words import LANGUAGES, stemmer_of, stop_words, words_in


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The BM25 baseline (k1=0.9)", ["the", "bm25", "baseline", "k1", "0", "9"]),
        ("हिन्दी में खोज", ["हिन्दी", "में", "खोज"]),
        ("情報検索 BM25", ["情報", "報検", "検索", "bm25"]),
        ("東 cafe\u0301", ["東", "café"]),
        ("한국어 검색", ["한국어", "검색"]),
        ("", []),
    ],
)
def test_words_of_a_text(text: str, words: list[str]) -> None:
    assert words_in(text) == words


def test_every_language_has_a_stemmer() -> None:
    stemmed = {language: stemmer_of(language)("retrievals") for language in LANGUAGES}

    assert stemmed["english"] == "retriev"
    assert stemmer_of("none")("retrievals") == "retrievals"
    assert "the" in stop_words("english")
    assert "und" in stop_words("german")
    assert not stop_words("none")
