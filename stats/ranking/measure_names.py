"""Measures of systems by name: what a name asks for, and whether there is such a measure.

A measure is named as the field writes it: `coverage` of reports; `coverage@10`, `density@10`, `alpha-nDCG@10`,
`Cover@20>=3` and `KPR@10` of the first passages of a ranking; and whatever ir-measures knows, on qrels made of the
grades (a passage's label is its highest grade). `@oracle` cuts each topic's ranking at as many passages as the oracle's
context has. `>=g` sets the grade from which something is answered; without it each source's own threshold counts. In
ir-measures' names `rel=η` (or `rel=eta`) stands for that threshold. `density(tokens=whitespace)` names what counts
tokens, else words. Measures of answers are `answer_measures`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from stats.intervals import CLIPPED_SHARE, SHARE, UNBOUNDED, Range
from stats.measures.words import WORDS
from stats.ranking.answer_measures import ANSWER_GROUPS, group_of
from stats.ranking.qrels_scoring import AT_ORACLE
from stats.refusals import Refused

OWN = re.compile(
    r"(?P<family>coverage|density|alpha-nDCG|Cover|KPR)(\(tokens=(?P<tokens>[\w.:/-]+)\))?"
    r"(@(?P<k>[1-9]\d*|oracle))?(>=(?P<minimum>\d+(\.\d+)?))?"
)
# Measures that are no share, by the beginning of their names. α-nDCG exceeds 1 where its greedy ideal is not the best.
WITHOUT_BOUNDS = {
    *("density", "alpha-nDCG", "DCG", "length", "natural", "appropriate", "faithful", "F+A"),
    *("NumQ", "NumRel", "NumRet", "NumRelRet"),
}
DEFAULT_K = {"alpha-nDCG": 10, "Cover": 20}


class NoLeaderboard(Refused):
    """There is no such leaderboard; the message says why, and what there is."""


@dataclass(frozen=True)
class SystemMeasure:
    """A measure of systems. `cutoff` is None for reports and for what ir-measures cuts off itself.

    `at_oracle`: the cutoff is the size of the oracle's context, topic by topic. `tokenizer` names what counts tokens.
    """

    name: str
    family: str
    cutoff: int | None = None
    minimum: float | None = None
    at_oracle: bool = False
    tokenizer: str = WORDS.name

    @property
    def of_qrels(self) -> bool:
        """Whether it is computed on qrels: by ir-measures, or DCG@k."""
        return self.family == "qrels"

    @property
    def of_answers(self) -> bool:
        """Whether it is one of `answer_measures`; its family is then its group there."""
        return self.family in ANSWER_GROUPS

    @property
    def of_reports(self) -> bool:
        """Whether it scores reports, not rankings."""
        return not self.of_qrels and self.cutoff is None and not self.at_oracle

    @property
    def of_rankings(self) -> bool:
        """Whether it scores rankings, so that their order matters."""
        return not self.of_answers and not self.of_reports

    @property
    def within(self) -> Range:
        """What values it can take."""
        if self.name == "rubric-score":
            return CLIPPED_SHARE
        return UNBOUNDED if self.name.partition("@")[0].partition("(")[0] in WITHOUT_BOUNDS else SHARE

    @property
    def needs_texts(self) -> bool:
        return self.family == "density"

    @property
    def needs_oracle(self) -> bool:
        return self.needs_texts or self.at_oracle


def parse_measure(name: str) -> SystemMeasure:
    """Return the measure of this name. Raises NoLeaderboard; ir-measures checks its own names when it computes."""
    name = name.strip().replace("≥", ">=").replace(" ", "").replace("rel=eta", "rel=η")
    if not name:
        raise NoLeaderboard("Name a measure: coverage, Cover@20>=3, alpha-nDCG@10, nDCG@20, …")
    if group := group_of(name):
        return SystemMeasure(name, group)
    found = OWN.fullmatch(name)
    if found is None or (found["tokens"] and found["family"] != "density"):
        return SystemMeasure(name, "qrels", at_oracle=name.endswith(AT_ORACLE))
    family, minimum, at_oracle = found["family"], found["minimum"], found["k"] == "oracle"
    cutoff = int(found["k"]) if found["k"] and not at_oracle else None if at_oracle else DEFAULT_K.get(family)
    tokenizer = found["tokens"] or WORDS.name
    return SystemMeasure(name, family, cutoff, float(minimum) if minimum else None, at_oracle, tokenizer)
