"""The measures of answers that a leaderboard may be by, with what each is made of.

Names are those of the papers: LONG²RAG's KPR, KPP and KPF; the four nugget scores of TREC RAG; and what CLAPNQ reports
of answers. `measures/` computes them; `services.answer_boards` reads what they need.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from evaluation.measures.clapnq import Ties
from evaluation.measures.scores import Score

Group = Literal["key points", "nuggets", "texts", "ratings", "unanswerable", "preferences"]

KEY_POINTS = {
    "KPR": "share of the question’s key points that the answer says",
    "KPP": "share of the answer’s own key points that the documents say",
    "KPF": "harmonic mean of KPR and KPP, question by question",
}
NUGGETS = {
    "nuggets-vital": "share of the vital nuggets that the answer says, half for partly",
    "nuggets-all": "share of all nuggets that the answer says, half for partly",
    "nuggets-strict-vital": "share of the vital nuggets that the answer says fully",
    "nuggets-strict-all": "share of all nuggets that the answer says fully",
}
TEXTS = {
    "ROUGE-L": "ROUGE-L F1 with the reference it matches best",
    "ROUGE-1-recall": "share of the reference’s words that the answer has",
    "ROUGE-L-passage": "ROUGE-L F1 with the passage: how extractive the answer is. More is not better",
    "length": "characters of the answer. More is not better",
}
RATINGS = {
    "natural": "mean grade: fluent and natural",
    "appropriate": "mean grade: what the question asks for",
    "faithful": "mean grade: all of it stands in the passage",
    "F+A": "harmonic mean of one rater’s faithful and appropriate, averaged",
    "unknown": "share of answers that say they do not know. More is not better",
    "incoherent": "share of answers that are irrelevant or incoherent. More is worse",
}
UNANSWERABLE = {"unanswerable": "share of unanswerable questions whose answer says so"}
WIN_RATE = re.compile(r"win-rate(\(ties=(?P<ties>none|half|both)\))?")
WIN_RATES = {
    "win-rate": "share of comparisons won, a tie being half a win",
    "win-rate(ties=none)": "the same, a tie being no win",
    "win-rate(ties=both)": "the same, a tie being a win for both",
}
GROUPS: dict[Group, dict[str, str]] = {
    "key points": KEY_POINTS,
    "nuggets": NUGGETS,
    "texts": TEXTS,
    "ratings": RATINGS,
    "unanswerable": UNANSWERABLE,
    "preferences": WIN_RATES,
}
ANSWER_GROUPS = frozenset(get_args(Group))


def group_of(name: str) -> Group | None:
    """Return which group of answer measures the name belongs to; None for any other name."""
    if WIN_RATE.fullmatch(name):
        return "preferences"
    return next((group for group, names in GROUPS.items() if name in names), None)


def meaning_of(name: str) -> str:
    """Return an answer measure in a line; an empty string for any other measure."""
    return next((names[name] for names in GROUPS.values() if name in names), "")


def ties_of(name: str) -> Ties:
    """Return what a tie counts for in a win rate of this name."""
    found = WIN_RATE.fullmatch(name)
    said = found["ties"] if found else None
    return "none" if said == "none" else "both" if said == "both" else "half"


@dataclass(frozen=True)
class AnswerScore:
    """What a measure gives one system's answer on a topic, and of how many judgments it is made."""

    system: str
    topic: str
    score: Score
    n_asked: int = 0


@dataclass(frozen=True)
class AnswerTable:
    """Scores as systems × topics, NaN where undefined, with why and how many; and the ungraded of those asked."""

    table: pd.DataFrame
    reasons: dict[str, int]
    n_ungraded: int
    n_asked: int


def table_of(scores: Iterable[AnswerScore], topics: list[str]) -> AnswerTable:
    """Return the scores as a table whose columns are the topics, rows by name of the system."""
    listed = list(scores)
    systems = sorted({one.system for one in listed})
    table = pd.DataFrame(np.nan, index=systems, columns=topics, dtype=np.float64)
    reasons: dict[str, int] = {}
    for one in listed:
        if one.score.value is None:
            reasons[one.score.reason] = reasons.get(one.score.reason, 0) + 1
        else:
            table.loc[one.system, one.topic] = one.score.value
    known = [one for one in listed if one.score.value is not None]
    return AnswerTable(table, reasons, sum(one.score.ungraded for one in known), sum(one.n_asked for one in known))
