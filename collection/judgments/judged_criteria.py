"""Which criteria of many studies were judged, by people or by judges, and a fingerprint of what was judged."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count, Max, QuerySet

from collection.models import Criterion, EarlierJudgment, Exclusion, Judgment, Masking, Rater, Split, Study, TestReading
from stats.refusals import Refused


class CriterionNotFound(Refused):
    """A study or criterion of this name is missing, or the choice among several."""


@dataclass(frozen=True)
class Judged:
    """The criteria of some studies, with what shows whether figures about them still hold.

    `judgments`: by criterion and kind of rater the number of judgments and the newest's key; a changed or withdrawn
    judgment leaves one among the `earlier`. `states`: by study its exclusions, its split and who was read on the test
    part.
    """

    criteria: tuple[Criterion, ...]
    judgments: Mapping[tuple[int, str], tuple[int, int]]
    earlier: Mapping[int, int]
    states: Mapping[int, tuple[Any, ...]]

    @cached_property
    def by_pk(self) -> dict[int, Criterion]:
        return {one.pk: one for one in self.criteria}

    def by(self, kind: str) -> list[Criterion]:
        """Return the criteria that raters of this kind have judged under."""
        return [one for one in self.criteria if (one.pk, kind) in self.judgments]

    def fingerprint(self, criteria: Sequence[Criterion]) -> str:
        """Return a hash that is another one as soon as figures about these criteria could be."""
        seen = [
            (
                *(one.pk, one.threshold, one.scale.content_hash, self.earlier.get(one.pk, 0)),
                *sorted((kind, found) for (pk, kind), found in self.judgments.items() if pk == one.pk),
                *self.states[one.study_id],
            )
            for one in criteria
        ]
        return hashlib.sha256(repr(seen).encode()).hexdigest()


def read_judged(studies: QuerySet[Study]) -> Judged:
    """Read which criteria of these studies were judged: the same few queries, however many studies there are."""
    criteria = list(
        Criterion.objects.filter(study__in=studies.order_by())
        .select_related("study__collection", "scale")
        .order_by("study_id", "position", "pk")
    )
    pks = Criterion.objects.filter(study__in=studies.order_by()).order_by().values("pk")
    judgments = (
        Judgment.objects.filter(criterion__in=pks)
        .order_by()
        .values_list("criterion", "rater__kind")
        .annotate(Count("pk"), Max("pk"))
    )
    earlier = EarlierJudgment.objects.filter(criterion__in=pks).order_by()
    return Judged(
        criteria=tuple(criteria),
        judgments={(criterion, kind): (n, newest) for criterion, kind, n, newest in judgments},
        earlier=dict(earlier.values_list("criterion").annotate(Count("pk"))),
        states=_states(studies, {one.study_id for one in criteria}),
    )


def _states(studies: QuerySet[Study], study_ids: set[int]) -> dict[int, tuple[Any, ...]]:
    states: dict[int, list[Any]] = defaultdict(list)
    of_these = {"study__in": studies.order_by()}
    excluded = Exclusion.objects.filter(**of_these, lifted_at=None).order_by("pk").values_list("study", "rater")
    splits = Split.objects.filter(**of_these).values_list("study", "pk")
    readings = TestReading.objects.filter(split__study__in=studies.order_by()).order_by("judge")
    by_collection = Masking.objects.filter(element__topic__collection__studies__in=studies.order_by()).order_by()
    masked = by_collection.values_list("element__topic__collection__studies").annotate(Count("pk"), Max("pk"))
    for name, rows in (
        ("excluded", excluded),
        ("masked", masked),
        ("split", splits),
        ("read", readings.values_list("split__study", "judge").annotate(Count("pk"))),
    ):
        for study, *found in rows:
            states[study].append((name, *found))
    return {study: tuple(states[study]) for study in study_ids}


def judged_criteria(criteria: Iterable[Criterion]) -> list[Criterion]:
    """Return those of the criteria that people have judged, in their order."""
    judgments = Judgment.objects.filter(rater__kind=Rater.Kind.ASSESSOR)
    return [criterion for criterion in criteria if judgments.filter(criterion=criterion).exists()]


def find_study(name: str) -> Study:
    """Return the study of this name. Raises CriterionNotFound with what there is to choose from."""
    study = Study.objects.filter(name=name).select_related("collection").first()
    if study is None:
        names = ", ".join(Study.objects.order_by("name").values_list("name", flat=True)[:20]) or "none yet"
        raise CriterionNotFound(f"“{name}” is not a study. Studies: {names}.")
    return study


def find_criterion(study_name: str, criterion_name: str | None) -> Criterion:
    """Return the criterion of this name; without a name, the only one that people have judged.

    Raises CriterionNotFound with what there is to choose from.
    """
    study = find_study(study_name)
    criteria = list(study.criteria.select_related("study", "scale"))
    listed = ", ".join(criterion.name for criterion in criteria) or "none"
    if criterion_name is not None:
        found = [criterion for criterion in criteria if criterion.name == criterion_name]
        if not found:
            raise CriterionNotFound(
                f"The study “{study_name}” has no criterion “{criterion_name}”. Choose one of: {listed}."
            )
        return found[0]
    judged = judged_criteria(criteria)
    if not judged:
        raise CriterionNotFound(f"The study “{study_name}” has no judgments yet. Its criteria: {listed}.")
    if len(judged) > 1:
        listed = ", ".join(criterion.name for criterion in judged)
        raise CriterionNotFound(f"Choose a criterion with --criterion: {listed}.")
    return judged[0]
