"""Judges whose grades were made elsewhere or simulated: raters of a collection, with what they graded in a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from collection.completeness import judges_of_studies
from collection.models import Collection, Criterion, Judgment, Rater, Study
from judging.data.missing_grades import MissingGrades, missing_by_rater
from stats.completeness import Completeness, complete_first


@dataclass(frozen=True)
class Graded:
    """What a judge graded under one criterion of a study, by grade, and what it lacks there."""

    criterion: Criterion
    missing_grades: MissingGrades
    grades: dict[float, int]
    completeness: Completeness

    @property
    def rater(self) -> Rater:
        return self.missing_grades.rater

    def by_grade(self) -> list[tuple[dict[str, object], int]]:
        """Return each grade of the scale with how often it was given."""
        return [(point, self.grades.get(point["value"], 0)) for point in self.criterion.scale.points]


def imported_judges(collection: Collection) -> QuerySet[Rater]:
    """Return the collection's judges that no engine here runs: their grades came in, or a simulation made them."""
    return Rater.objects.filter(collection=collection, kind=Rater.Kind.JUDGE)


def declared(rater: Rater) -> dict[str, Any]:
    """Return what was said of a judge's making: tool, version, model and prompt, blank where nothing was, and files.

    Grades that came in as rows, through the API or in a table of judgments, bring none of it.
    """
    files: list[dict[str, Any]] = rater.attributes.get("files", [])
    said = {name: rater.attributes.get(name, "") for name in ("tool", "version", "model", "prompt")}
    return {**said, "tool": said["tool"] or (files[0].get("tool", "") if files else ""), "files": files}


def graded_in(study: Study, raters: Sequence[Rater]) -> list[Graded]:
    """Return what these judges graded in the study, by criterion; nothing where one has judged nothing."""
    by_pk = {rater.pk: rater for rater in raters}
    counts: dict[tuple[int, int], dict[float, int]] = {}
    rows = (
        Judgment.objects.filter(rater__in=by_pk, criterion__study=study)
        .exclude(item__element__masked=True)
        .values_list("criterion", "rater", "grade")
        .annotate(Count("pk"))
        .order_by()
    )
    for criterion_pk, rater, grade, count in rows:
        grades = counts.setdefault((criterion_pk, rater), {})
        if grade is not None:
            grades[grade] = count
    graded: list[Graded] = []
    completeness = judges_of_studies([study])
    for criterion in study.criteria.select_related("scale"):
        judging = [by_pk[rater] for of, rater in sorted(counts) if of == criterion.pk]
        if judging:
            lacking = missing_by_rater(criterion, judging)
            graded += complete_first(
                (
                    Graded(
                        criterion,
                        each,
                        counts[criterion.pk, each.rater.pk],
                        completeness.of(criterion.pk, each.rater.pk),
                    )
                    for each in lacking
                ),
                of=lambda one: one.completeness,
            )
    return graded
