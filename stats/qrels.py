"""Several raters' grades made into the lines of a qrels file, and how much of a ranking the lines cover.

Knows no Django. A line is `topic 0 docno grade`. A text with several rubric elements gets the highest grade of any
(the rule of RUBRIC: Farzi and Dietz, 2024), or, element by element, a topic of its own for each: `topic/element`.
What has no grade is left out and counted; it never becomes 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, NamedTuple

import numpy as np

from stats.agreement.aggregation import Aggregate, dawid_skene_of_codes, majority, median
from stats.ratings import MISSING, FloatArray, IntArray
from stats.refusals import Refused
from stats.votes import TIES, TIES_OF_PEOPLE, Ties

Combine = Literal["majority", "median", "highest", "votes", "dawid_skene"]
COMBINES: dict[Combine, str] = {
    "majority": "the grade that most of them gave",
    "median": "the median grade",
    "highest": "the highest grade",
    "votes": "the highest grade that at least so many of them reach (minimum votes)",
    "dawid_skene": "the most probable grade, given each rater’s estimated errors (Dawid and Skene, 1979)",
}


class QrelsRefused(Refused):
    """These judgments cannot be written as qrels; the message says why and how to mend it."""


@dataclass(frozen=True)
class Rule:
    """How judgments become labels.

    An item needs `fewest_raters` grades. From `binary_at` on, a label is 1, below it 0; without it, labels are grades.
    By `votes`, the label is the highest grade that at least `votes` raters reach; with `binary_at`, m of r decide.
    With `adjudicated`, what a third person decided about an item counts instead of what people's grades combine to.
    """

    combine: Combine = "majority"
    ties: Ties = TIES_OF_PEOPLE
    votes: int = 2
    fewest_raters: int = 1
    binary_at: float | None = None
    per_element: bool = False
    adjudicated: bool = False

    @classmethod
    def chosen_by(cls, options: Mapping[str, Any]) -> Rule:
        """Return the rule that a form, a query or a command's options choose; what they leave out is as usual."""
        given = {field.name: options.get(field.name) for field in fields(cls)}
        return cls(**{name: value for name, value in given.items() if value is not None})

    @property
    def needed(self) -> int:
        """How many grades an item needs: fewer people than votes could not decide."""
        return max(self.fewest_raters, self.votes) if self.combine == "votes" else self.fewest_raters

    def in_words(self, n_raters: int) -> dict[str, str]:
        """Return what a reader of the provenance needs to know of it."""
        ties = "" if self.combine in ("highest", "votes") else f", {TIES[self.ties]}"
        votes = f"the highest grade that at least {self.votes} of them reach"
        several = votes if self.combine == "votes" else f"{COMBINES[self.combine]}{ties}"
        return {
            "raters": several if n_raters > 1 else "the one rater's grade",
            "fewest_raters": f"at least {self.needed} an item",
            "grades": "as on the scale" if self.binary_at is None else f"1 from {self.binary_at:g} up, else 0",
            "elements": "one topic per rubric element: topic/element" if self.per_element else "the highest of any",
            "docno": "the passage's id, or the run of the report",
            **({"disagreements": "adjudicated grades count instead"} if self.adjudicated else {}),
        }


def asked_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what qrels are compiled by, of what a form, a query or a command's options choose."""
    return {
        "raters": options["rater"],
        "with_simulated": options.get("with_simulated", False),
        "names": options["names"],
        "rule": asdict(Rule.chosen_by(options)),
        **({"gold": options["gold"]} if options.get("gold") else {}),
    }


class LabelPlace(NamedTuple):
    """Where an item's grade goes. An item without a rubric element has None for it."""

    topic: str
    element: str | None
    docno: str


