"""CRUX: what a retrieval context, or a report, answers of a topic's sub-questions.

Source: Ju et al., Controlled Retrieval-augmented Context Evaluation for Long-form RAG (2025), section 3. Grades are
ordinal, 0–5, of the shape passages × sub-questions; a report is graded as one passage. NaN is ungraded: it never
answers, and is counted in `Score.ungraded` where it might have. Masked sub-questions do not belong in the grades.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from stats.measures.grades import GradeTable
from stats.measures.scores import Score, Setting
from stats.measures.words import WORDS
from stats.ratings import BoolArray, FloatArray

THRESHOLD = 3.0
ALPHA = 0.5
NO_QUESTION = "The oracle does not answer any sub-question."
UNCOUNTED = "The tokens of a text are not known: it is not stored here, or has no stored count."


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
    tokens: Sequence[int | None],
    oracle_covered: Score,
    oracle_tokens: Sequence[int | None],
    *,
    tokenizer: str = WORDS.name,
    weight: float = 0.5,
) -> Score:
    """Return the coverage per token relative to the oracle's, to the power of w (eq. 6).

    `covered` is the coverage of a context, or of a report; `tokens` counts each of its texts, None where the text is
    not held. The other two are those of the oracle's whole context Z*, which is the reference for reports as well.
    `tokenizer` names what counted. May exceed 1. Undefined where a coverage is, where a text is missing, where there is
    no token, or where the oracle covers nothing.
    """
    settings: dict[str, Setting] = {**covered.settings, "tokenizer": tokenizer, "weight": weight}
    if covered.value is None or oracle_covered.value is None:
        return Score(None, covered.reason or oracle_covered.reason, settings=settings)
    if None in tokens or None in oracle_tokens:
        return Score(None, UNCOUNTED, settings=settings)
    n_tokens, n_oracle_tokens = (sum(filter(None, counts)) for counts in (tokens, oracle_tokens))
    if not n_tokens or not n_oracle_tokens:
        return Score(
            None, f"{'The context' if not n_tokens else 'The oracle’s context'} has no tokens.", settings=settings
        )
    if not oracle_covered.value:
        return Score(None, NO_QUESTION, settings=settings)
    relative = (covered.value / n_tokens) / (oracle_covered.value / n_oracle_tokens)
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
    if not answers:
        return []
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


Order = Literal["gain", "count"]
ORDERS: dict[Order, str] = {
    "gain": "most new answers first, recounted after each passage (CRUX’s code)",
    "count": "ranked once by how many sub-questions a passage answers (CRUX’s text)",
}


@dataclass(frozen=True)
class RequiredSubset:
    """P**: passages that together answer all that can be answered, in the order they were taken; and the rest.

    - `partly_redundant`: adds no answer, but is graded at some of the sub-questions as well as the subset, or better.
    - `fully_redundant`: at every sub-question, the unanswerable ones too, some passage of the subset is graded higher.
    - `unjudged`: without any grade, so of no class.
    - `n_ungraded`: grades that are missing of the other passages. A passage is fully redundant only if it has them all.
    """

    required: tuple[str, ...]
    partly_redundant: tuple[str, ...] = ()
    fully_redundant: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    n_ungraded: int = 0
    reason: str = ""

    def qrels(self) -> dict[str, int]:
        """Return CRUX's grades: 3 required, 2 partly redundant, 1 fully redundant."""
        groups = ((3, self.required), (2, self.partly_redundant), (1, self.fully_redundant))
        return {passage: grade for grade, passages in groups for passage in passages}


def required_subset(table: GradeTable, *, threshold: float = THRESHOLD, order: Order = "gain") -> RequiredSubset:
    """Return the required subset of a topic's relevant passages (section 3.2), and how redundant the others are.

    `order="gain"` is that of CRUX's published code: the passage that answers most of what is still open, counted anew
    after each. `order="count"` is the paper's text: passages are ranked once by how many sub-questions they answer,
    and each is taken that answers something new. Ties go to the passage that stands first in the table. The classes
    of the others are the published code's. Where nothing can be answered nothing is required, with the reason.
    """
    judged: BoolArray = np.asarray((~np.isnan(table.grades)).any(axis=1))
    unjudged = _named(table, np.flatnonzero(~judged))
    answers = answerable(table.grades, threshold=threshold)
    if not answers.any():
        return RequiredSubset((), unjudged=unjudged, reason=NO_QUESTION)
    taken = _by_gain(answers) if order == "gain" else _by_count(answers)
    best = np.where(np.isnan(table.grades[taken]), -np.inf, table.grades[taken]).max(axis=0)
    below = (best > table.grades).all(axis=1)  # a missing grade is below nothing
    rest = judged.copy()
    rest[taken] = False
    return RequiredSubset(
        required=_named(table, taken),
        partly_redundant=_named(table, np.flatnonzero(rest & ~below)),
        fully_redundant=_named(table, np.flatnonzero(rest & below)),
        unjudged=unjudged,
        n_ungraded=int(np.isnan(table.grades[judged]).sum()),
    )


def _named(table: GradeTable, rows: Iterable[int]) -> tuple[str, ...]:
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
