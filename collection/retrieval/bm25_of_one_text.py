"""BM25 of a text for a query, as a share of the most that any text could have.

    score = Σ idf(w) · tf(w) / (tf(w) + k₁ · (1 − b + b · words / mean words)) / Σ idf(w)      over the query's words w
    idf(w) = ln(1 + (N − n(w) + ½) / (n(w) + ½))

Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with the idf of Lucene, which is never negative.
The statistics (N texts, n(w) of them with the word, the mean of their words) are those of the study's pool; divided by
the sum of the idf it lies in [0, 1), so that one cut-point holds for short and long requests. A library scores a
query against all texts of an index; here one text at a time is scored, which may be in no index.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

# Of Anserini's baselines of MS MARCO's passages.
K1, B = 0.9, 0.4


@dataclass(frozen=True)
class PoolStatistics:
    """What BM25 knows of a pool: how many texts, their mean number of words, and in how many of them a word stands."""

    texts: int
    mean_words: float
    texts_with: Mapping[str, int]


def statistics_of(
    texts: Iterable[str], queries: Iterable[str], *, words_in: Callable[[str], Sequence[str]]
) -> PoolStatistics:
    """Count the texts, their words and, of the words of these queries, in how many texts each stands."""
    asked = {word for query in queries for word in words_in(query)}
    count = total = 0
    texts_with: Counter[str] = Counter()
    for text in texts:
        words = words_in(text)
        count += 1
        total += len(words)
        texts_with.update(asked.intersection(words))
    return PoolStatistics(count, total / count if count else 0.0, dict(texts_with))


def bm25_share(query: Sequence[str], text: Sequence[str], pool: PoolStatistics) -> float:
    """Return the BM25 of a text, given as words, as a share of the most that any could have; 0 without query words."""
    wanted = sorted(set(query))  # in one order, so that sums are equal in every process
    if not wanted:
        return 0.0
    counts = Counter(text)
    length = len(text) / pool.mean_words if pool.mean_words else 1.0
    damping = K1 * (1 - B + B * length)
    weights = {word: _idf(pool.texts_with.get(word, 0), pool.texts) for word in wanted}
    return sum(weights[word] * counts[word] / (counts[word] + damping) for word in wanted) / sum(weights.values())


def _idf(texts_with: int, texts: int) -> float:
    return math.log1p((texts - texts_with + 0.5) / (texts_with + 0.5))
