"""Words of a text in any script, with their places."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rouge_score.tokenizers import DefaultTokenizer

Span = tuple[int, int]

# Written without spaces between words: each character is a word of its own.
UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x312F),  # CJK radicals, kana, bopomofo
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)


@dataclass(frozen=True)
class Tokenizer:
    """How tokens are counted, with the name that is recorded beside every figure that rests on it."""

    name: str
    meaning: str
    split: Callable[[str], Sequence[str]]
    spans: Callable[[str], Sequence[Span]]

    def count(self, texts: Iterable[str]) -> int:
        """Return the number of tokens in all texts together."""
        return sum(len(self.split(text)) for text in texts)

    def cut(self, text: str, most: int) -> str:
        """Return the text as far as its first `most` tokens go (at least 1), all of it where it has no more."""
        found = self.spans(text)
        return text if len(found) <= most else text[: found[most - 1][1]]


def word_spans(text: str) -> list[Span]:
    """Return the words' places in code points, end-exclusive.

    A word is a run of letters, digits and the marks on them (Unicode categories L, N, M). In scripts without spaces
    each letter with its marks is one: there is no dictionary here.
    """
    return list(_word_spans(text))


def _word_spans(text: str) -> Iterator[Span]:
    start: int | None = None
    for place, character in enumerate(text):
        kind = unicodedata.category(character)[0]
        if start is not None and _begins_anew(text[start], character, kind):
            yield start, place
            start = None
        if start is None and kind in "LNM":
            start = place
    if start is not None:
        yield start, len(text)


def _begins_anew(first: str, character: str, kind: str) -> bool:
    """Return whether a word that began with `first` ends before this character."""
    return kind not in "LNM" or (kind != "M" and (_unspaced(first) or _unspaced(character)))


def _unspaced(character: str) -> bool:
    code = ord(character)
    return code >= UNSPACED[0][0] and any(low <= code <= high for low, high in UNSPACED)


def words(text: str) -> list[str]:
    """Return the words, compatibility-normalised (NFKC) and case-folded."""
    return [unicodedata.normalize("NFKC", text[start:end]).casefold() for start, end in word_spans(text)]


def _whitespace_spans(text: str) -> list[Span]:
    """Return the places of what `str.split` gives."""
    places, at = [], 0
    for token in text.split():
        start = text.index(token, at)
        at = start + len(token)
        places.append((start, at))
    return places


WORDS = Tokenizer("words", "runs of Unicode letters, digits and marks", words, word_spans)
WHITESPACE = Tokenizer("whitespace", "text between white space", str.split, _whitespace_spans)
TOKENIZERS = {tokenizer.name: tokenizer for tokenizer in (WORDS, WHITESPACE)}


class UnicodeRougeTokenizer:
    """For rouge-score, whose own tokenizer drops every letter outside a–z.

    On ASCII text it gives the same tokens. `stem` strips English endings from ASCII words of more than three letters,
    as rouge-score does.
    """

    def __init__(self, *, stem: bool) -> None:
        self._stem = stem

    def tokenize(self, text: str) -> list[str]:
        if not self._stem:
            return words(text)
        return [token for word in words(text) for token in (_stemmed(word) if word.isascii() else (word,))]


@cache
def _english() -> DefaultTokenizer:
    from rouge_score.tokenizers import DefaultTokenizer  # imported late: it brings NLTK, which brings scikit-learn

    return DefaultTokenizer(use_stemmer=True)


@lru_cache(maxsize=100_000)
def _stemmed(word: str) -> tuple[str, ...]:
    return tuple(_english().tokenize(word))
