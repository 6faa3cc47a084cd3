"""How alike people's written answers to the same question are: ROUGE-L, pair by pair.

Source: Rosenthal et al., CLAPnq (2024), section 3.1: agreement as the mean ROUGE-L of two answers to a question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from stats.measures.rouge import rouge_l, rouge_tokens
from stats.pattern_intervals import Estimate, estimate_share, undefined
from stats.ratings import CountPatterns, FloatArray, IntArray

NO_PAIR = "no question has answers by two assessors"


@dataclass(frozen=True)
class AnswerPair:
    """Two answers to one question, by their places among its answers, and how alike they are."""

    first: int
    second: int
    rouge_l: float


def answer_pairs(answers: Sequence[str]) -> list[AnswerPair]:
    """Return every pair of the answers, compared by their stems."""
    tokens = [rouge_tokens(answer, stem=True) for answer in answers]
    places = range(len(answers))
    return [AnswerPair(one, other, rouge_l(tokens[one], tokens[other])) for one, other in combinations(places, 2)]


def mean_over_questions(values: FloatArray, topics: IntArray | None) -> Estimate:
    """Return the mean of one value a question, shape (questions,), with its interval.

    Topics are drawn where `topics` names them, else questions.
    """
    if not len(values):
        return undefined(NO_PAIR)
    distinct, places = np.unique(values, return_inverse=True)
    by_topic = None
    if topics is not None:
        numbers, rows = np.unique(topics, return_inverse=True)
        by_topic = np.zeros((len(numbers), len(distinct)))
        np.add.at(by_topic, (rows, places), 1.0)
    patterns = CountPatterns(distinct[:, None], np.bincount(places).astype(np.float64), by_topic)
    return estimate_share(patterns, of=distinct, among=np.ones(len(distinct)), unit="questions")
