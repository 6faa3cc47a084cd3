"""How far people mark the same places of a text.

Spans are (start, end) in Unicode code points of the text, end-exclusive; they may overlap, which counts once. Level
"token" compares words (see `measures.words`; a word is marked if any of its characters is), level "character" compares
code points, white space left out. Nominal: marked or not.

Undefined, with the reason: where neither marked anything there is nothing to agree on (0/0), though it is no
disagreement; where one did and the other did not, agreement is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from statistics import fmean
from typing import Literal

import krippendorff
import numpy as np

from stats.measures.scores import Score
from stats.measures.words import Span, word_spans
from stats.ratings import BoolArray, IntArray

Level = Literal["token", "character"]

NOTHING_MARKED = "Neither highlighted anything."


class SpanOutsideText(ValueError):
    """A span does not lie within its text."""


def marked(text: str, spans: Iterable[Span], *, level: Level = "token") -> BoolArray:
    """Return which tokens (or characters) of the text lie in a span, even in part. Raises SpanOutsideText."""
    inside = np.zeros(len(text), dtype=np.bool_)
    for start, end in spans:
        if not 0 <= start < end <= len(text):
            raise SpanOutsideText(f"The span {start}–{end} is not within a text of {len(text)} characters.")
        inside[start:end] = True
    if level == "character":
        return inside[[not character.isspace() for character in text]]
    starts, ends = _word_places(text)
    so_far = np.concatenate([[0], np.cumsum(inside)])
    return np.asarray(so_far[ends] > so_far[starts])


@lru_cache(maxsize=256)
def _word_places(text: str) -> tuple[IntArray, IntArray]:
    """Return where the words begin and end. Kept, for a report is marked by each person for each of its questions."""
    starts, ends = np.array(word_spans(text), dtype=np.int64).reshape(-1, 2).T
    return starts, ends


def span_f1(first: BoolArray, second: BoolArray) -> Score:
    """Return the F1 of one person's marks against another's: 2·both over the sum of each. Symmetric.

    Both have the shape (tokens,), from `marked`. Source: Dice (1945); as agreement of spans, Hripcsak and Rothschild,
    Agreement, the F-Measure, and Reliability in Information Retrieval (2005).
    """
    return _overlap(2 * int((first & second).sum()), int(first.sum()) + int(second.sum()))


def span_jaccard(first: BoolArray, second: BoolArray) -> Score:
    """Return the tokens both marked over those that either marked. Source: Jaccard (1912)."""
    return _overlap(int((first & second).sum()), int((first | second).sum()))


def _overlap(shared: int, total: int) -> Score:
    return Score(shared / total) if total else Score(None, NOTHING_MARKED)


def mean_pairwise(
    marks: Mapping[str, BoolArray], *, measure: Literal["f1", "jaccard"] = "f1"
) -> tuple[Score, dict[tuple[str, str], Score]]:
    """Return a measure for each pair of people who marked one text, and its mean over the pairs where it is defined.

    `marks` by rater, each of the shape (tokens,); only people who were asked belong in it, marks or none.
    """
    function = span_f1 if measure == "f1" else span_jaccard
    pairs = {(a, b): function(marks[a], marks[b]) for a, b in combinations(sorted(marks), 2)}
    values = [score.value for score in pairs.values() if score.value is not None]
    if values:
        return Score(fmean(values), settings={"measure": measure}), pairs
    return Score(None, NOTHING_MARKED if pairs else "There is only one assessor.", settings={"measure": measure}), pairs


def highlight_alpha(texts: Sequence[Mapping[str, BoolArray]]) -> Score:
    """Return Krippendorff's α (nominal) over the tokens of all texts: marked or not.

    `texts` holds for each text the marks by rater, of the shape (tokens,). Who was not asked about a text is missing
    there, not unmarked. Undefined without a token that two people saw, and where all tokens are marked alike. Tokens of
    a text are not independent: for an interval resample texts or topics, not tokens.

    Source: Krippendorff, Content Analysis (2004), chapter 11; the library krippendorff.
    """
    counts = [_counts(marks) for marks in texts if marks]
    units = np.concatenate(counts) if counts else np.empty((0, 2), dtype=np.int64)
    shared = units[units.sum(axis=1) >= 2]
    if not len(shared):
        return Score(None, "No token was read by two assessors.")
    if (shared.sum(axis=0) == 0).any():
        return Score(None, "Nothing is highlighted." if not shared[:, 1].any() else "Everything is highlighted by all.")
    value = krippendorff.alpha(value_counts=shared, value_domain=np.array([0, 1]), level_of_measurement="nominal")
    return Score(float(value))


def _counts(marks: Mapping[str, BoolArray]) -> IntArray:
    """Return tokens × (unmarked, marked), in people."""
    lengths = {len(mark) for mark in marks.values()}
    if len(lengths) > 1:
        raise ValueError(f"Marks of one text have one length; these have {sorted(lengths)}.")
    of_marked = np.sum(list(marks.values()), axis=0, dtype=np.int64)
    return np.stack([len(marks) - of_marked, of_marked], axis=1)
