"""The words of a text, as retrieval counts them: in lower case, and stemmed where a language is named.

A word is a run of letters, digits and the marks on them. Scripts without spaces (Han, Hiragana, Katakana) give each
pair of neighbouring characters instead, as Lucene's analysis of Chinese, Japanese and Korean does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

UNSTEMMED = "none"
# Those of nltk's Snowball stemmers.
LANGUAGES = (
    "arabic", "danish", "dutch", "english", "finnish", "french", "german", "hungarian", "italian", "norwegian",
    "portuguese", "romanian", "russian", "spanish", "swedish",
)  # fmt: skip

_UNSPACED = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_MARKS = "".join(chr(code) for code in range(0x300, 0x3000) if unicodedata.category(chr(code)) in {"Mn", "Mc"})
_WORD = re.compile(rf"[{_UNSPACED}]+|(?:[^\W{_UNSPACED}]|[{_MARKS}])+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")


def words_in(text: str) -> list[str]:
    """Return the words in their order, in lower case and in Unicode's compatible form (NFKC)."""
    plain = text.lower()
    found = _WORD.findall(plain if plain.isascii() else unicodedata.normalize("NFKC", plain))
    if plain.isascii() or not _IS_UNSPACED.search(plain):
        return found
    return [part for word in found for part in _pairs(word)]


def _pairs(word: str) -> list[str]:
    if len(word) == 1 or not _IS_UNSPACED.match(word):
        return [word]
    return [word[at : at + 2] for at in range(len(word) - 1)]


def stemmer_of(language: str) -> Callable[[str], str]:
    """Return what makes a word its stem in this language, one of LANGUAGES; UNSTEMMED leaves words as they are."""
    if language == UNSTEMMED:
        return str
    from nltk.stem.snowball import SnowballStemmer  # it takes a second and 150 MB: only where it is used

    stem: Callable[[str], str] = SnowballStemmer(language).stem
    return stem


def stop_words(language: str) -> frozenset[str]:
    """Return the words of this language that say too little to be looked for; none for a language without a list."""
    from bm25s import stopwords

    return frozenset(getattr(stopwords, f"STOPWORDS_{'EN' if language == 'english' else language.upper()}", ()))