@dataclass(frozen=True)
class Places:
    """Where items' grades go, as numbers into names, for there may be millions; element −1 is none.

    No two topics have one name, and no two docnos.
    """

    topics: Sequence[str]
    elements: Sequence[str]
    docnos: Sequence[str]
    topic: IntArray
    element: IntArray
    docno: IntArray

    @classmethod
    def of(cls, places: Iterable[LabelPlace]) -> Places:
        """Return the same places as numbers."""
        names: tuple[dict[str, int], ...] = ({}, {}, {})
        rows = [
            (
                names[0].setdefault(place.topic, len(names[0])),
                -1 if place.element is None else names[1].setdefault(place.element, len(names[1])),
                names[2].setdefault(place.docno, len(names[2])),
            )
            for place in places
        ]
        topic, element, docno = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        topics, elements, docnos = (tuple(of) for of in names)
        return cls(topics, elements, docnos, topic, element, docno)

    def labelled_topics(self, rows: IntArray, *, per_element: bool) -> tuple[list[str], IntArray]:
        """Return the topics of a file with these items, and each item's among them. Raises QrelsRefused."""
        pairs = self.topic[rows] * (len(self.elements) + 1)
        pairs += self.element[rows] + 1 if per_element else 0
        distinct, places = np.unique(pairs, return_inverse=True)
        names: dict[str, int] = {}
        numbers = []
        for topic, element in zip(*(of.tolist() for of in np.divmod(distinct, len(self.elements) + 1)), strict=True):
            name = _word(self.topics[topic], "topic")
            if element:
                name = _word(f"{name}/{self.elements[element - 1]}", "topic")
            numbers.append(names.setdefault(name, len(names)))
        return list(names), np.array(numbers, dtype=np.int64)[places.ravel()]


@dataclass(frozen=True)
class QrelsLabels:
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
    n_adjudicated: int = 0

    @property
    def text(self) -> str:
        """The file."""
        return "".join(f"{line}\n" for line in self.lines)

    def by_pair(self) -> dict[tuple[str, str], int]:
        """Return the labels by topic and docno."""
        words = (line.split() for line in self.lines)
        return {(topic, docno): int(grade) for topic, _, docno, grade in words}

    def counts(self) -> dict[str, Any]:
        """Return what the provenance says of it. `tied_items` counts ties, however they were settled."""
        return {
            "lines": len(self.lines),
            "topics": self.n_topics,
            "items": self.n_items,
            "ungraded_items": self.n_ungraded,
            "items_with_too_few_raters": self.n_too_few,
            "tied_items": self.n_tied,
            "adjudicated_items": self.n_adjudicated,
            "lines_by_grade": {str(grade): n for grade, n in self.by_grade.items()},
        }


def label(
    places: Places, grades: FloatArray, scale: FloatArray, rule: Rule, *, decided: FloatArray | None = None
) -> QrelsLabels:
    """Return the labels of the items at these places. Raises QrelsRefused.

    `grades` has the shape items × raters, NaN where a rater gave none; `scale` has all grades, lowest first.
    `decided` has what counts instead of an item's grades, NaN where nothing was decided.
    """
    n = (~np.isnan(grades)).sum(axis=1)
    combined = combine_grades(grades, scale, rule)
    counting = combined.grades if decided is None else np.where(np.isnan(decided), combined.grades, decided)
    rows = np.flatnonzero(np.isfinite(counting))
    values = _values(counting[rows], rule)
    topics, topic = places.labelled_topics(rows, per_element=rule.per_element)
    docno = places.docno[rows]
    for used in np.unique(docno).tolist():
        _word(places.docnos[used], "document")
    pairs, which = np.unique(topic * max(len(places.docnos), 1) + docno, return_inverse=True)
    highest = np.full(len(pairs), np.iinfo(np.int64).min)
    np.maximum.at(highest, which.ravel(), values)
    of_topic, of_docno = np.divmod(pairs, max(len(places.docnos), 1))
    order = np.lexsort((_ranks(places.docnos)[of_docno], _ranks(topics)[of_topic]))
    lines = zip(of_topic[order].tolist(), of_docno[order].tolist(), highest[order].tolist(), strict=True)
    grades_given, times = np.unique(highest, return_counts=True)
    return QrelsLabels(
        lines=tuple(f"{topics[one]} 0 {places.docnos[other]} {value}" for one, other, value in lines),
        by_grade=dict(zip(grades_given.tolist(), times.tolist(), strict=True)),
        judged=_judged(places, rows),
        n_topics=len(topics),
        n_items=len(rows),
        n_ungraded=int((n == 0).sum()),
        n_too_few=int(((n > 0) & (n < rule.needed)).sum()),
        n_tied=combined.n_tied,
        n_adjudicated=0 if decided is None else int(np.isfinite(decided).sum()),
    )


