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

from stats.measures.clapnq import Ties
from stats.measures.scores import Score

Group = Literal["key points", "nuggets", "texts", "ratings", "unanswerable", "preferences"]

KEY_POINTS = {
    "KPR": "share of the question’s key points that the answer contains",
    "KPP": "share of the answer’s own key points that the documents contain",
    "KPF": "harmonic mean of KPR and KPP, question by question",
}
NUGGETS = {
    "nuggets-vital": "share of the vital nuggets that the answer contains; partly counts as half",
    "nuggets-all": "share of all nuggets that the answer contains; partly counts as half",
    "nuggets-strict-vital": "share of the vital nuggets that the answer contains fully",
    "nuggets-strict-all": "share of all nuggets that the answer contains fully",
}
TEXTS = {
    "ROUGE-L": "ROUGE-L F1 with the best-matching reference",
    "ROUGE-1-recall": "share of the reference’s words that the answer contains, for the reference with the best "
    "ROUGE-1 F1",
    "ROUGE-L-passage": "ROUGE-L F1 with the passage and its title: how extractive the answer is. More is not better",
    "length": "characters of the answers to answerable questions. More is not better",
}
RATINGS = {
    "natural": "mean grade: fluent and natural",
    "appropriate": "mean grade, over answerable questions: answers what is asked",
    "faithful": "mean grade, over answerable questions: fully supported by the passage",
    "F+A": "harmonic mean of one rater’s faithful and appropriate, averaged over answerable questions",
    "unknown": "share of answers that say they do not know. More is not better",
    "incoherent": "share of answers that are irrelevant or incoherent. More is worse",
}
OF_ANSWERABLE = frozenset({"appropriate", "faithful", "F+A"})
UNANSWERABLE = {"unanswerable": "share of unanswerable questions whose answer says so"}
WIN_RATE = re.compile(r"win-rate(\(ties=(?P<ties>none|half|both)\))?")
WON = "wins divided by the system’s comparisons: (systems − 1) × raters if all pairs were judged; a tie"
WIN_RATES = {
    "win-rate": f"{WON} counts for neither",
    "win-rate(ties=half)": f"{WON} is half a win for each",
    "win-rate(ties=both)": f"{WON} is a win for each",
    "win-rate(ties=none)": f"{WON} counts for neither",
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
    """Return what a tie counts for in a win rate of this name: for nobody where it does not say."""
    found = WIN_RATE.fullmatch(name)
    said = found["ties"] if found else None
    return "half" if said == "half" else "both" if said == "both" else "none"


@dataclass(frozen=True)
class AnswerScore:
    """What a measure gives one system's answer on a topic, and of how many judgments it is made."""

    system: str
    topic: str
    score: Score
    n_asked: int = 0


@dataclass(frozen=True)
class AnswerTable:
    """Scores as systems × topics, NaN where undefined, with why and how many; and the ungraded of those asked.

    `judged`: the share of the judgments asked for a score that are graded, NaN where none are.
    """

    table: pd.DataFrame
    judged: pd.DataFrame
    reasons: dict[str, int]
    n_ungraded: int
    n_asked: int


def table_of(scores: Iterable[AnswerScore], topics: list[str]) -> AnswerTable:
    """Return the scores as a table whose columns are the topics, rows by name of the system."""
    listed = list(scores)
    systems = sorted({one.system for one in listed})
    table, judged = (pd.DataFrame(np.nan, index=systems, columns=topics, dtype=np.float64) for _ in range(2))
    reasons: dict[str, int] = {}
    for one in listed:
        if one.score.value is None:
            reasons[one.score.reason] = reasons.get(one.score.reason, 0) + 1
            continue
        table.loc[one.system, one.topic] = one.score.value
        if one.n_asked:
            judged.loc[one.system, one.topic] = 1 - one.score.ungraded / one.n_asked
    known = [one for one in listed if one.score.value is not None]
    n_ungraded, n_asked = sum(one.score.ungraded for one in known), sum(one.n_asked for one in known)
    return AnswerTable(table, judged, reasons, n_ungraded, n_asked)
