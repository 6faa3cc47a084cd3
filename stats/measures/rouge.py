"""ROUGE-L and ROUGE-1 between two texts, fast enough for the pairs of a large study.

The value is rouge-score's F1 of the longest common subsequence of words (Lin, ROUGE: A package for automatic evaluation
of summaries, 2004); its length is found with one addition a word on long integers, after Hyyrö, Bit-parallel LCS-length
computation revisited (2004). Symmetric; in 0–1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from stats.measures.words import UnicodeRougeTokenizer


@lru_cache(maxsize=4_096)
def rouge_tokens(text: str, *, stem: bool) -> tuple[str, ...]:
    """Return the words that ROUGE compares, of any script."""
    return tuple(_tokenizer(stem).tokenize(text))


@dataclass(frozen=True)
class RougeL:
    """ROUGE-L of one text with another: the shares of their words that they have in common in order, and F1."""

    precision: float
    recall: float
    f1: float


def rouge_l_of(text: Sequence[str], source: Sequence[str]) -> RougeL | None:
    """Return which share of the text stands in the source (precision) and of the source in the text (recall).

    None where one of them has no word: a share of nothing is undefined.
    """
    if not text or not source:
        return None
    common = longest_common_subsequence(source, text)
    return RougeL(common / len(text), common / len(source), 2 * common / (len(text) + len(source)))


def rouge_l(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the F1 of two texts' words; 0 where one has none."""
    found = rouge_l_of(second, first)
    return found.f1 if found else 0.0


@dataclass(frozen=True)
class Rouge1:
    """ROUGE-1 of an answer with one reference: the share of the reference's words that it has, and F1."""

    recall: float
    f1: float


def rouge_1(reference: Sequence[str], answer: Sequence[str]) -> Rouge1:
    """Compare the words, each as often as it occurs; 0 where one text has none."""
    common = (Counter(reference) & Counter(answer)).total()
    if not common:
        return Rouge1(0.0, 0.0)
    return Rouge1(common / len(reference), 2 * common / (len(reference) + len(answer)))


def longest_common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how many words the two have in common in the same order."""
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    everywhere = (1 << len(first)) - 1
    open_places = everywhere
    for word in second:
        met = open_places & places.get(word, 0)
        open_places = ((open_places + met) | (open_places - met)) & everywhere
    return len(first) - open_places.bit_count()


@cache
def _tokenizer(stem: bool) -> UnicodeRougeTokenizer:
    return UnicodeRougeTokenizer(stem=stem)
