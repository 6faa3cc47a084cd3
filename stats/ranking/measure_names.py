"""Measures of systems: what each is declared by, and which one a name asks for.

Each stands in a file of `stats/ranking/measures/`, as a class with all that is decided upon it: what its name looks
like, which judgments it needs, its range, whether it is a sum that labels on a part can correct, how it is described
and where it is offered. It is named as the field writes it: `coverage` of reports; `coverage@10`, `Cover@20>=3` and
`KPR@10` of the first passages of a ranking; and whatever ir-measures knows. `@oracle` cuts each topic's ranking at as
many passages as the oracle's context has. `>=g` sets the grade from which something is answered; without it each
source's own threshold counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import ClassVar, Literal, Self

from stats.intervals import SHARE, Range
from stats.measures.words import WORDS
from stats.ranking import measures
from stats.refusals import Refused

AT_ORACLE = "@oracle"
# A task type and the criterion's name; an empty name: any criterion.
Asked = tuple[str, str]


class NoLeaderboard(Refused):
    """There is no such leaderboard; the message says why, and what there is."""


@dataclass(frozen=True)
class SystemMeasure:
    """A measure of systems as its name asks for it.

    `cutoff` is None for what reads a whole ranking, or no ranking; `at_oracle`: the cutoff is the
    size of the oracle's context, topic by topic. `tokenizer` names what counts tokens.

    A class declares, for all names of its family:

    - `family`: what names begin with; empty in a class of what several have in common;
    - `options`: a regular expression of what may follow it, whose groups of the fields' names set these;
    - `describes`, `source`: what it says in a line, and where it is defined; `meanings`: the same by name;
    - `questions`: what is asked of raters for it; `facts`: what else a study must have for a name of it;
    - `range`: what values it can take; `sums`: the names of which a score is a sum over judged items, so that labels
      on a part can correct it; `corrected_as`: what these are called together;
    - `needs_texts`, `leaves_out_unanswerable`: whether it counts tokens; whether it is over what can be answered alone;
    - `asked_by_item`: whether an element is asked of the texts alone that have an item of it;
    - `of_texts_too`: whether the texts are a source of their own, held against references; `first_question_counts`:
      whether a rater's first one of the questions counts alone;
    - `offers`: the names to offer, each with its place among all that are offered.
    """

    name: str
    cutoff: int | None = None
    minimum: float | None = None
    at_oracle: bool = False
    tokenizer: str = WORDS.name

    family: ClassVar[str] = ""
    options: ClassVar[str] = r"(@(?P<k>[1-9]\d*|oracle))?(>=(?P<minimum>\d+(\.\d+)?))?"
    takes_the_rest: ClassVar[bool] = False
    default_k: ClassVar[int | None] = None
    describes: ClassVar[str] = ""
    corrected_as: ClassVar[str] = ""
    meanings: ClassVar[Mapping[str, str]] = {}
    source: ClassVar[str] = ""
    range: ClassVar[Range] = SHARE
    questions: ClassVar[tuple[Asked, ...]] = ()
    facts: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    sums: ClassVar[Set[str]] = frozenset()
    offers: ClassVar[Mapping[str, float]] = {}
    of_qrels: ClassVar[bool] = False
    of_answers: ClassVar[bool] = False
    needs_texts: ClassVar[bool] = False
    of_texts_too: ClassVar[bool] = False
    first_question_counts: ClassVar[bool] = False
    leaves_out_unanswerable: ClassVar[bool] = False
    asked_by_item: ClassVar[bool] = False

    @classmethod
    def parse(cls, name: str) -> Self | None:
        """Return the measure of this name; None where it is none of these."""
        found = re.fullmatch(re.escape(cls.family) + cls.options, name)
        if found is None:
            return None
        said = found.groupdict()
        k, minimum, at_oracle = said.get("k"), said.get("minimum"), said.get("k") == "oracle"
        cutoff = None if at_oracle else int(k) if k else cls.default_k
        tokenizer = said.get("tokens") or WORDS.name
        return cls(name, cutoff, float(minimum) if minimum else None, at_oracle, tokenizer)

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
        return self.range

    @property
    def needs_oracle(self) -> bool:
        return self.needs_texts or self.at_oracle

    @property
    def is_sum(self) -> bool:
        """Whether a score is a sum over judged items, so that labels on a part of them can correct it."""
        return self.name in self.sums

    @property
    def meaning(self) -> str:
        """The measure in a line, where its name alone says which it is; else empty."""
        return self.meanings.get(self.name, "")

    @property
    def direction(self) -> Literal["more", "less", ""]:
        """Whether more of it is better, or less; empty where neither is."""
        return "more"

    @property
    def needs(self) -> tuple[Asked, ...]:
        """Return the questions of which any one's judgments give a score: task types, each with a criterion or any."""
        return self.questions

    def judged_by(self, judged: Set[Asked]) -> bool:
        """Whether judgments under these task types and criteria give a score."""
        return any(kind == one and name in ("", of) for kind, name in self.needs for one, of in judged)

    def needed_facts(self) -> tuple[str, ...]:
        """Return what else a study must have for it: see `evaluation.leaderboards.available_measures.FACTS`."""
        rankings = ("rankings",) if self.of_rankings else ()
        return (*rankings, *(("oracle",) if self.needs_oracle else ()), *self.facts.get(self.name, ()))


@cache
def registered() -> tuple[type[SystemMeasure], ...]:
    """Return the classes of all measures; last the one that takes every name that is left."""
    modules = [import_module(f"{measures.__name__}.{found.name}") for found in iter_modules(measures.__path__)]
    classes = [
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, SystemMeasure) and one.__module__ == module.__name__ and one.family
    ]
    return tuple(sorted(classes, key=lambda one: one.takes_the_rest))


def parse_measure(name: str) -> SystemMeasure:
    """Return the measure of this name. Raises NoLeaderboard; ir-measures checks its own names when it computes."""
    name = name.strip().replace("≥", ">=").replace(" ", "").replace("rel=eta", "rel=η")
    if not name:
        raise NoLeaderboard("Name a measure: coverage, Cover@20>=3, alpha-nDCG@10, nDCG@20, …")
    return next(found for one in registered() if (found := one.parse(name)))
