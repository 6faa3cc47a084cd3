"""BM25 of every passage for each of a few queries, by bm25s; knows no database.

    score  = Σ weight(field) · Σ idf(w) · tf / (tf + k₁ · (1 − b + b · length / mean length))   over the query's words
    idf(w) = ln(1 + (N − n(w) + ½) / (n(w) + ½))

Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with the idf of Lucene; a word that the query says
twice counts twice. A long text is divided into windows, each of which is scored as a text of its own; the best counts.

All queries are known before the first passage is read, so only their words are indexed. All others count in lengths
alone: scores are the same, and a passage takes a few bytes rather than kilobytes.
"""

from __future__ import annotations

import logging
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from collection.texts.words import stemmer_of, stop_words, words_in

if TYPE_CHECKING:
    from bm25s import BM25

# Words that are remembered with their numbers: a text's words are mostly among those of the texts before it.
REMEMBERED = 500_000
Scores = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Weighting:
    """How words become a score: BM25's two constants, what each field counts, the language of stems and stop words."""

    k1: float = 0.9
    b: float = 0.4
    title_weight: float = 1.0
    text_weight: float = 1.0
    language: str = "english"


@dataclass(frozen=True)
class Windows:
    """How a long text is divided: windows of `words`, a new one every `stride`. 0 words: not at all."""

    words: int = 0
    stride: int = 0

    def of(self, n_words: int) -> Iterator[slice]:
        """Yield the windows of a text of so many words; the last one ends where the text ends."""
        if not self.words or n_words <= self.words:
            yield slice(0, n_words)
            return
        stride = self.stride or self.words
        for start in range(0, n_words, stride):
            yield slice(start, min(start + self.words, n_words))
            if start + self.words >= n_words:
                return


class Bm25Index:
    """The passages that were added, in their order, for these queries alone."""

    def __init__(self, queries: Sequence[str], weighting: Weighting, windows: Windows) -> None:
        self.weighting, self.windows = weighting, windows
        stem, left_out = stemmer_of(weighting.language), stop_words(weighting.language)
        self._queries = [[stem(word) for word in words_in(query) if word not in left_out] for query in queries]
        wanted = dict.fromkeys(word for query in self._queries for word in query)
        self._ids = {word: number for number, word in enumerate(wanted, start=1)}
        self._number_of = _Numbers(self._ids, stem, left_out)
        self._titles, self._texts = _Counted(), _Counted()
        self._first_windows = array("q")
        self.n_windows = 0
        self._fields: list[tuple[float, BM25, bool]] = []

    def __len__(self) -> int:
        return len(self._first_windows)

    def add(self, title: str, text: str) -> None:
        """Add one passage."""
        words = self._numbered(text)
        self._first_windows.append(len(self._texts))
        for window in self.windows.of(len(words)):
            self._texts.add(words[window])
        self.n_windows = len(self._texts)
        self._titles.add(self._numbered(title) if title else [])

    def _numbered(self, text: str) -> list[int]:
        return [number for number in map(self._number_of.__getitem__, words_in(text)) if number >= 0]

    def close(self, advance: Callable[[int], object] = lambda _: None) -> None:
        """Compute the scores of words: no passage is added any more."""
        weights = (self.weighting.title_weight, self.weighting.text_weight)
        for weight, field, by_window in zip(weights, (self._titles, self._texts), (False, True), strict=True):
            if weight and field.n_words:
                self._fields.append((weight, self._computed(field, advance), by_window))
        self._titles, self._texts = _Counted(), _Counted()

    def _computed(self, field: _Counted, advance: Callable[[int], object]) -> BM25:
        import bm25s  # web servers do without it
        from bm25s.tokenization import Tokenized

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it tells whatever it does
        computed = bm25s.BM25(k1=self.weighting.k1, b=self.weighting.b, method="lucene")
        field.advance = advance
        computed.index(Tokenized(ids=field, vocab={"": 0, **self._ids}), create_empty_token=False, show_progress=False)
        return computed

    def scores(self, query: int) -> Scores:
        """Return the score of every passage, in the order of their addition, for the query of this number."""
        words = self._queries[query]
        scores = np.zeros(len(self), dtype=np.float32)
        if words:
            for weight, field, by_window in self._fields:
                of_field = field.get_scores(words)
                best = np.maximum.reduceat(of_field, self._first_windows) if by_window else of_field
                scores += np.float32(weight) * best
        return scores


class _Numbers(dict[str, int]):
    """The number of each word's stem: 0 for one that no query has, -1 for a stop word. Those looked up are kept."""

    def __init__(self, ids: Mapping[str, int], stem: Callable[[str], str], left_out: frozenset[str]) -> None:
        super().__init__()
        self._ids, self._stem, self._left_out = ids, stem, left_out

    def __missing__(self, word: str) -> int:
        if len(self) >= REMEMBERED:
            self.clear()
        number = -1 if word in self._left_out else self._ids.get(self._stem(word), 0)
        self[word] = number
        return number


class _Counted(Sequence[list[int]]):
    """The words of many texts as bm25s takes them: the numbers of those that are asked for, 0 for every other.

    Zeros are counted, not kept.
    """

    def __init__(self) -> None:
        self._ids = array("i")
        self._ends = array("q")
        self._others = array("i")
        self.n_words = 0
        self.advance: Callable[[int], object] = lambda _: None

    def add(self, numbers: Sequence[int]) -> None:
        asked = [number for number in numbers if number]
        self._ids.extend(asked)
        self._ends.append(len(self._ids))
        self._others.append(len(numbers) - len(asked))
        self.n_words += len(numbers)

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, at: int) -> list[int]:  # type: ignore[override]  # nobody slices it
        if not 0 <= at < len(self):
            raise IndexError(at)
        start = self._ends[at - 1] if at else 0
        return self._ids[start : self._ends[at]].tolist() + [0] * self._others[at]

    def __iter__(self) -> Iterator[list[int]]:
        for at in range(len(self)):
            if at % 1000 == 0:
                self.advance(0)
            yield self[at]


def first(scores: Scores, depth: int, *, above: float = 0.0) -> npt.NDArray[np.intp]:
    """Return the places of the `depth` best scores above it, best first; among equal ones the later place is first."""
    if len(scores) > depth:
        least = np.partition(scores, len(scores) - depth)[len(scores) - depth]
        places = np.flatnonzero((scores >= least) & (scores > above))
    else:
        places = np.flatnonzero(scores > above)
    ordered = places[np.lexsort((-places, -scores[places]))]
    return ordered[:depth]
