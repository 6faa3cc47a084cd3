"""What grades and people's relevance say of a bank of rubric questions: bad ones, gaps, and questions asked twice.

Source: the verification of the RUBRIC workbench, Dietz, A Workbench for Autograding Retrieve/Generate Systems (SIGIR
2024), and Farzi and Dietz, TREMA-UNH at TREC (2024), section 6.3: a question is answered from grade 4 of 0–5 on. A
question that is answered mostly by passages that people called not relevant tells nothing of relevance; a relevant
passage that answers no question shows what the bank does not ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from stats.intervals import SHARE, Estimate, ratio_interval, share_of_items, undefined
from stats.measures.grades import GradeTable
from stats.measures.rouge import rouge_l, rouge_tokens

MINIMUM = 4.0
LIKENESS = 0.9
Relevance = Mapping[str, Mapping[str, bool]]
"""What people said of a topic's passages: topic → passage → relevant."""
State = Literal["covered", "uncovered", "unknown", "ungraded"]


@dataclass(frozen=True)
class CheckedQuestion:
    """A question on the passages with a grade and a label: those not relevant and relevant, and how many answer it."""

    topic: str
    question: str
    n_not_relevant: int
    n_wrongly: int
    n_relevant: int
    n_rightly: int

    @property
    def mostly(self) -> bool:
        """Whether more than half of the passages that people called not relevant answer it."""
        return 2 * self.n_wrongly > self.n_not_relevant

    @property
    def share(self) -> Estimate:
        """The share of the passages called not relevant that answer it; its passages are what is drawn."""
        return share_of_items(self.n_wrongly, self.n_not_relevant, unit="passages")


@dataclass(frozen=True)
class RelevantPassage:
    """A passage that people called relevant.

    `best` is its highest grade, on `question`; None without a grade. It is unknown, not uncovered, where a question
    has no grade that might be high enough.
    """

    topic: str
    passage: str
    state: State
    best: float | None
    question: str
    n_missing: int


@dataclass(frozen=True)
class Duplicate:
    """Two questions of a topic that say nearly the same. `likeness` is ROUGE-L's F1."""

    topic: str
    first: str
    second: str
    likeness: float


def check_questions(
    tables: Mapping[str, GradeTable], relevance: Relevance, *, minimum: float = MINIMUM
) -> list[CheckedQuestion]:
    """Return every question, those first that most passages called not relevant answer; of equals the larger share.

    `tables` are grades by topic. A grade from `minimum` up answers; a missing one counts nowhere.
    """
    found = []
    for topic, table in tables.items():
        said = relevance.get(topic, {})
        labels = np.array([said.get(passage, None) for passage in table.passages], dtype=object)
        yes, no = labels == True, labels == False  # noqa: E712  # None is neither
        known, high = ~np.isnan(table.grades), table.grades >= minimum
        found += [
            CheckedQuestion(
                topic,
                question,
                n_not_relevant=int(known[no, place].sum()),
                n_wrongly=int(high[no, place].sum()),
                n_relevant=int(known[yes, place].sum()),
                n_rightly=int(high[yes, place].sum()),
            )
            for place, question in enumerate(table.elements)
        ]
    return sorted(found, key=lambda one: (-one.n_wrongly, one.n_not_relevant))


def relevant_passages(
    tables: Mapping[str, GradeTable], relevance: Relevance, *, minimum: float = MINIMUM
) -> list[RelevantPassage]:
    """Return every passage that people called relevant, with whether any of its topic's questions is answered by it."""
    found = []
    for topic, said in relevance.items():
        table = tables.get(topic, GradeTable((), (), np.empty((0, 0))))
        passages = [passage for passage, relevant in said.items() if relevant]
        for passage, grades in zip(passages, table.of(passages), strict=True):
            known = ~np.isnan(grades)
            place = int(np.nanargmax(grades)) if known.any() else None
            best = None if place is None else float(grades[place])
            found.append(
                RelevantPassage(
                    topic,
                    passage,
                    _state(best, complete=bool(known.all()), minimum=minimum),
                    best,
                    "" if place is None else table.elements[place],
                    int((~known).sum()),
                )
            )
    return found


def _state(best: float | None, *, complete: bool, minimum: float) -> State:
    if best is None:
        return "ungraded"
    if best >= minimum:
        return "covered"
    return "uncovered" if complete else "unknown"


def share_answered(questions: Iterable[CheckedQuestion], *, relevant: bool) -> Estimate:
    """Return the share of (question, passage) pairs answered, of passages called relevant or not; over topics."""
    sums: dict[str, tuple[int, int]] = {}
    for one in questions:
        n, of = (one.n_rightly, one.n_relevant) if relevant else (one.n_wrongly, one.n_not_relevant)
        before = sums.get(one.topic, (0, 0))
        sums[one.topic] = before[0] + n, before[1] + of
    return _share(sums, unit="pairs")


def share_uncovered(passages: Iterable[RelevantPassage]) -> Estimate:
    """Return the share of the relevant passages that answer no question, among those where that is known."""
    sums: dict[str, tuple[int, int]] = {}
    for one in passages:
        if one.state in ("covered", "uncovered"):
            before = sums.get(one.topic, (0, 0))
            sums[one.topic] = before[0] + (one.state == "uncovered"), before[1] + 1
    return _share(sums, unit="passages")


def _share(sums: Mapping[str, tuple[int, int]], *, unit: str) -> Estimate:
    if not any(of for _, of in sums.values()):
        return undefined(f"there are no such {unit}")
    return ratio_interval([n for n, _ in sums.values()], [of for _, of in sums.values()], within=SHARE, unit=unit)


def duplicates(questions: Mapping[str, Sequence[tuple[str, str]]], *, likeness: float = LIKENESS) -> list[Duplicate]:
    """Return the pairs of a topic's questions whose ROUGE-L F1 (stemmed words) is above `likeness`, most alike first.

    `questions` are (name, text) by topic; a text without words is like none.
    """
    found = []
    for topic, listed in questions.items():
        words = [(name, rouge_tokens(text, stem=True)) for name, text in listed]
        for (first, its), (second, others) in combinations(words, 2):
            value = rouge_l(its, others)
            if value > likeness:
                found.append(Duplicate(topic, first, second, value))
    return sorted(found, key=lambda one: (-one.likeness, one.topic))
