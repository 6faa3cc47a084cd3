"""Everybody's grades under a criterion in one table, as far as the reader may see them: what errors are read from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from collection.models import Criterion, Rater
from collection.splits import AskedPart
from evaluation.agreement.errors.serializers import PEOPLE
from evaluation.data.judge_pairs import versions_of
from evaluation.data.judgments import CriterionRatings, completeness_of, load_criterion
from evaluation.data.visibility import Visibility, parts_of, visibility_of
from stats.completeness import UNMARKED, Completeness
from stats.ratings import BoolArray, FloatArray, IntArray, grades_of, majority, tied
from stats.refusals import Refused


class RaterNotFound(Refused):
    """Nobody of this name judged under the criterion, or nobody else did."""


@dataclass(frozen=True)
class RaterColumn:
    """A rater as it is called here: its criterion, whether that is people's scale, and its threshold."""

    rater: Rater
    name: str
    criterion: Criterion
    same_scale: bool
    completeness: Completeness = UNMARKED

    @property
    def is_judge(self) -> bool:
        return self.rater.kind == Rater.Kind.JUDGE


@dataclass(frozen=True)
class Side:
    """What one side says of all items, all of shape (items,): NaN where it gave no grade.

    `asked`: where it was to give one; `tied`: where people tie, so that the rule decides.
    """

    name: str
    grades: FloatArray
    asked: BoolArray
    at: float
    scale: tuple[float, ...]
    tied: BoolArray

    @property
    def yes(self) -> BoolArray:
        found: BoolArray = self.grades >= self.at
        return found


@dataclass(frozen=True)
class RatersTable:
    """Items by raters, of the visible topics.

    `grades` and `asked` have the shape (items, raters); `items` and `topics` hold primary keys; `people` is what
    `load_criterion` has of the assessors.
    """

    criterion: Criterion
    visibility: Visibility
    raters: tuple[RaterColumn, ...]
    items: IntArray
    topics: IntArray
    grades: FloatArray
    asked: BoolArray
    people: CriterionRatings

    @property
    def assessors(self) -> list[int]:
        """The columns of people."""
        return [column for column, one in enumerate(self.raters) if not one.is_judge]

    @cached_property
    def names(self) -> list[str]:
        return [one.name for one in self.raters]

    def side(self, name: str, *, without: str = "") -> Side:
        """Return what the rater of this name says, or people by their majority; not counting `without` among these."""
        if name == PEOPLE:
            return self._people(without)
        column = self.names.index(name)
        one = self.raters[column]
        scale = tuple(map(float, one.criterion.scale.values))
        grades = self.grades[:, column]
        return Side(name, grades, self.asked[:, column], one.criterion.threshold, scale, np.zeros(len(grades), bool))

    def _people(self, without: str) -> Side:
        columns = self.people.columns(Rater.Kind.ASSESSOR)
        names = [str(self.people.ratings.raters[column]) for column in columns]
        ratings = self.people.ratings.of_raters(
            [column for column, name in zip(columns, names, strict=True) if name != without]
        )
        places = np.searchsorted(self.items, np.asarray(ratings.items, dtype=np.int64))
        grades, ties = np.full(len(self.items), np.nan), np.zeros(len(self.items), bool)
        ties[places] = tied(ratings)
        grades[places] = grades_of(majority(ratings), ratings.numbers)
        scale = tuple(map(float, self.criterion.scale.values))
        return Side(PEOPLE, grades, np.isfinite(grades), self.criterion.threshold, scale, ties)


def raters_table(criterion: Criterion, *, part: AskedPart = "development") -> RatersTable:
    """Read everybody's grades. Where the study is split and judges graded: of one part, as `visibility_of` says.

    Judges under a graded version of people's yes or no are there too, by their own scale. Raises NotSplit and
    TestPartLocked.
    """
    versions = versions_of(load_criterion(criterion))
    judges = {rater.pk: rater for one in versions for rater in one.raters if rater.kind == Rater.Kind.JUDGE}
    visibility = visibility_of(parts_of(criterion.study), judges.values(), part=part)
    versions = tuple(map(visibility.of_ratings, versions))
    chosen = [
        (one, column)
        for one in versions
        for column, rater in enumerate(one.raters)
        if rater.pk not in visibility.hidden and (one is versions[0] or rater.kind == Rater.Kind.JUDGE)
    ]
    items = np.unique(np.concatenate([np.asarray(one.ratings.items, dtype=np.int64) for one in versions]))
    topics = np.zeros(len(items), dtype=np.int64)
    grades = np.full((len(items), len(chosen)), np.nan)
    asked = np.zeros(grades.shape, dtype=bool)
    for one in versions:
        assert one.ratings.topics is not None  # load_criterion
        topics[_places(items, one)] = one.topic_ids[one.ratings.topics]
    for place, (one, column) in enumerate(chosen):
        rows = _places(items, one)
        grades[rows, place] = grades_of(one.ratings.codes[:, column], one.ratings.numbers)
        asked[rows, place] = one.asked[:, column]
    known = completeness_of(criterion.study, visibility.side)
    raters = [
        RaterColumn(
            rater := one.raters[column],
            str(one.ratings.raters[column]),
            one.criterion,
            one is versions[0],
            known.of(one.criterion.pk, rater.pk) if rater.kind == Rater.Kind.JUDGE else UNMARKED,
        )
        for one, column in chosen
    ]
    return RatersTable(criterion, visibility, _told_apart(raters), items, topics, grades, asked, versions[0])


def _places(items: IntArray, one: CriterionRatings) -> IntArray:
    return np.searchsorted(items, np.asarray(one.ratings.items, dtype=np.int64))


def _told_apart(raters: list[RaterColumn]) -> tuple[RaterColumn, ...]:
    """Name the criterion with a judge that graded under several, and whoever is called as people's majority is."""
    names = [one.name for one in raters]
    return tuple(
        one if names.count(one.name) == 1 and one.name != PEOPLE else replace(one, name=f"{one.name} ({one.criterion})")
        for one in raters
    )
