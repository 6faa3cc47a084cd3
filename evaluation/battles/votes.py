"""The votes of a study's battles, as people and judges gave them, each with its sides where they are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import QuerySet

from collection.judgments.rater_names import distinct_names
from collection.judgments.unaided import as_said_unaided
from collection.models import Criterion, Judgment, PairOrder, Rater, Study
from collection.models.studies import TaskType
from evaluation.data.visibility import Visibility
from stats.ranking.battles.bradley_terry_fit import Votes
from stats.ratings import FloatArray

PEOPLE = "people"


@dataclass(frozen=True)
class Voters:
    """All people together, or one judge."""

    name: str
    raters: tuple[Rater, ...]

    @property
    def is_judge(self) -> bool:
        return self.raters[0].kind == Rater.Kind.JUDGE

    @property
    def simulated(self) -> bool:
        return any(rater.simulated for rater in self.raters)


def battle_criterion(study: Study) -> Criterion | None:
    """Return what is asked of the study's battles, or nothing where it has none."""
    return study.criteria.filter(task_type=TaskType.BATTLE).select_related("study__collection", "scale").first()


def voters_of(criterion: Criterion) -> list[Voters]:
    """Return who voted: people first, then judges by name. The excluded are left out, and votes that a judge aided."""
    judged = counted_votes(criterion)
    raters = list(Rater.objects.filter(pk__in=judged.values("rater")).order_by("name", "pk"))
    people = tuple(rater for rater in raters if rater.kind == Rater.Kind.ASSESSOR)
    judges = [rater for rater in raters if rater.kind == Rater.Kind.JUDGE]
    named = [Voters(name, (judge,)) for name, judge in zip(distinct_names(judges), judges, strict=True)]
    return [Voters(PEOPLE, people), *named] if people else named


def votes_of(criterion: Criterion, voters: Voters, visibility: Visibility, systems: Sequence[str]) -> Votes:
    """Return the votes on the visible topics, by the places of `systems`.

    A person's vote is their judgment, or what they had said before they saw a judge's. A judge's is each order in which
    it saw the pair, as it read it then; where no order is stored, its judgment, whose sides are unknown.
    """
    place = {system: number for number, system in enumerate(systems)}
    rows = list(_rows(criterion, voters, visibility))
    numbers = np.array(
        [
            (place[first], place[second], topic, rater, swapped is not None)
            for first, second, topic, rater, swapped, _ in rows
        ],
        dtype=np.int64,
    ).reshape(-1, 5)
    grades: FloatArray = np.array([np.nan if grade is None else grade for *_, grade in rows], dtype=np.float64)
    swapped = np.array([row[4] is True for row in rows], dtype=bool)
    first, second = numbers[:, 0], numbers[:, 1]
    return Votes(
        systems=tuple(systems),
        left=np.where(swapped, second, first),
        right=np.where(swapped, first, second),
        outcome=(1 + np.where(swapped, -grades, grades)) / 2,
        topic=numbers[:, 2],
        rater=numbers[:, 3],
        sided=numbers[:, 4].astype(bool),
    )


def counted_votes(criterion: Criterion) -> QuerySet[Any]:
    """Return the judgments that are votes, with their `unaided_grade`: not the excluded's, nor what a judge aided."""
    return as_said_unaided(Judgment.objects.filter(criterion=criterion).without_the_excluded())


Row = tuple[str, str, int, int, bool | None, float | None]


def _rows(criterion: Criterion, voters: Voters, visibility: Visibility) -> Iterator[Row]:
    """Yield the first and the second system, the topic, the rater, whether the sides were swapped, and the grade."""
    items = visibility.of(criterion.study.items.filter(task_type=TaskType.BATTLE))
    given = counted_votes(criterion).filter(rater__in=voters.raters, item__in=items)
    orders: dict[int, list[tuple[bool, float | None]]] = {}
    seen = PairOrder.objects.filter(judgment__in=given).order_by("pk")
    for judgment, swapped, grade in seen.values_list("judgment", "swapped", "grade"):
        orders.setdefault(judgment, []).append((swapped, grade))
    fields = ("pk", "item__report__run__name", "item__other_report__run__name", "item__topic", "rater", "unaided_grade")
    for pk, first, second, topic, rater, grade in given.order_by("pk").values_list(*fields):
        if pk not in orders:
            yield first, second, topic, rater, None, grade
        for swapped, said in orders.get(pk, ()):
            yield first, second, topic, rater, swapped, said if voters.is_judge else grade
