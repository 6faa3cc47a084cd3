"""Several raters' grades made into the lines of a qrels file, and how much of a ranking the lines cover.

Knows no Django. A line is `topic 0 docno grade`. A text with several rubric elements gets the highest grade of any
(the rule of RUBRIC: Farzi and Dietz, 2024), or, element by element, a topic of its own for each: `topic/element`.
What has no grade is left out and counted; it never becomes 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from evaluation.aggregation import Aggregate, Ties, dawid_skene, majority, median
from evaluation.ratings import FloatArray

Combine = Literal["majority", "median", "highest", "dawid_skene"]
COMBINES: dict[Combine, str] = {
    "majority": "the grade that most of them gave",
    "median": "the middle grade",
    "highest": "the highest grade that any of them gave",
    "dawid_skene": "the most probable grade, once each rater’s errors are learnt (Dawid and Skene, 1979)",
}
TIES: dict[Ties, str] = {
    "lower": "ties go to the lower grade",
    "higher": "ties go to the higher grade",
    "undecided": "ties are left out",
}


class QrelsRefused(ValueError):
    """These judgments cannot be written as qrels; the message says why and how to mend it."""


@dataclass(frozen=True)
class Rule:
    """How judgments become labels.

    An item needs `fewest_raters` grades. From `binary_at` on, a label is 1, below it 0; without it, labels are grades.
    """

    combine: Combine = "majority"
    ties: Ties = "lower"
    fewest_raters: int = 1
    binary_at: float | None = None
    per_element: bool = False

    def in_words(self, n_raters: int) -> dict[str, str]:
        """Return what a reader of the provenance needs to know of it."""
        ties = "" if self.combine == "highest" else f", {TIES[self.ties]}"
        return {
            "raters": f"{COMBINES[self.combine]}{ties}" if n_raters > 1 else "the one rater's grade",
            "fewest_raters": f"at least {self.fewest_raters} an item",
            "grades": "as on the scale" if self.binary_at is None else f"1 from {self.binary_at:g} up, else 0",
            "elements": "a topic for each rubric element: topic/element" if self.per_element else "the highest of any",
            "docno": "the passage's id, or the run of the report",
        }


class Place(NamedTuple):
    """Where an item's grade goes. An item without a rubric element has None for it."""

    topic: str
    element: str | None
    docno: str


@dataclass(frozen=True)
class Labels:
    """The lines of a qrels file, sorted, and what was left out of it, in items.

    `judged` has the docnos of each topic that the file labels, whichever elements they were judged for.
    """

    lines: tuple[str, ...]
    by_grade: Mapping[int, int]
    judged: Mapping[str, Set[str]]
    n_topics: int
    n_items: int
    n_ungraded: int
    n_too_few: int
    n_tied: int

    @property
    def text(self) -> str:
        """The file."""
        return "".join(f"{line}\n" for line in self.lines)

    def counts(self) -> dict[str, Any]:
        """Return what the provenance says of it. `tied_items` counts ties, however they were settled."""
        return {
            "lines": len(self.lines),
            "topics": self.n_topics,
            "items": self.n_items,
            "ungraded_items": self.n_ungraded,
            "items_with_too_few_raters": self.n_too_few,
            "tied_items": self.n_tied,
            "lines_by_grade": {str(grade): n for grade, n in self.by_grade.items()},
        }


def label(places: Sequence[Place], grades: FloatArray, scale: FloatArray, rule: Rule) -> Labels:
    """Return the labels of the items at these places. Raises QrelsRefused.

    `grades` has the shape items × raters, NaN where a rater gave none; `scale` has all grades, lowest first.
    """
    n = (~np.isnan(grades)).sum(axis=1)
    combined = combine_grades(grades, scale, rule)
    labels: dict[tuple[str, str], int] = {}
    judged: dict[str, set[str]] = {}
    for place, grade in zip(places, combined.grades.tolist(), strict=True):
        if np.isnan(grade):
            continue
        topic, docno = _word(place.topic, "topic"), _word(place.docno, "document")
        if rule.per_element and place.element is not None:
            topic = _word(f"{topic}/{place.element}", "topic")
        value = _value(grade, rule)
        labels[topic, docno] = max(labels.get((topic, docno), value), value)
        judged.setdefault(place.topic, set()).add(docno)
    return Labels(
        lines=tuple(f"{topic} 0 {docno} {value}" for (topic, docno), value in sorted(labels.items())),
        by_grade=dict(sorted(Counter(labels.values()).items())),
        judged=judged,
        n_topics=len({topic for topic, _ in labels}),
        n_items=int(np.isfinite(combined.grades).sum()),
        n_ungraded=int((n == 0).sum()),
        n_too_few=int(((n > 0) & (n < rule.fewest_raters)).sum()),
        n_tied=combined.n_tied,
    )


