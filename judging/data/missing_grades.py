"""Pairs without a grade: what a judge left ungraded and what it was never asked or never told about.

A grade is missing where a pair of the criterion, whose text is here or not, has none by the judge: either its
judgment is ungraded, or there is none. No missing grade is a zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db.models import Count

from collection.completeness import judges_of_studies
from collection.models import Criterion, Judgment, Rater
from judging.data.selection import Selection, items_asked, narrowed
from stats.completeness import UNMARKED, Completeness, complete_first


@dataclass(frozen=True)
class MissingGrades:
    """How many pairs of a criterion a judge graded, left ungraded by kind, and never spoke of.

    `completeness` is the judge's under the criterion, where it was asked for.
    """

    rater: Rater
    pairs: int
    graded: int
    ungraded: dict[str, int]
    completeness: Completeness = UNMARKED

    @property
    def left_ungraded(self) -> int:
        return sum(self.ungraded.values())

    @property
    def missing(self) -> int:
        """Pairs of which the judge says nothing at all."""
        return max(self.pairs - self.graded - self.left_ungraded, 0)

    @property
    def total(self) -> int:
        """Pairs without a grade, for whichever reason."""
        return self.pairs - self.graded

    def kinds(self) -> list[tuple[str, int]]:
        """Return the kinds of ungraded in words, with how often."""
        return [(Judgment.Ungraded(kind).label, count) for kind, count in sorted(self.ungraded.items())]


def missing_grades_of(criterion: Criterion, rater: Rater) -> MissingGrades:
    """Count what this judge graded and did not grade of the criterion's pairs."""
    (found,) = missing_by_rater(criterion, [rater])
    return found


def missing_by_rater(criterion: Criterion, raters: Sequence[Rater], *, pairs: int | None = None) -> list[MissingGrades]:
    """Return the same for several judges, in two queries."""
    pairs = items_asked(criterion).count() if pairs is None else pairs
    counts: dict[int, dict[str, int]] = {}
    rows = (
        Judgment.objects.filter(criterion=criterion, rater__in=raters)
        .exclude(item__element__masked=True)
        .values_list("rater", "ungraded")
        .annotate(Count("pk"))
        .order_by()
    )
    for rater, kind, count in rows:
        counts.setdefault(rater, {})[kind] = count
    return [
        MissingGrades(
            rater=rater,
            pairs=pairs,
            graded=counts.get(rater.pk, {}).get("", 0),
            ungraded={kind: count for kind, count in counts.get(rater.pk, {}).items() if kind},
        )
        for rater in raters
    ]


def missing_in(criterion: Criterion) -> tuple[list[MissingGrades], int]:
    """Return what each judge lacks that judged under the criterion, and how many pairs none graded.

    Those of unfinished and failing judges come last.
    """
    judging = Judgment.objects.filter(criterion=criterion).values("rater")
    raters = list(Rater.objects.filter(kind=Rater.Kind.JUDGE, pk__in=judging).order_by("name"))
    asked = items_asked(criterion)
    by_nobody = narrowed(asked, Selection(graded_by_no_judge=True), criterion)
    known = judges_of_studies([criterion.study])
    found = [
        replace(one, completeness=known.of(criterion.pk, one.rater.pk))
        for one in missing_by_rater(criterion, raters)
        if one.total
    ]
    return complete_first(found, of=lambda one: one.completeness), by_nobody.count() if raters else 0
