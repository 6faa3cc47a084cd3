"""Where a rater errs beside people or another rater: the confusion matrix, errors by group, all pairs of raters.

Computed in a worker and kept with the items of each cell, whose texts pages read when a cell is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlencode

import numpy as np
from django.db.models.functions import Coalesce, Length

from collection.models import Criterion, Item, Topic
from collection.splits import AskedPart
from collection.web.reports import NothingToReport
from collection.web.tables import Column, Table
from evaluation.agreement.errors.raters import RaterColumn, RaterNotFound, RatersTable, Side, raters_table
from evaluation.agreement.errors.serializers import PEOPLE
from evaluation.data.judge_pairs import IDS_AT_ONCE, batched
from evaluation.data.visibility import Visibility, tested_elsewhere
from stats.agreement.report import plain_grade
from stats.answers_in_words import direction_of_errors
from stats.completeness import complete_first
from stats.intervals import CELLS
from stats.judges.errors import Direction, ErrorGroup, RaterPair, direction_of, error_group, pairs_of_raters
from stats.ratings import MISSING, BoolArray, CodeArray, FloatArray, IntArray
from stats.refusals import Refused
from stats.votes import RULE_OF_PEOPLE

By = Literal["answers", "grades"]
ANSWERS = ("no", "yes")
UNGRADED = "ungraded"
# So many raters stand in the table of all pairs, those with most grades.
MOST_RATERS = 16
FEWEST_FOR_QUARTERS = 8
OTHER_SCALE = "the two grade on different scales"
NO_DIFFERENCES = "grades on a nominal scale have no difference"


GROUPS = (
    *(Column("by", "By"), Column("group", "Group"), Column("items", "Items", "count")),
    *(Column("errors", "Errors", "count"), Column("share_wrong", "Share of errors", "estimate", CELLS)),
    Column("mean_difference", "Mean difference", "estimate", CELLS),
)
PAIRS = (
    *(Column("rater", "Rater"), Column("other", "Other"), Column("items", "Items", "count")),
    *(Column("kappa", "κ", "estimate", CELLS), Column("same", "Graded alike", "estimate", CELLS)),
)


class NoSuchCell(Refused):
    """The confusion matrix has no row or column of this name."""


@dataclass(frozen=True)
class Cell:
    """Items with this expected and this given label, of `n_of_row` with the former."""

    expected: str
    given: str
    n: int
    n_of_row: int
    agrees: bool

    @property
    def share(self) -> float:
        return self.n / self.n_of_row if self.n_of_row else 0.0

    @property
    def query(self) -> str:
        """How an address names it."""
        return urlencode({"expected": self.expected, "given": self.given})


@dataclass(frozen=True)
class Raters:
    """All pairs of raters, the people first; `left_out`: how many stand in no pair because they graded least."""

    raters: tuple[RaterColumn, ...]
    pairs: tuple[RaterPair, ...]
    left_out: int

    @property
    def rows(self) -> list[tuple[RaterColumn, list[RaterPair | None]]]:
        """A row for each rater, with its pair with each; None with itself."""
        found = {frozenset((pair.first, pair.second)): pair for pair in self.pairs}
        places = range(len(self.raters))
        return [(self.raters[row], [found.get(frozenset((row, column))) for column in places]) for row in places]

    def name(self, place: int) -> str:
        return self.raters[place].name


@dataclass(frozen=True)
class Errors:
    """A rater beside what is expected.

    - `items`, `topics` (primary keys), `expected`, `given` (codes into the labels; given may be the last, ungraded),
      `wrong`, `hidden` (counted, but not shown: another study tests on their topics): of shape (items,);
    - `said`: the grades of `people`, of shape (items, people), NaN where none;
    - `expected_labels`, `given_labels`: what the matrix's rows and columns are called;
    - `n_tied`: on how many of the items people tie, so that their rule decides what is expected.
    """

    criterion: Criterion
    visibility: Visibility
    by: By
    rater: RaterColumn
    against: str
    choices: tuple[RaterColumn, ...]
    expected_labels: tuple[str, ...]
    given_labels: tuple[str, ...]
    items: IntArray
    topics: IntArray
    expected: IntArray
    given: IntArray
    wrong: BoolArray
    hidden: BoolArray
    people: tuple[str, ...]
    said: FloatArray
    n_tied: int
    direction: Direction
    groups: dict[str, tuple[ErrorGroup, ...]]
    raters: Raters
    simulated: bool

    @property
    def name(self) -> str:
        return self.rater.name

    @property
    def answer(self) -> str:
        """The answer of the page in one sentence."""
        return direction_of_errors(self.name, self.direction, reference=self.against)

    @property
    def reference(self) -> str:
        """What is expected, in words."""
        if self.against != PEOPLE:
            return self.against
        return f"people’s {RULE_OF_PEOPLE}" + ("" if self.rater.is_judge else f", without {self.name}")

    @property
    def matrix(self) -> list[tuple[str, list[Cell]]]:
        """The rows of the confusion matrix."""
        shape = (len(self.expected_labels), len(self.given_labels))
        counts = np.bincount(self.expected * shape[1] + self.given, minlength=shape[0] * shape[1]).reshape(shape)
        return [
            (
                row,
                [
                    Cell(row, column, int(counts[i, j]), int(counts[i].sum()), row == column)
                    for j, column in enumerate(self.given_labels)
                ],
            )
            for i, row in enumerate(self.expected_labels)
        ]

    def rows_of(self, *, expected: str = "", given: str = "") -> IntArray:
        """Return the places of a cell's items, or a row's or a column's; of all errors without either.

        Raises NoSuchCell for a label that is none.
        """
        if not expected and not given:
            return np.flatnonzero(self.wrong & ~self.hidden)
        chosen = ~self.hidden
        for label, labels, codes in (
            (expected, self.expected_labels, self.expected),
            (given, self.given_labels, self.given),
        ):
            if label and label not in labels:
                raise NoSuchCell(f"“{label}” is no row or column here. Choose one of: {', '.join(labels)}.")
            if label:
                chosen &= codes == labels.index(label)
        return np.flatnonzero(chosen)

    def as_dict(self) -> dict[str, Any]:
        """Return all figures, as API, command and download have them."""
        return {
            "study": self.criterion.study.name,
            "criterion": self.criterion.name,
            "rater": self.name,
            "against": self.against,
            "expected": self.reference,
            "by": self.by,
            "simulated": self.simulated,
            **self.rater.completeness.as_dict(),
            **self.visibility.as_dict(),
            "answer": self.answer,
            "n_tied": self.n_tied,
            "n_not_shown": int(self.hidden.sum()),
            "figures": self.direction.as_dict(),
            "confusion": {row: {cell.given: cell.n for cell in cells} for row, cells in self.matrix},
            "groups": {kind: [one.as_dict() for one in groups] for kind, groups in self.groups.items()},
            "pairs_of_raters": [
                {
                    "raters": [self.raters.name(pair.first), self.raters.name(pair.second)],
                    "n_items": pair.n,
                    "kappa": pair.kappa.as_dict(),
                    "same": pair.same.as_dict(),
                }
                for pair in self.raters.pairs
            ],
        }

    def tables(self) -> dict[str, Table]:
        """Return its tables by name."""
        beside = f"{self.name} beside {self.against}"
        given = [Column(f"given {label}", label, "count") for label in self.given_labels]
        groups = [
            [kind, one.name, one.n_items, one.n_wrong, one.wrong, one.difference]
            for kind, groups in self.groups.items()
            for one in groups
        ]
        pairs = [
            [*map(self.raters.name, (pair.first, pair.second)), pair.n, pair.kappa, pair.same]
            for pair in self.raters.pairs
        ]
        return {
            "confusion": Table.of(
                f"Confusion matrix: {beside}",
                [Column("expected", "Expected"), *given],
                [[row, *(cell.n for cell in cells)] for row, cells in self.matrix],
            ),
            "groups": Table.of(f"By group: {beside}", GROUPS, groups, long="figure"),
            "raters": Table.of("Pairs of raters", PAIRS, pairs, long="figure"),
        }


def measure_errors(
    criterion: Criterion, *, rater: str = "", against: str = PEOPLE, by: By = "answers", part: AskedPart = "development"
) -> Errors:
    """Return where a rater errs; without a name, the first judge, else the first assessor.

    Raises RaterNotFound, NothingToReport, NotSplit and TestPartLocked.
    """
    table = raters_table(criterion, part=part)
    examined = _examined(table, rater, against)
    expected_side, given_side = table.side(against, without=examined.name), table.side(examined.name)
    rows = np.flatnonzero(np.isfinite(expected_side.grades) & given_side.asked)
    same_scale = expected_side.scale == given_side.scale
    if by == "grades" and not same_scale:
        raise RaterNotFound(f"{OTHER_SCALE.capitalize()}: compare their answers, yes and no.")
    expected, expected_labels = _coded(expected_side, by, rows)
    given, given_labels = _coded(given_side, by, rows)
    ungraded = given == MISSING
    wrong = (given != expected) | ungraded
    topics = table.topics[rows]
    if by == "answers":
        differences, width = np.where(ungraded, np.nan, given.astype(np.float64) - expected), 1.0
    else:
        differences = given_side.grades[rows] - expected_side.grades[rows]
        width = max(given_side.scale) - min(given_side.scale)
    reason = NO_DIFFERENCES if by == "grades" and criterion.scale.level == "nominal" else ""
    told = _Told(wrong, differences, topics, width, reason)
    people = table.assessors
    return Errors(
        criterion=criterion,
        visibility=table.visibility,
        by=by,
        rater=examined,
        against=against,
        choices=tuple(complete_first(table.raters, of=lambda one: one.completeness)),
        expected_labels=expected_labels,
        given_labels=(*given_labels, UNGRADED),
        items=table.items[rows],
        topics=topics,
        expected=expected.astype(np.int64),
        given=np.where(ungraded, len(given_labels), given).astype(np.int64),
        wrong=wrong,
        hidden=_hidden(table, (examined, *_reference(table, against)), topics),
        people=tuple(table.names[column] for column in people),
        said=table.grades[np.ix_(rows, np.array(people, dtype=np.int64))],
        n_tied=int(expected_side.tied[rows].sum()),
        direction=direction_of(
            expected_side.yes[rows], given_side.yes[rows], np.isnan(given_side.grades[rows]), topics
        ),
        groups={
            "topic": _by_topic(told),
            "length": _by_length(told, table.items[rows]),
            "expected": _by_label(told, expected, expected_labels),
        },
        raters=_pairs(table, by),
        simulated=any(one.rater.simulated for one in (examined, *_reference(table, against))),
    )


def _examined(table: RatersTable, rater: str, against: str) -> RaterColumn:
    judges = complete_first((one for one in table.raters if one.is_judge), of=lambda one: one.completeness)
    others = [one for one in [*judges, *table.raters] if one.name != against]
    if not others:
        raise NothingToReport("Nobody has judged under this criterion yet, so nobody errs.")
    known = table.names
    for name, also in ((rater, ""), (against, PEOPLE)):
        if name and name != also and name not in known:
            locked = ", or its test topics are locked" if table.visibility.part == "test" else ""
            raise RaterNotFound(f"“{name}” has not judged here{locked}. Choose one of: {', '.join(known)}.")
    if rater and rater == against:
        raise RaterNotFound(f"Choose two raters: “{rater}” agrees with itself.")
    return next(one for one in table.raters if one.name == rater) if rater else others[0]


def _reference(table: RatersTable, against: str) -> list[RaterColumn]:
    return [one for one in table.raters if (not one.is_judge if against == PEOPLE else one.name == against)]


def _hidden(table: RatersTable, sides: Sequence[RaterColumn], topics: IntArray) -> BoolArray:
    if table.visibility.part == "test" or not any(one.is_judge for one in sides):
        return np.zeros(len(topics), dtype=bool)
    return np.isin(topics, list(tested_elsewhere(table.criterion.study)))


def _coded(side: Side, by: By, rows: IntArray) -> tuple[CodeArray, tuple[str, ...]]:
    """Return a side's codes, MISSING where ungraded, and what they stand for."""
    grades = side.grades[rows]
    if by == "answers":
        return np.where(np.isnan(grades), MISSING, side.yes[rows]).astype(np.int16), ANSWERS
    there = sorted({*side.scale, *np.unique(grades[np.isfinite(grades)]).tolist()})
    codes = np.searchsorted(there, np.nan_to_num(grades, nan=there[0]))
    labels = tuple(str(plain_grade(grade)) for grade in there)
    return np.where(np.isnan(grades), MISSING, codes).astype(np.int16), labels


