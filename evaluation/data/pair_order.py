"""On which side people and judges look when they compare two answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import QuerySet

from collection.judgments.rater_names import distinct_names
from collection.judgments.unaided import as_said_unaided
from collection.models import Criterion, Judgment, PairOrder, Rater
from collection.questions.shapes import TASK_TYPES
from stats.judges.bias import PositionBias, SideChoice, position_bias, side_choice

NO_PAIRS = "it does not compare pairs of answers"
NO_ORDERS = "the order in which it saw the pairs is not stored"
EVERYBODY = "all people"


@dataclass(frozen=True)
class PositionAudit:
    """A judge's: `both` over pairs that it saw in both orders, `once` over those in one; `reason` where neither."""

    both: PositionBias | None
    once: SideChoice | None
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return what there is of it."""
        if self.reason:
            return {"value": None, "reason": self.reason}
        return {
            "both_orders": _both_as_dict(self.both) if self.both else None,
            "one_order": side_as_dict(self.once) if self.once else None,
        }


@dataclass(frozen=True)
class PersonSide:
    """How often one person, or everybody, prefers what stands on the left."""

    name: str
    choice: SideChoice


@dataclass(frozen=True)
class _Shown:
    """A pair as a rater saw it: 1 where the first shown is preferred, 0 the second, ½ neither, NaN ungraded."""

    item: int
    topic: int
    rater: int
    swapped: bool
    prefers_first: float


def audit_position(criterion: Criterion, judge: Rater, *, topics: Collection[int] | None = None) -> PositionAudit:
    """Return on which side the judge looks under this criterion; on these topics, by primary key, if they are named."""
    if not _compares(criterion):
        return PositionAudit(None, None, NO_PAIRS)
    orders = PairOrder.objects.filter(judgment__criterion=criterion, judgment__rater=judge)
    shown = [one for one in _shown(orders, {}) if topics is None or one.topic in topics]
    by_item: dict[int, dict[bool, _Shown]] = defaultdict(dict)
    for one in shown:
        by_item[one.item][one.swapped] = one
    both = [orders for orders in by_item.values() if len(orders) == 2]
    once = [one for orders in by_item.values() if len(orders) == 1 for one in orders.values()]
    if not shown:
        return PositionAudit(None, None, NO_ORDERS)
    return PositionAudit(_over_both(both) if both else None, _over_one(once) if once else None)


def people_sides(criterion: Criterion) -> list[PersonSide]:
    """Return how often each person, and all of them together, prefer the left; nothing for other tasks than pairs."""
    if not _compares(criterion):
        return []
    judgments = Judgment.objects.filter(criterion=criterion, rater__kind=Rater.Kind.ASSESSOR).without_the_excluded()
    given = as_said_unaided(judgments)
    orders = PairOrder.objects.filter(judgment__in=given)
    people = list(Rater.objects.filter(pk__in=orders.values("judgment__rater")).order_by("pk"))
    shown = _shown(orders, dict(given.values_list("pk", "unaided_grade")))
    found = [PersonSide(EVERYBODY, _over_one(shown))] if shown else []
    by_rater: dict[int, list[_Shown]] = defaultdict(list)
    for one in shown:
        by_rater[one.rater].append(one)
    named = zip(people, distinct_names(people), strict=True)
    return found + [PersonSide(name, _over_one(by_rater[person.pk])) for person, name in named]


def _compares(criterion: Criterion) -> bool:
    return TASK_TYPES[criterion.task_type].text == "pair"


def _shown(orders: QuerySet[PairOrder], grades: Mapping[int, float | None]) -> list[_Shown]:
    """Return the pairs as they were seen: by judgment the grade where `grades` has it, else what was said then."""
    fields = ("judgment", "judgment__item", "judgment__item__topic", "judgment__rater", "swapped", "grade")
    return [
        _Shown(item, topic, rater, swapped, _prefers_first(grades.get(judgment, grade), swapped))
        for judgment, item, topic, rater, swapped, grade in orders.order_by("pk").values_list(*fields)
    ]


def _prefers_first(grade: float | None, swapped: bool) -> float:
    return np.nan if grade is None else (1 + (-grade if swapped else grade)) / 2


def _over_both(pairs: Iterable[dict[bool, _Shown]]) -> PositionBias:
    """A judge's bias over pairs in both orders; `position_bias` wants to know how often the item's report won."""
    listed = list(pairs)
    as_given = np.array([orders[False].prefers_first for orders in listed])
    turned = np.array([1 - orders[True].prefers_first for orders in listed])
    return position_bias(as_given, turned, _topics([orders[False] for orders in listed]))


def _over_one(shown: Sequence[_Shown]) -> SideChoice:
    return side_choice(
        np.array([one.prefers_first for one in shown]),
        np.array([one.swapped for one in shown], dtype=bool),
        _topics(shown),
    )


def _topics(shown: Sequence[_Shown]) -> Any:
    """Return the pairs' topics where a topic has several, for pairs of one are not independent."""
    topics = np.array([one.topic for one in shown], dtype=np.int64)
    return topics if 1 < len(np.unique(topics)) < len(topics) else None


def side_as_dict(choice: SideChoice) -> dict[str, Any]:
    """Return P(first) with its interval and the counts."""
    counts = {name: getattr(choice, name) for name in ("n_pairs", "n_swapped", "n_ties", "n_ungraded")}
    return {"first": choice.first.as_dict(), **counts}


def _both_as_dict(bias: PositionBias) -> dict[str, Any]:
    names = ("consistent", "n_pairs", "n_first_twice", "n_second_twice", "n_ungraded")
    return {"towards_first": bias.towards_first.as_dict(), **{name: getattr(bias, name) for name in names}}
