"""Agreement among people in detail: by group of items, by grade and assessor, down to the disputed item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from collection.models import Criterion, Rater
from evaluation.agreement.by_group import Breakdown, by_everything
from evaluation.agreement.disputed_items import DisputedItem, disputed_items
from evaluation.agreement.highlights import HighlightAgreement, measure_highlights
from evaluation.data.aggregation import Aggregated, Confusion, aggregate, confusions, fit_dawid_skene
from evaluation.data.judgments import load_criterion
from evaluation.data.pair_order import PersonSide, people_sides, side_as_dict
from stats.agreement.by_grade import agreement_by_grade, agreement_by_rater
from stats.agreement.report import plain_grade
from stats.answers_in_words import furthest_groups
from stats.pattern_intervals import Estimate
from stats.ratings import MISSING, Grade, Ratings


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
    sides: tuple[PersonSide, ...]
    highlights: HighlightAgreement
    disputed: tuple[DisputedItem, ...]

    @property
    def answer(self) -> str:
        """Between which groups agreement differs most, in a sentence; empty where there are no two to compare."""
        said = (
            furthest_groups(one.name, {group.name: group.statistics["krippendorff_alpha"] for group in one.groups})
            for one in self.breakdowns
        )
        return next(filter(None, said), "")

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
            "sides": {side.name: side_as_dict(side.choice) for side in self.sides},
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
            "sides": [
                ["assessor", "pairs", "swapped", "ties", "prefers_left", "low", "high", "reason"],
                *([side.name, *side.choice.counts, *_cells(side.choice.first)] for side in self.sides),
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
    fitted = fit_dawid_skene(people)
    return Breakdowns(
        criterion=criterion,
        scale=people.scale,
        n_items=int(people.graded.sum()),
        n_raters=len(raters),
        breakdowns=by_everything(judged, people),
        by_grade=_by_grade(people),
        by_person=tuple(
            PersonRow(str(name), rater, int((column != MISSING).sum()), found)
            for name, rater, column, found in zip(
                people.raters, raters, people.codes.T, agreement_by_rater(people), strict=True
            )
        ),
        aggregated=aggregate(people, fitted),
        confusions=confusions(people, fitted),
        converged=fitted.converged if fitted else False,
        sides=tuple(people_sides(criterion)),
        highlights=measure_highlights(
            criterion, people, dict(zip((rater.pk for rater in raters), map(str, people.raters), strict=True))
        ),
        disputed=disputed_items(people),
    )


def _by_grade(people: Ratings) -> tuple[GradeRow, ...]:
    total = people.n_ratings
    counts = np.bincount(people.codes[people.codes != MISSING], minlength=len(people.scale)).tolist()
    return tuple(
        GradeRow(grade, n, n / total if total else None, agreement)
        for grade, n, agreement in zip(people.scale, counts, agreement_by_grade(people), strict=True)
    )
