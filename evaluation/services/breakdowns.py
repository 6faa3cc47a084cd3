"""Agreement among people in detail: by topic, domain, batch and guideline version, by grade and assessor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from collection.models import Criterion, Draw, Item, Judgment, Rater
from evaluation.aggregation import DawidSkene, dawid_skene, majority, mean, median
from evaluation.agreement import group_statistics, plain_grade
from evaluation.categories import agreement_by_grade, agreement_by_rater
from evaluation.intervals import Estimate
from evaluation.ratings import MISSING, BoolArray, FloatArray, Grade, Ratings, count_patterns, grades_of
from evaluation.services.disputes import DisputedItem, disputed_items
from evaluation.services.highlights import HighlightAgreement, measure_highlights
from evaluation.services.studies import CriterionRatings, load_criterion

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

    @property
    def summary(self) -> list[Estimate]:
        """The three that belong together."""
        return [self.statistics[name] for name in SUMMARY]


@dataclass(frozen=True)
class Breakdown:
    """The items grouped by one thing; `reason` says why there are no groups."""

    name: str
    groups: tuple[Group, ...]
    reason: str = ""


@dataclass(frozen=True)
class GradeRow:
    """A grade of the scale: how often it was given, and how often another person gives it too."""

    grade: Grade
    n: int
    share: float | None
    agreement: Estimate


@dataclass(frozen=True)
class PersonRow:
    """An assessor: how many judgments, and how often the others gave the same grade."""

    name: str
    rater: Rater
    n: int
    agreement: Estimate


@dataclass(frozen=True)
class Aggregated:
    """One way to make several people one: for each grade the items that get it, and the ties. `reason`: why not."""

    rule: str
    counts: tuple[int, ...]
    n_between: int
    n_tied: int
    reason: str = ""


@dataclass(frozen=True)
class Confusion:
    """What an assessor gives where the true grade is said to be this: rows true, columns given; None never met."""

    name: str
    rows: tuple[tuple[Grade, tuple[float | None, ...]], ...]


@dataclass(frozen=True)
class Breakdowns:
    """Everything on the page of details."""

    criterion: Criterion
    scale: tuple[Grade, ...]
    n_items: int
    n_raters: int
    breakdowns: tuple[Breakdown, ...]
    by_grade: tuple[GradeRow, ...]
    by_person: tuple[PersonRow, ...]
    aggregated: tuple[Aggregated, ...]
    confusions: tuple[Confusion, ...]
    converged: bool
    highlights: HighlightAgreement
    disputed: tuple[DisputedItem, ...]

    @property
    def simulated(self) -> bool:
        """Whether a simulation made some of the grades."""
        return any(row.rater.simulated for row in self.by_person)

    def as_dict(self) -> dict[str, Any]:
        """Return everything, as the API has it."""
        return {
            "study": self.criterion.study.name,
            "criterion": self.criterion.name,
            "scale": [plain_grade(grade) for grade in self.scale],
            "n_items": self.n_items,
            "n_raters": self.n_raters,
            "simulated": self.simulated,
            "breakdowns": {
                one.name: {
                    "groups": [
                        {
                            "name": group.name,
                            "n_items": group.n_items,
                            "n_ratings": group.n_ratings,
                            **{name: group.statistics[name].as_dict() for name in group.statistics},
                        }
                        for group in one.groups
                    ],
                    **({"reason": one.reason} if one.reason else {}),
                }
                for one in self.breakdowns
            },
            "grades": [
                {"grade": plain_grade(row.grade), "n": row.n, "share": row.share, "agreement": row.agreement.as_dict()}
                for row in self.by_grade
            ],
            "assessors": [
                {"assessor": row.name, "n": row.n, "agreement": row.agreement.as_dict()} for row in self.by_person
            ],
            "aggregations": [vars(one) | {"counts": list(one.counts)} for one in self.aggregated],
            "dawid_skene": {
                "converged": self.converged,
                "confusion": {
                    one.name: [{"true": plain_grade(true), "given": list(given)} for true, given in one.rows]
                    for one in self.confusions
                },
            },
            "highlights": self.highlights.as_dict(),
            "disputed": [one.as_dict() for one in self.disputed],
        }

    def tables(self) -> dict[str, list[list[Any]]]:
        """Return the page's tables by name, each with a first row of names."""
        return {
            "groups": [
                ["by", "group", "items", "judgments", "coefficient", "value", "low", "high", "reason"],
                *(
                    [one.name, group.name, group.n_items, group.n_ratings, name, *_cells(found)]
                    for one in self.breakdowns
                    for group in one.groups
                    for name, found in group.statistics.items()
                ),
            ],
            "disputed": [
                ["item", "topic", "distance", "grades"],
                *(
                    [one.item_id, one.topic, one.distance, "; ".join(f"{name}: {grade}" for name, grade in one.grades)]
                    for one in self.disputed
                ),
            ],
        }


def _cells(found: Estimate) -> tuple[Any, ...]:
    return (found.value, found.low, found.high, found.reason)


def measure_breakdowns(criterion: Criterion) -> Breakdowns:
    """Read the judgments under a criterion and return the details of how people agree."""
    judged = load_criterion(criterion)
    people = judged.people
    raters = [judged.raters[column] for column in judged.columns(Rater.Kind.ASSESSOR)]
    fitted = _dawid_skene(people)
    return Breakdowns(
        criterion=criterion,
        scale=people.scale,
        n_items=int(people.graded.sum()),
        n_raters=len(raters),
        breakdowns=(*_by_places(criterion, people), _by_batch(criterion, people), _by_guideline(judged, people)),
        by_grade=_by_grade(people),
        by_person=tuple(
            PersonRow(str(name), rater, int((column != MISSING).sum()), found)
            for name, rater, column, found in zip(
                people.raters, raters, people.codes.T, agreement_by_rater(people), strict=True
            )
        ),
        aggregated=_aggregated(people, fitted),
        confusions=_confusions(people, fitted),
        converged=fitted.converged if fitted else False,
        highlights=measure_highlights(
            criterion, people, dict(zip((rater.pk for rater in raters), map(str, people.raters), strict=True))
        ),
        disputed=disputed_items(people),
    )


