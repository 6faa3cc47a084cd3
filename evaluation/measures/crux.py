"""CRUX: what a retrieval context, or a report, answers of a topic's sub-questions.

Source: Ju et al., Controlled Retrieval-augmented Context Evaluation for Long-form RAG (2025), section 3. Grades are
ordinal, 0–5, of the shape passages × sub-questions; a report is graded as one passage. NaN is ungraded: it never
answers, and is counted in `Score.ungraded` where it might have. Masked sub-questions do not belong in the grades.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluation.measures.grades import GradeTable
from evaluation.measures.scores import Score, Setting
from evaluation.measures.words import WORDS, Tokenizer
from evaluation.ratings import BoolArray, FloatArray

THRESHOLD = 3.0
ALPHA = 0.5
NO_QUESTION = "The oracle answers none of the sub-questions."


def answerable(grades: FloatArray, *, threshold: float = THRESHOLD) -> BoolArray:
    """Return where a grade reaches the threshold η (eq. 2), in the shape of the grades; never where ungraded."""
    return grades >= threshold


def oracle_answers(grades: FloatArray, *, threshold: float = THRESHOLD) -> BoolArray:
    """Return which sub-questions any of the oracle's passages answers: Q of eq. 3, shape (sub-questions,)."""
    return np.asarray(answerable(grades, threshold=threshold).any(axis=0))


def coverage(grades: FloatArray, oracle: BoolArray, *, threshold: float = THRESHOLD) -> Score:
    """Return the share of the sub-questions in Q that a context answers (eq. 3).

    `grades` are those of the context's passages; `oracle`, shape (sub-questions,), says which belong to Q. A context
    without passages covers 0; an empty Q leaves the measure undefined. `ungraded` counts the sub-questions in Q that
    no passage answers and at least one grade is missing for.
    """
    settings = {"threshold": threshold}
    if not oracle.any():
        return Score(None, NO_QUESTION, settings=settings)
    asked = grades[:, oracle]
    answered = answerable(asked, threshold=threshold).any(axis=0)
    ungraded = int((~answered & np.isnan(asked).any(axis=0)).sum())
    return Score(float(answered.mean()), ungraded=ungraded, settings=settings)


def density(
    covered: Score,
    passages: Sequence[str],
    oracle_covered: Score,
    oracle_passages: Sequence[str],
    *,
    tokenizer: Tokenizer = WORDS,
    weight: float = 0.5,
) -> Score:
    """Return the coverage per token relative to the oracle's, to the power of w (eq. 6).

    `covered` and `oracle_covered` are coverages of the two contexts, whose texts follow. May exceed 1. Undefined where
    a coverage is, where a context has no token, or where the oracle covers nothing. The paper names no tokenizer.
    """
    settings: dict[str, Setting] = {**covered.settings, "tokenizer": tokenizer.name, "weight": weight}
    tokens, oracle_tokens = tokenizer.count(passages), tokenizer.count(oracle_passages)
    if covered.value is None or oracle_covered.value is None:
        return Score(None, covered.reason or oracle_covered.reason, settings=settings)
    if not tokens or not oracle_tokens:
        whose = "The context" if not tokens else "The oracle's context"
        return Score(None, f"{whose} has no token.", settings=settings)
    if not oracle_covered.value:
        return Score(None, NO_QUESTION, settings=settings)
    relative = (covered.value / tokens) / (oracle_covered.value / oracle_tokens)
    return Score(relative**weight, ungraded=covered.ungraded + oracle_covered.ungraded, settings=settings)


def alpha_ndcg(
    ranking: Sequence[str],
    answers: Mapping[str, Sequence[bool]],
    *,
    cutoff: int,
    alpha: float = ALPHA,
    ideal: Sequence[str] | None = None,
) -> Score:
    """Return the ranked coverage (eq. 4 and 5): α-nDCG with the sub-questions as subtopics.

    `ranking` lists passages, best first; `answers` says for every judged passage which sub-questions it answers.
    `ungraded` counts the passages down to the cutoff that are not in `answers`; they gain nothing. The ideal is built
    greedily, ties by docno descending, as in ndeval (Clarke et al. 2008), so values above 1 occur. Undefined where no
    passage answers anything. `ideal` is the `ideal_ranking` for the same arguments, where it is at hand.
    """
    settings: dict[str, Setting] = {"alpha": alpha, "cutoff": cutoff, "ideal": "greedy, ties by docno descending"}
    if ideal is None:
        ideal = ideal_ranking(answers, cutoff=cutoff, alpha=alpha)
    best = _discounted_gain(ideal, answers, alpha)
    if not best:
        return Score(None, "No passage answers a sub-question.", settings=settings)
    top = ranking[:cutoff]
    gain = _discounted_gain(top, answers, alpha)
    return Score(gain / best, ungraded=sum(passage not in answers for passage in top), settings=settings)


