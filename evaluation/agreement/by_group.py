"""Agreement among people by group: topic, domain, wave, guideline version, and what they were sure of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from collection.models import Criterion, Draw, Item, Judgment, Rater
from evaluation.data.judgments import CriterionRatings
from stats.agreement.report import group_statistics
from stats.pattern_intervals import Estimate
from stats.ratings import MISSING, BoolArray, Ratings, count_patterns

SUMMARY = ("percent_agreement", "fleiss_kappa", "gwet_ac1")
# A topic attribute with more values than these tells items apart, it does not group them.
MOST_GROUPS = 30


@dataclass(frozen=True)
class Group:
    """Some of the items: how many, and how far people agree on them."""

    name: str
    n_items: int
    n_ratings: int
    statistics: Mapping[str, Estimate]


@dataclass(frozen=True)
class Breakdown:
    """The items grouped by one thing; `reason` says why there are no groups."""

    name: str
    groups: tuple[Group, ...]
    reason: str = ""


def by_everything(judged: CriterionRatings, people: Ratings) -> tuple[Breakdown, ...]:
    """Return agreement by topic, each attribute of topics, wave and guideline version, and without unsure grades."""
    criterion = judged.criterion
    by_label = (_by_guideline(judged, people), _by_sureness(judged, people))
    return (*_by_places(criterion, people), _by_wave(criterion, people), *by_label)


def _group(name: str, ratings: Ratings) -> Group:
    """Measure one group. Within one topic the items are resampled, for there are no topics to resample."""
    if ratings.topics is not None and len(np.unique(ratings.topics)) < 2:
        ratings = replace(ratings, topics=None)
    found = group_statistics(count_patterns(ratings), ratings)
    return Group(name, int(ratings.graded.sum()), ratings.n_ratings, found)


def _grouped(name: str, keys: list[str], ratings: Ratings) -> Breakdown:
    places: dict[str, list[int]] = defaultdict(list)
    for row, key in enumerate(keys):
        places[key].append(row)
    return Breakdown(
        name, tuple(_group(key, ratings.of_items(np.asarray(rows))) for key, rows in sorted(places.items()))
    )


def _by_places(criterion: Criterion, people: Ratings) -> list[Breakdown]:
    """By topic, and by every attribute of topics that groups them: a domain, say."""
    topics = {
        pk: (topic_id, attributes)
        for pk, topic_id, attributes in criterion.study.collection.topics.values_list("pk", "topic_id", "attributes")
    }
    items = Item.objects.filter(study=criterion.study_id, task_type=criterion.task_type)
    topic_of = dict(items.values_list("pk", "topic__pk"))
    mine = [topics[topic_of[pk]] for pk in people.items]
    found = [_grouped("topic", [topic_id for topic_id, _ in mine], people)]
    names = sorted({name for _, attributes in topics.values() for name in attributes})
    for name in names:
        values = [attributes.get(name) for _, attributes in mine]
        if all(isinstance(value, Hashable) for value in values) and 1 < len(set(values)) <= MOST_GROUPS:
            found.append(_grouped(name, ["none" if value is None else str(value) for value in values], people))
    return found


def _by_wave(criterion: Criterion, people: Ratings) -> Breakdown:
    """By when and for what items were drawn."""
    draws = Draw.objects.filter(item__study=criterion.study_id, item__task_type=criterion.task_type).order_by("pk")
    wave_of = {
        item: f"{at:%Y-%m-%d %H:%M}, {Draw.Purpose(purpose).label}"
        for item, purpose, at in draws.values_list("item", "purpose", "drawn_at")
    }
    keys = [wave_of.get(pk, "never drawn") for pk in people.items]
    if len(set(keys)) < 2:
        return Breakdown("wave", (), "all of these items were drawn at once, or none were")
    return _grouped("wave", keys, people)


def _by_guideline(judged: CriterionRatings, people: Ratings) -> Breakdown:
    """By the version of the guidelines under which judgments were made: an item may have some of each."""
    labels = Judgment.objects.filter(criterion=judged.criterion, rater__kind=Rater.Kind.ASSESSOR).without_the_excluded()
    versions = labels.order_by("guideline__version").values_list("guideline__version", flat=True).distinct()
    if len(versions) < 2:
        return Breakdown("guidelines", (), "all judgments were made under the same version")
    groups = []
    for version in sorted(versions, key=lambda version: version or 0):
        mine = _cells(judged, people, labels.filter(guideline__version=version).values_list("item_id", "rater_id"))
        name = "version not recorded" if version is None else f"version {version}"
        groups.append(_of_cells(name, people, mine))
    return Breakdown("guidelines", tuple(groups))


def _by_sureness(judged: CriterionRatings, people: Ratings) -> Breakdown:
    """With the grades that their assessors marked as not sure, and without them: these leave items with one grade."""
    unsure = Judgment.objects.filter(criterion=judged.criterion, rater__kind=Rater.Kind.ASSESSOR, unsure=True)
    marked = _cells(judged, people, unsure.without_the_excluded().values_list("item_id", "rater_id"))
    if not marked.any():
        return Breakdown("certainty", (), "no grade is marked as not sure")
    every = _group("all grades", people)
    return Breakdown("certainty", (every, _of_cells("without those marked “not sure”", people, ~marked)))


def _cells(judged: CriterionRatings, people: Ratings, labels: Iterable[tuple[int, int]]) -> BoolArray:
    """Return where the labels of these items and raters stand in the people's table; shape (items, raters)."""
    row_of = {pk: row for row, pk in enumerate(people.items)}
    column_of = {judged.raters[column].pk: place for place, column in enumerate(judged.columns(Rater.Kind.ASSESSOR))}
    cells: BoolArray = np.zeros(people.codes.shape, dtype=bool)
    for item, rater in labels:
        if item in row_of and rater in column_of:
            cells[row_of[item], column_of[rater]] = True
    return cells


def _of_cells(name: str, people: Ratings, cells: BoolArray) -> Group:
    """Measure the labels in these cells alone, over the items that have any."""
    masked = replace(people, codes=np.asfortranarray(np.where(cells, people.codes, MISSING).astype(np.int16)))
    return _group(name, masked.of_items(np.flatnonzero((cells & (people.codes != MISSING)).any(axis=1))))