# --- Groups of items -----------------------------------------------------------------------------


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


def _by_batch(criterion: Criterion, people: Ratings) -> Breakdown:
    """By when and for what items were drawn."""
    draws = Draw.objects.filter(item__study=criterion.study_id, item__task_type=criterion.task_type).order_by("pk")
    batch_of = {
        item: f"{at:%Y-%m-%d %H:%M}, {Draw.Purpose(purpose).label}"
        for item, purpose, at in draws.values_list("item", "purpose", "drawn_at")
    }
    keys = [batch_of.get(pk, "never drawn") for pk in people.items]
    if len(set(keys)) < 2:
        return Breakdown("batch", (), "all of these items were drawn at once, or none was")
    return _grouped("batch", keys, people)


def _by_guideline(judged: CriterionRatings, people: Ratings) -> Breakdown:
    """By the version of the guidelines under which judgments were made: an item may have some of each."""
    rows = list(
        Judgment.objects.filter(criterion=judged.criterion, rater__kind=Rater.Kind.ASSESSOR)
        .without_the_excluded()
        .values_list("item", "rater", "guideline__version")
    )
    versions = sorted({version for _, _, version in rows}, key=lambda version: version or 0)
    if len(versions) < 2:
        return Breakdown("guidelines", (), "all judgments were made under one version")
    row_of = {pk: row for row, pk in enumerate(people.items)}
    column_of = {judged.raters[column].pk: place for place, column in enumerate(judged.columns(Rater.Kind.ASSESSOR))}
    groups = []
    for version in versions:
        mine: BoolArray = np.zeros(people.codes.shape, dtype=bool)
        for item, rater, of_version in rows:
            if of_version == version:
                mine[row_of[item], column_of[rater]] = True
        masked = replace(people, codes=np.asfortranarray(np.where(mine, people.codes, MISSING).astype(np.int16)))
        name = "no version kept" if version is None else f"version {version}"
        groups.append(_group(name, masked.of_items(np.flatnonzero(mine.any(axis=1)))))
    return Breakdown("guidelines", tuple(groups))


# --- Grades and people ---------------------------------------------------------------------------


def _by_grade(people: Ratings) -> tuple[GradeRow, ...]:
    total = people.n_ratings
    counts = np.bincount(people.codes[people.codes != MISSING], minlength=len(people.scale)).tolist()
    return tuple(
        GradeRow(grade, n, n / total if total else None, agreement)
        for grade, n, agreement in zip(people.scale, counts, agreement_by_grade(people), strict=True)
    )


# --- Several people as one -----------------------------------------------------------------------


def _dawid_skene(people: Ratings) -> DawidSkene | None:
    graded = people.of_items(people.graded)
    if not graded.n_ratings or graded.codes.shape[1] < 2:
        return None
    item, rater = np.nonzero(graded.codes != MISSING)
    return dawid_skene(item, rater, graded.codes[item, rater].astype(np.int64), n_grades=len(people.scale))


def _aggregated(people: Ratings, fitted: DawidSkene | None) -> tuple[Aggregated, ...]:
    grades = grades_of(people.of_items(people.graded).codes, people.numbers)
    rules = {
        "majority, ties to the lower": majority(grades, ties="lower"),
        "majority, ties to the higher": majority(grades, ties="higher"),
        "majority, ties left out": majority(grades, ties="undecided"),
    }
    if people.level != "nominal":
        rules["median, ties to the lower"] = median(grades, ties="lower")
    found = [_counted(rule, of.grades, of.n_tied, people) for rule, of in rules.items()]
    if people.level == "interval":
        found.append(_counted("mean", mean(grades).grades, 0, people))
    else:
        found.append(Aggregated("mean", (), 0, 0, f"grades of {a_or_an(people.level)} scale have no mean"))
    if fitted is None:
        return (*found, Aggregated("Dawid–Skene", (), 0, 0, "it takes two people or more"))
    of_errors = fitted.grades(ties="lower")
    by_value = grades_of(of_errors.grades.astype(np.int16), people.numbers)
    return (*found, _counted("Dawid–Skene, ties to the lower", by_value, of_errors.n_tied, people))


def a_or_an(level: str) -> str:
    return f"an {level}" if level[0] in "io" else f"a {level}"


def _counted(rule: str, grades: FloatArray, n_tied: int, people: Ratings) -> Aggregated:
    """Count the items of each grade; `n_between` have a value that is none of the scale."""
    counts = tuple(int((grades == value).sum()) for value in people.numbers)
    return Aggregated(rule, counts, int(np.isfinite(grades).sum()) - sum(counts), n_tied)


def _confusions(people: Ratings, fitted: DawidSkene | None) -> tuple[Confusion, ...]:
    if fitted is None:
        return ()
    return tuple(
        Confusion(
            str(name),
            tuple(
                (grade, tuple(None if np.isnan(share) else share for share in given.tolist()))
                for grade, given in zip(people.scale, of_rater, strict=True)
            ),
        )
        for name, of_rater in zip(people.raters, fitted.confusion, strict=True)
    )