def ideal_ranking(answers: Mapping[str, Sequence[bool]], *, cutoff: int, alpha: float = ALPHA) -> list[str]:
    """Return the passages that gain most, each the best after those before it; ties by docno descending."""
    passages = sorted(answers, reverse=True)
    flags = np.array([answers[passage] for passage in passages], dtype=bool).reshape(len(passages), -1)
    worth = np.ones(flags.shape[1])
    open_ = np.ones(len(passages), dtype=bool)
    ideal: list[str] = []
    for _ in range(min(cutoff, len(passages))):
        gains = np.where(open_, _gains(flags, worth), -1.0)
        taken = int(gains.argmax())
        ideal.append(passages[taken])
        open_[taken] = False
        worth[flags[taken]] *= 1.0 - alpha
    return ideal


def _gains(flags: BoolArray, worth: FloatArray) -> FloatArray:
    """Sum the worth of what each passage answers, one sub-question after the other.

    In the order in which ndeval adds, so that gains which are equal but for rounding tie as they do there.
    """
    gains = np.zeros(len(flags))
    for column, value in enumerate(worth):
        gains += np.where(flags[:, column], value, 0.0)
    return gains


def _discounted_gain(ranking: Sequence[str], answers: Mapping[str, Sequence[bool]], alpha: float) -> float:
    met: dict[int, int] = {}
    total = 0.0
    for rank, passage in enumerate(ranking, start=1):
        gain = 0.0
        for question, answered in enumerate(answers.get(passage, ())):
            if answered:
                gain += (1.0 - alpha) ** met.get(question, 0)
                met[question] = met.get(question, 0) + 1
        total += gain / math.log2(rank + 1)
    return total


@dataclass(frozen=True)
class RequiredSubset:
    """P**: passages that together answer all that can be answered, in the order they were taken; and the rest.

    - `partly_redundant`: adds no answer, but answers some sub-question as well as the subset does, or better.
    - `fully_redundant`: graded below the subset at every sub-question of Q.
    """

    required: tuple[str, ...]
    partly_redundant: tuple[str, ...]
    fully_redundant: tuple[str, ...]
    reason: str = ""

    def qrels(self) -> dict[str, int]:
        """Return CRUX's grades: 3 required, 2 partly redundant, 1 fully redundant."""
        groups = ((3, self.required), (2, self.partly_redundant), (1, self.fully_redundant))
        return {passage: grade for grade, passages in groups for passage in passages}


def required_subset(
    table: GradeTable, *, threshold: float = THRESHOLD, order: Literal["count", "gain"] = "count"
) -> RequiredSubset:
    """Return the required subset of a topic's relevant passages (section 3.2).

    `order="count"` is the paper's: by how many sub-questions a passage answers, most first; each is taken that answers
    something new. `order="gain"` is that of CRUX's published code, which counts anew, after each passage, what is
    still open. Ties go to the passage that stands first in the table. Where nothing can be answered nothing is
    required, with the reason.
    """
    answers = answerable(table.grades, threshold=threshold)
    oracle = answers.any(axis=0)
    if not oracle.any():
        return RequiredSubset((), (), (), NO_QUESTION)
    taken = _by_gain(answers) if order == "gain" else _by_count(answers)
    best = np.nanmax(table.grades[taken][:, oracle], axis=0)
    rest = [row for row in range(len(table.passages)) if row not in set(taken)]
    partly = [row for row in rest if (table.grades[row, oracle] >= best).any()]
    fully = [row for row in rest if row not in set(partly)]
    return RequiredSubset(_named(table, taken), _named(table, partly), _named(table, fully))


def _named(table: GradeTable, rows: Sequence[int]) -> tuple[str, ...]:
    return tuple(table.passages[row] for row in rows)


def _by_count(answers: BoolArray) -> list[int]:
    taken: list[int] = []
    answered = np.zeros(answers.shape[1], dtype=bool)
    for row in np.argsort(-answers.sum(axis=1), kind="stable"):
        if (answers[row] & ~answered).any():
            taken.append(int(row))
            answered |= answers[row]
    return taken


def _by_gain(answers: BoolArray) -> list[int]:
    taken: list[int] = []
    missing = answers.any(axis=0)
    while missing.any():
        row = int((answers & missing).sum(axis=1).argmax())
        taken.append(row)
        missing &= ~answers[row]
    return taken