def marked_labels(marked: Mapping[str, Set[str]]) -> QrelsLabels:
    """Return label 1 for each of these docnos, by topic: what was marked without being judged. Raises QrelsRefused."""
    pairs = [
        (_word(topic, "topic"), _word(docno, "document")) for topic in sorted(marked) for docno in sorted(marked[topic])
    ]
    return QrelsLabels(
        lines=tuple(f"{topic} 0 {docno} 1" for topic, docno in pairs),
        by_grade={1: len(pairs)},
        judged={topic: set(docnos) for topic, docnos in marked.items()},
        n_topics=len(marked),
        n_items=len(pairs),
        n_ungraded=0,
        n_too_few=0,
        n_tied=0,
    )


def combine_grades(grades: FloatArray, scale: FloatArray, rule: Rule) -> Aggregate:
    """Make one grade an item of grades of the shape items × raters. Raises QrelsRefused."""
    if min(rule.fewest_raters, rule.votes) < 1:
        raise QrelsRefused(f"At least one rater is needed for a grade, not {min(rule.fewest_raters, rule.votes)}.")
    if rule.combine == "majority":
        return majority(grades, ties=rule.ties, fewest_raters=rule.fewest_raters)
    if rule.combine == "median":
        return median(grades, ties=rule.ties, fewest_raters=rule.fewest_raters)
    enough = (~np.isnan(grades)).sum(axis=1) >= rule.needed
    combined = np.full(len(grades), np.nan)
    n_tied = 0
    if rule.combine == "highest":
        combined[enough] = np.nanmax(grades[enough], axis=1) if enough.any() else np.nan
    elif rule.combine == "votes":
        # NaN sorts behind all grades, so with enough of them the m-th highest of n stands at place n − m.
        ordered, n = np.sort(grades[enough], axis=1), (~np.isnan(grades[enough])).sum(axis=1)
        combined[enough] = np.take_along_axis(ordered, (n - rule.votes)[:, None], axis=1)[:, 0]
    elif enough.any():
        codes = np.where(np.isnan(grades[enough]), MISSING, np.searchsorted(scale, grades[enough])).astype(np.int16)
        likely = dawid_skene_of_codes(codes, n_grades=len(scale)).grades(ties=rule.ties)
        decided = np.isfinite(likely.grades)
        of_enough = np.full(len(likely.grades), np.nan)
        of_enough[decided] = scale[likely.grades[decided].astype(np.int64)]
        combined[enough], n_tied = of_enough, likely.n_tied
    return Aggregate(combined, int((~enough).sum()), n_tied)


def _values(grades: FloatArray, rule: Rule) -> IntArray:
    if rule.binary_at is not None:
        return (grades >= rule.binary_at).astype(np.int64)
    broken = grades[grades != np.floor(grades)]
    if len(broken):
        raise QrelsRefused(f"Qrels hold whole numbers, and {broken[0]:g} is none. Choose a threshold for 0 and 1.")
    return grades.astype(np.int64)


def _ranks(names: Sequence[str]) -> IntArray:
    """Return each name's place among them in the order of code points."""
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks


def _judged(places: Places, rows: IntArray) -> dict[str, set[str]]:
    """Return the docnos of each topic that these items label."""
    n_docnos = max(len(places.docnos), 1)
    judged: dict[str, set[str]] = {}
    for topic, docno in zip(
        *(of.tolist() for of in np.divmod(np.unique(places.topic[rows] * n_docnos + places.docno[rows]), n_docnos)),
        strict=True,
    ):
        judged.setdefault(places.topics[topic], set()).add(places.docnos[docno])
    return judged


def _word(name: str, what: str) -> str:
    """Return the id if a line of qrels can hold it."""
    if not name or any(character.isspace() for character in name):
        raise QrelsRefused(f"The {what} id “{name}” has white space in it, and qrels are read word by word. Rename it.")
    return name


@dataclass(frozen=True)
class Unjudged:
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


def find_unjudged(
    run: str, rankings: Mapping[str, Sequence[str]], judged: Mapping[str, Set[str]], *, k: int
) -> Unjudged:
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
    return Unjudged(run, k, len(shares), n_other, n_ranked, mean, tuple(unjudged))