@dataclass(frozen=True)
class _Told:
    """What the groups are made of, all of shape (items,)."""

    wrong: BoolArray
    differences: FloatArray
    topics: IntArray
    width: float
    reason: str

    def group(self, name: str, rows: BoolArray | IntArray) -> ErrorGroup:
        return error_group(
            name,
            self.wrong[rows],
            self.differences[rows],
            self.topics[rows],
            width=self.width,
            reason=self.reason,
        )


def _by_topic(told: _Told) -> tuple[ErrorGroup, ...]:
    """By topic, those with the largest share of errors first."""
    order = np.argsort(told.topics, kind="stable")
    keys, begins = np.unique(told.topics[order], return_index=True)
    names: dict[int, str] = {}
    for some in batched(keys.tolist(), IDS_AT_ONCE):
        names |= dict(Topic.objects.filter(pk__in=some).values_list("pk", "topic_id"))
    rows_of_topics = np.split(order, begins[1:]) if len(keys) else []
    groups = [told.group(names[key], rows) for key, rows in zip(keys.tolist(), rows_of_topics, strict=True)]
    return tuple(sorted(groups, key=lambda one: (-(one.wrong.value or 0.0), -one.n_items, one.name)))


def _by_label(told: _Told, codes: CodeArray, labels: Sequence[str]) -> tuple[ErrorGroup, ...]:
    return tuple(told.group(label, codes == code) for code, label in enumerate(labels) if (codes == code).any())


