"""The measures of answers that a leaderboard may be by, with what each is made of.

Names are those of the papers: LONG²RAG's KPR, KPP and KPF; the six nugget scores of TREC RAG; and what CLAPNQ reports
of answers. `measures/` computes them; `services.answer_boards` reads what they need.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from stats.measures.cited_reports import ARGUE, Counts
from stats.measures.clapnq import Ties
from stats.measures.score_bounds import ScoreBounds
from stats.measures.scores import Score

if TYPE_CHECKING:
    import pandas as pd

Group = Literal[
    "key points",
    "nuggets",
    "nugget banks",
    "texts",
    "ratings",
    "unanswerable",
    "preferences",
    "citations",
    "nuggets of reports",
]

KEY_POINTS = {
    "KPR": "share of the question’s key points that the answer contains",
    "KPP": "share of the answer’s own key points that the documents contain",
    "KPF": "harmonic mean of KPR and KPP, question by question",
}
NUGGETS = {
    "nuggets-vital": "share of the vital nuggets that the answer contains; partly counts as half",
    "nuggets-all": "share of all nuggets that the answer contains; partly counts as half",
    "nuggets-weighted": "credit of all nuggets, of which a vital one weighs 1 and any other ½; partly counts as half",
    "nuggets-strict-vital": "share of the vital nuggets that the answer contains fully",
    "nuggets-strict-all": "share of all nuggets that the answer contains fully",
    "nuggets-strict-weighted": "weight of the nuggets that the answer contains fully: a vital one 1, any other ½",
}
NUGGET_BANKS = {
    "nugget-coverage": "mean credit of the bank’s nuggets; that of one with parts follows from these",
    "rubric-score": "points reached, of the sum of the positive points; negative points are taken off, and the mean is "
    "clipped to 0–1",
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
CITATIONS = {
    "citation-precision": "mean support of the judged citations: full 1, partial ½",
    "citation-recall": "mean over all sentences of the support of their best judged citation; 0 where a sentence cites "
    "nothing",
    "citation-support": "share of the judged citations that support their sentence fully",
    "sentence-support": "share of the sentences, with a citation or in need of one, that each judged citation supports "
    "fully",
    "citation-precision(first)": "mean support of the judged first citations: full 1, partial ½",
    "citation-recall(first)": "mean over all sentences of the support of their first citation; 0 where a sentence "
    "cites nothing",
}
NUGGETS_OF_REPORTS = {
    "argue-nugget-coverage": "share of the topic’s nuggets that the report answers rightly",
    "argue-nugget-coverage-weighted": "share of the topic’s nuggets that the report answers rightly; a vital one "
    "counts 2, any other 1",
    "argue-f1": "harmonic mean of sentence support and nugget coverage, report by report",
    "argue-f1-weighted": "harmonic mean of sentence support and weighted nugget coverage, report by report",
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
    "nugget banks": NUGGET_BANKS,
    "texts": TEXTS,
    "ratings": RATINGS,
    "unanswerable": UNANSWERABLE,
    "preferences": WIN_RATES,
    "citations": CITATIONS,
    "nuggets of reports": NUGGETS_OF_REPORTS,
}
NEITHER_IS_BETTER = frozenset({"ROUGE-L-passage", "length", "unknown"})
LESS_IS_BETTER = frozenset({"incoherent"})
ANSWER_GROUPS = frozenset(get_args(Group))


def group_of(name: str) -> Group | None:
    """Return which group of answer measures the name belongs to; None for any other name."""
    if WIN_RATE.fullmatch(name):
        return "preferences"
    return next((group for group, names in GROUPS.items() if name in names), None)


def meaning_of(name: str) -> str:
    """Return an answer measure in a line; an empty string for any other measure."""
    return next((names[name] for names in GROUPS.values() if name in names), "")


def direction_of(name: str) -> Literal["more", "less", ""]:
    """Return whether more of a measure is better, or less; empty where neither is."""
    return "less" if name in LESS_IS_BETTER else "" if name in NEITHER_IS_BETTER else "more"


def argue_name(name: str) -> str:
    """Return which of ARGUE's figures the measure is, as `cited_reports.ARGUE` names it; empty for any other."""
    found = name.removeprefix("argue-").replace("-", " ")
    return found if found in ARGUE else ""


def ties_of(name: str) -> Ties:
    """Return what a tie counts for in a win rate of this name: for nobody where it does not say."""
    found = WIN_RATE.fullmatch(name)
    said = found["ties"] if found else None
    return "half" if said == "half" else "both" if said == "both" else "none"


@dataclass(frozen=True)
class AnswerScore:
    """What a measure gives one system's answer on a topic, and of how many judgments it is made.

    `counts`: what it counts, where it can be pooled over topics. `judged`: which share of what it rests on is judged,
    if not that of the judgments.
    """

    system: str
    topic: str
    score: Score
    n_asked: int = 0
    counts: tuple[Counts, ...] = ()
    judged: float | None = None


@dataclass(frozen=True)
class AnswerTable:
    """Scores as systems × topics, NaN where undefined, with why and how many; and the ungraded of those asked.

    `judged`: the share of the judgments asked for a score that are graded, NaN where none are. `unjudged`: how many of
    them are not. `bounds`: those of the scores; None where the measure knows none. `counts`: by system and topic.
    """

    table: pd.DataFrame
    judged: pd.DataFrame
    unjudged: pd.DataFrame
    bounds: ScoreBounds | None
    counts: dict[str, dict[str, tuple[Counts, ...]]]
    reasons: dict[str, int]
    n_ungraded: int
    n_asked: int


def table_of(scores: Iterable[AnswerScore], topics: list[str]) -> AnswerTable:
    """Return the scores as a table whose columns are the topics, rows by name of the system."""
    import pandas as pd

    listed = list(scores)
    systems = sorted({one.system for one in listed})
    empty = pd.DataFrame(np.nan, index=systems, columns=topics, dtype=np.float64)
    table, judged, unjudged, low, high = (empty.copy() for _ in range(5))
    reasons: dict[str, int] = {}
    counts: dict[str, dict[str, tuple[Counts, ...]]] = {}
    for one in listed:
        if one.score.value is None:
            reasons[one.score.reason] = reasons.get(one.score.reason, 0) + 1
            continue
        at = one.system, one.topic
        table.loc[at] = one.score.value
        low.loc[at], high.loc[at] = one.score.bounds or (one.score.value, one.score.value)
        unjudged.loc[at] = one.score.ungraded
        if one.counts:
            counts.setdefault(one.system, {})[one.topic] = one.counts
        if one.n_asked:
            judged.loc[at] = 1 - one.score.ungraded / one.n_asked if one.judged is None else one.judged
    known = [one for one in listed if one.score.value is not None]
    n_ungraded, n_asked = sum(one.score.ungraded for one in known), sum(one.n_asked for one in known)
    bounded = n_ungraded > 0 and all(one.score.bounds for one in known if one.score.ungraded)
    bounds = ScoreBounds(low, high) if bounded else None
    return AnswerTable(table, judged, unjudged, bounds, counts, reasons, n_ungraded, n_asked)
