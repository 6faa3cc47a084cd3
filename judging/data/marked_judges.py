"""Judges to choose from: the unfinished and failing ones marked and last, by how complete they are where it matters."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Case, IntegerField, QuerySet, Value, When

from collection.completeness import JudgesOfStudies, judges_of_studies
from collection.models import Criterion
from judging.models import Judge
from stats.completeness import complete_first


def marked_last(judges: QuerySet[Judge], completeness: JudgesOfStudies, *order: str) -> QuerySet[Judge]:
    """Return the judges with the marked ones last, else in this order."""
    raters = {judge for _, judge in completeness.found}
    ranks = {rater: rank for rater in raters if (rank := completeness.worst_of(rater).rank)}
    places = [When(rater__in=[rater for rater, at in ranks.items() if at == rank], then=rank) for rank in (1, 2)]
    place = Case(*places, default=Value(0), output_field=IntegerField())
    return judges.annotate(place=place).order_by("place", *order)


def marked_under(criterion: Criterion, judges: Iterable[Judge]) -> list[tuple[Judge, str]]:
    """Return the judges with their names as a list to choose from shows them under this criterion."""
    completeness = judges_of_studies([criterion.study])
    pairs = ((judge, completeness.of(criterion.pk, judge.rater_id)) for judge in judges)
    return [(judge, found.after(judge.name)) for judge, found in complete_first(pairs, of=lambda pair: pair[1])]