def _by_length(told: _Told, items: IntArray) -> tuple[ErrorGroup, ...]:
    """By quarters of the judged texts' lengths, in characters; none where few texts are held here."""
    found: dict[int, int | None] = {}
    length = Coalesce(Length("report__text"), Length("passage__text"))
    for some in batched(items.tolist(), IDS_AT_ONCE):
        found |= dict(Item.objects.filter(pk__in=some).values_list("pk", length))
    lengths = np.array([found.get(item) or np.nan for item in items.tolist()], dtype=np.float64)
    known = lengths[np.isfinite(lengths)]
    if len(np.unique(known)) < FEWEST_FOR_QUARTERS:
        return ()
    quarters = np.array([0.25, 0.5, 0.75, 1.0])
    ends: list[float] = np.unique(np.quantile(known, quarters, method="inverted_cdf")).tolist()
    begins = [float(known.min()), *(end + 1 for end in ends[:-1])]
    groups = []
    for begin, end in zip(begins, ends, strict=True):
        rows = (lengths >= begin) & (lengths <= end)
        if rows.any():
            groups.append(told.group(f"{begin:,.0f} to {end:,.0f} characters", rows))
    return tuple(groups)


def _pairs(table: RatersTable, by: By) -> Raters:
    """Compare all raters with one another; by grades, those on people's scale."""
    fitting = [column for column, one in enumerate(table.raters) if by == "answers" or one.same_scale]
    counts = np.isfinite(table.grades).sum(axis=0)
    kept = sorted(sorted(fitting, key=lambda column: -counts[column])[:MOST_RATERS])
    kept.sort(key=lambda column: table.raters[column].is_judge)
    every = np.arange(len(table.items))
    if by == "answers":
        codes = [_coded(table.side(table.names[column]), by, every)[0] for column in kept]
        n_grades = 2
    else:
        grades = table.grades[:, kept]
        there = np.unique(np.concatenate([grades[np.isfinite(grades)], np.array(table.criterion.scale.values, float)]))
        placed = np.searchsorted(there, np.nan_to_num(grades, nan=there[0]))
        codes = list(np.where(np.isnan(grades), MISSING, placed).astype(np.int16).T)
        n_grades = len(there)
    pairs = pairs_of_raters(codes, n_grades, table.topics)
    return Raters(tuple(table.raters[column] for column in kept), tuple(pairs), len(fitting) - len(kept))
