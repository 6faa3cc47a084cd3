"""BM25 by the library, of hand-worked examples, and as the lexical judge computes it."""

from __future__ import annotations

import random
from math import log
from typing import Any

import bm25s
import numpy as np
import pytest

from collection.retrieval.bm25 import Bm25Index, Weighting, Windows, first
from collection.retrieval.bm25_of_one_text import K1, B, bm25_share, statistics_of

PLAIN = Weighting(language="none", title_weight=0)


def indexed(queries: list[str], texts: list[tuple[str, str]], weighting: Weighting, windows: Windows) -> Bm25Index:
    index = Bm25Index(queries, weighting, windows)
    for title, text in texts:
        index.add(title, text)
    index.close()
    return index


def test_the_hand_worked_example() -> None:
    texts = [("", "rain in spain"), ("", "rain rain rain"), ("", "sun")]
    weighting = Weighting(language="none", k1=1.2, b=0.75)

    scores = indexed(["rain today"], texts, weighting, Windows()).scores(0)

    idf, mean = log(1 + (3 - 2 + 0.5) / (2 + 0.5)), 7 / 3
    damping = 1.2 * (0.25 + 0.75 * 3 / mean)
    assert scores.tolist() == pytest.approx([idf / (1 + damping), idf * 3 / (3 + damping), 0])


def test_equals_the_index_of_all_words_and_the_lexical_judge() -> None:
    random.seed(7)
    words = [f"w{number}" for number in range(60)]
    texts = [" ".join(random.choices(words, k=random.randint(1, 40))) for _ in range(200)]
    query = "w3 w17 w59 absent"

    scores = indexed([query], [("", text) for text in texts], PLAIN, Windows()).scores(0)

    whole = bm25s.BM25(k1=K1, b=B, method="lucene")
    whole.index([text.split() for text in texts], show_progress=False)
    assert scores == pytest.approx(whole.get_scores(query.split()))
    pool = statistics_of(texts, [query], words_in=str.split)
    shares = [bm25_share(query.split(), text.split(), pool) for text in texts]
    idf = [log(1 + (200 - n + 0.5) / (n + 0.5)) for n in (pool.texts_with.get(word, 0) for word in query.split())]
    assert scores == pytest.approx(np.array(shares) * sum(idf), rel=1e-5)


def test_titles_count_by_their_weight() -> None:
    texts = [("rain", "nothing"), ("", "rain")]

    def scores(title_weight: float) -> Any:
        weighting = Weighting(language="none", title_weight=title_weight)
        return indexed(["rain"], texts, weighting, Windows()).scores(0).tolist()

    assert scores(0)[0] == 0
    assert scores(2)[0] == pytest.approx(2 * scores(1)[0])
    assert scores(2)[1] == scores(0)[1]


def test_the_best_window_of_a_long_text_counts() -> None:
    long = "dry " * 8 + "rain rain"
    windows = Windows(words=4, stride=2)

    index = indexed(["rain"], [("", long), ("", "rain dry rain dry")], PLAIN, windows)

    assert [(one.start, one.stop) for one in windows.of(10)] == [(0, 4), (2, 6), (4, 8), (6, 10)]
    assert [(one.start, one.stop) for one in windows.of(9)] == [(0, 4), (2, 6), (4, 8), (6, 9)]
    assert index.n_windows == 5
    assert index.scores(0)[0] == index.scores(0)[1]


def test_stems_and_stop_words_are_those_of_the_language() -> None:
    texts = [("", "The stones were quarried by masons."), ("", "the the the")]

    english = indexed(["the quarrying of a stone"], texts, Weighting(), Windows()).scores(0)
    plain = indexed(["the quarrying of a stone"], texts, PLAIN, Windows()).scores(0)

    assert english[0] > 0
    assert english[1] == 0
    assert 0 < plain[0] < plain[1]


def test_a_query_of_stop_words_and_an_empty_text_find_nothing() -> None:
    index = indexed(["of the", "rain"], [("", ""), ("", "the")], Weighting(), Windows(3, 1))

    assert index.scores(0).tolist() == index.scores(1).tolist() == [0, 0]


def test_the_later_of_equal_scores_is_first() -> None:
    scores = np.array([1, 3, 1, 0, 1], dtype=np.float32)

    assert first(scores, 3).tolist() == [1, 4, 2]
    assert first(scores, 10).tolist() == [1, 4, 2, 0]
