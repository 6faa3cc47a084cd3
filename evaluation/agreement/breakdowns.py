"""Agreement among people in detail: by group of items, by grade and assessor, down to the disputed item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.urls import reverse
from django.utils.text import capfirst

from collection.models import Criterion, Rater
from collection.web.tables import Column, Link, Table
from evaluation.agreement.by_group import SUMMARY, Breakdown, by_everything
from evaluation.agreement.disputed_items import DisputedItem, disputed_items
from evaluation.agreement.highlights import HighlightAgreement, measure_highlights
from evaluation.data.aggregation import Aggregated, Confusion, aggregate, confusions, fit_dawid_skene
from evaluation.data.judgments import load_criterion
from evaluation.data.pair_order import PersonSide, people_sides, side_as_dict
from evaluation.formats.text import LABELS
from stats.agreement.by_grade import agreement_by_grade, agreement_by_rater
from stats.agreement.report import plain_grade
from stats.answers_in_words import furthest_groups
from stats.ratings import MISSING, Grade, Ratings

PARTS = ("value", "low", "high", "reason")
OF_GRADES = (
    "When one assessor gives the grade, how often another gives it too. Rare grades with low agreement show where a "
    "scale needs better descriptions."
)
OF_PEOPLE = "How often other assessors gave the same grade to the same items"
OF_SIDES = (
    "How often the answer on the left is preferred; a tie counts as half. Sides are random, so .5 means no side "
    "preference; both orders have equal weight."
)
OF_RULES = "How many items get each grade under each rule. Tied items are counted however the tie is broken."
OF_DISPUTED = (
    "The items on which people are furthest apart, by the mean distance of two people’s grades. Open one to read "
    "everybody’s grades and highlights side by side."
)
GRADES = (
    *(Column("grade", "Grade", "grade"), Column("n", "Given", "count"), Column("share", "Share", "share")),
    Column("agreement", "Same grade by another", "estimate"),
)
PEOPLE = (
    *(Column("assessor", "Assessor"), Column("origin", "Origin", filed=False), Column("n", "Judgments", "count")),
    Column("agreement", "Same as another", "estimate"),
)
SIDES = (
    *(Column("assessor", "Assessor"), Column("pairs", "Pairs", "count"), Column("swapped", "Swapped", "count")),
    Column("ties", "Ties", "count"),
    Column("prefers_left", "Prefers the left", "estimate", parts=PARTS, names=("prefers_left", *PARTS[1:])),
)
DISPUTED = (
    *(Column("question", "Question", "link", filed=False), Column("item", "Item"), Column("topic", "Topic")),
    *(Column("distance", "Distance", "number"), Column("grades", "Grades")),
    Column("comments", "Comments", "count", filed=False),
)


@dataclass(frozen=True)
class Breakdowns:
    """Everything on the page of details."""

    criterion: Criterion
    scale: tuple[Grade, ...]
    n_items: int
    n_raters: int
    breakdowns: tuple[Breakdown, ...]
    simulated: bool
    grades: Table
    assessors: Table
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
            "grades": self.grades.as_dicts(),
            "assessors": self.assessors.as_dicts(),
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

    def tables(self) -> dict[str, Table]:
        """Return its tables by name; a page shows three of the coefficients of groups."""
        names = next((list(group.statistics) for one in self.breakdowns for group in one.groups), [])
        columns = [Column("by"), Column("group", "Group"), Column("items", "Items", "count")]
        columns += [Column("judgments", "Judgments", "count")]
        columns += [
            Column(name, capfirst(LABELS[name]) if name in SUMMARY else "", "estimate", parts=PARTS) for name in names
        ]
        groups = [
            [one.name, group.name, group.n_items, group.n_ratings, *map(group.statistics.get, names)]
            for one in self.breakdowns
            for group in one.groups
        ]
        sides = [[side.name, *side.choice.counts, side.choice.first] for side in self.sides]
        return {
            "groups": Table.of("Agreement by group", columns, groups, long="coefficient"),
            "grades": self.grades,
            "assessors": self.assessors,
            **({"sides": Table.of("Side preference of assessors", SIDES, sides, note=OF_SIDES)} if sides else {}),
            **self._of_the_model(),
            "disputed": Table.of(
                "Most disputed items, with grades", DISPUTED, map(self._disputed, self.disputed), note=OF_DISPUTED
            ),
        }

    def _of_the_model(self) -> dict[str, Table]:
        """Return how many items get each grade under each rule, and people's errors as Dawid and Skene's model has."""
        grades = [str(plain_grade(grade)) for grade in self.scale]
        rules = [
            Column("rule", "Rule"),
            *(Column(f"n_{grade}", grade, "count") for grade in grades),
            *(Column("between", "Between grades", "count"), Column("tied", "Tied", "count")),
            *([Column("reason", "Undefined because")] if any(one.reason for one in self.aggregated) else []),
        ]
        of_rules = [
            [one.rule, *([None] * (len(grades) + 2) if one.reason else (*one.counts, one.n_between, one.n_tied))]
            + ([one.reason or None] if len(rules) > len(grades) + 3 else [])
            for one in self.aggregated
        ]
        errors = [Column("assessor", "Assessor"), Column("true", "True", "grade")]
        errors += [Column(f"given_{grade}", grade, "share") for grade in grades]
        of_errors = [[one.name, true, *given] for one in self.confusions for true, given in one.rows]
        return {
            "aggregation": Table.of("Aggregated grades", rules, of_rules, note=OF_RULES),
            **({"model": Table.of("Errors in Dawid and Skene’s model", errors, of_errors)} if of_errors else {}),
        }

    def _disputed(self, one: DisputedItem) -> list[Any]:
        address = reverse("evaluation:item", args=[self.criterion.study.name, one.pk])
        grades = "; ".join(f"{name}: {grade}" for name, grade in one.grades)
        return [Link(one.question, address), one.item_id, one.topic, one.distance, grades, one.n_comments or None]


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
        simulated=any(rater.simulated for rater in raters),
        grades=_by_grade(people),
        assessors=_by_assessor(people, raters),
        aggregated=aggregate(people, fitted),
        confusions=confusions(people, fitted),
        converged=fitted.converged if fitted else False,
        sides=tuple(people_sides(criterion)),
        highlights=measure_highlights(
            criterion, people, dict(zip((rater.pk for rater in raters), map(str, people.raters), strict=True))
        ),
        disputed=disputed_items(people),
    )


def _by_grade(people: Ratings) -> Table:
    total = people.n_ratings
    counts = np.bincount(people.codes[people.codes != MISSING], minlength=len(people.scale)).tolist()
    rows = (
        [plain_grade(grade), n, n / total if total else None, agreement]
        for grade, n, agreement in zip(people.scale, counts, agreement_by_grade(people), strict=True)
    )
    return Table.of("Agreement on each grade", GRADES, rows, note=OF_GRADES)


def _by_assessor(people: Ratings, raters: Sequence[Rater]) -> Table:
    rows = (
        [str(name), rater.origin, int((column != MISSING).sum()), found]
        for name, rater, column, found in zip(
            people.raters, raters, people.codes.T, agreement_by_rater(people), strict=True
        )
    )
    return Table.of("Agreement of each assessor with the others", PEOPLE, rows, note=OF_PEOPLE)