def combine_grades(grades: FloatArray, scale: FloatArray, rule: Rule) -> Aggregate:
    """Make one grade an item of grades of the shape items × raters. Raises QrelsRefused."""
    if rule.fewest_raters < 1:
        raise QrelsRefused(f"At least one rater is needed for a grade, not {rule.fewest_raters}.")
    if rule.combine == "majority":
        return majority(grades, ties=rule.ties, fewest_raters=rule.fewest_raters)
    if rule.combine == "median":
        return median(grades, ties=rule.ties, fewest_raters=rule.fewest_raters)
    enough = (~np.isnan(grades)).sum(axis=1) >= rule.fewest_raters
    combined = np.full(len(grades), np.nan)
    n_tied = 0
    if rule.combine == "highest":
        combined[enough] = np.nanmax(grades[enough], axis=1) if enough.any() else np.nan
    elif enough.any():
        item, rater = np.nonzero(~np.isnan(grades[enough]))
        given = np.searchsorted(scale, grades[enough][item, rater])
        likely = dawid_skene(item, rater, given, n_grades=len(scale)).grades(ties=rule.ties)
        decided = np.isfinite(likely.grades)
        of_enough = np.full(len(likely.grades), np.nan)
        of_enough[decided] = scale[likely.grades[decided].astype(np.int64)]
        combined[enough], n_tied = of_enough, likely.n_tied
    return Aggregate(combined, int((~enough).sum()), n_tied)


def _value(grade: float, rule: Rule) -> int:
    if rule.binary_at is not None:
        return int(grade >= rule.binary_at)
    if not grade.is_integer():
        raise QrelsRefused(f"Qrels hold whole numbers, and {grade:g} is none. Choose a threshold for 0 and 1.")
    return int(grade)


def _word(name: str, what: str) -> str:
    """Return the id if a line of qrels can hold it."""
    if not name or any(character.isspace() for character in name):
        raise QrelsRefused(f"The {what} id “{name}” has white space in it, and qrels are read word by word. Rename it.")
    return name


@dataclass(frozen=True)
class Holes:
    """How much of the top k of one run the qrels label.

    `judged_at_k` is the mean over the run's topics that the qrels have, None where they have none of them; the run's
    other topics are only counted. `unjudged` has topic, docno and place from 1, in the order of the ranking.
    """

    run: str
    k: int
    n_topics: int
    n_other_topics: int
    n_ranked: int
    judged_at_k: float | None
    unjudged: tuple[tuple[str, str, int], ...]

    @property
    def n_all_topics(self) -> int:
        """How many topics the run ranks passages for."""
        return self.n_topics + self.n_other_topics

    def as_dict(self) -> dict[str, Any]:
        """Return it as provenance and API have it, without the list."""
        return {
            "run": self.run,
            "topics": self.n_topics,
            "other_topics": self.n_other_topics,
            "ranked": self.n_ranked,
            "unjudged": len(self.unjudged),
            "judged_at_k": self.judged_at_k,
        }


def find_holes(run: str, rankings: Mapping[str, Sequence[str]], judged: Mapping[str, Set[str]], *, k: int) -> Holes:
    """Return which of the first k of each topic's docnos have no label.

    The share of a topic is over what the run ranks of it, where that is fewer than k, as ir-measures' Judged@k has it.
    """
    shares, unjudged, n_ranked, n_other = [], [], 0, 0
    for topic in sorted(rankings):
        top = rankings[topic][:k]
        if topic not in judged or not top:
            n_other += 1
            continue
        missing = [(topic, docno, place) for place, docno in enumerate(top, start=1) if docno not in judged[topic]]
        shares.append(1 - len(missing) / len(top))
        unjudged += missing
        n_ranked += len(top)
    mean = sum(shares) / len(shares) if shares else None
    return Holes(run, k, len(shares), n_other, n_ranked, mean, tuple(unjudged))


def by_score(scores: Mapping[str, float]) -> list[str]:
    """Return the docnos as trec_eval ranks them: by score in single precision, ties by docno descending."""
    return sorted(scores, key=lambda docno: (float(np.float32(scores[docno])), docno), reverse=True)
