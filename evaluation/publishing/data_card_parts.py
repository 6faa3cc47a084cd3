"""What the parts of a data card share: a study read once, and Markdown that obeys nothing in people's texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count, Q

from collection.completeness import JudgesOfStudies
from collection.judgments.rater_names import published_names, study_raters
from collection.models import Exclusion, Item, Judgment, Rater, Study
from evaluation.agreement.report import CriterionFigures, measure_criterion
from evaluation.data.judgments import completeness_of
from stats.pattern_intervals import Estimate


@dataclass(frozen=True)
class Card:
    """What several parts of the card need, read once."""

    study: Study
    names: bool
    filled: Mapping[str, Any] | None = None

    @cached_property
    def figures(self) -> list[CriterionFigures]:
        criteria = self.study.criteria.select_related("study__collection", "scale").order_by("position", "pk")
        judged = Judgment.objects.of_study(self.study).order_by().values_list("criterion", flat=True).distinct()
        return [measure_criterion(criterion) for criterion in criteria if criterion.pk in set(judged)]

    @cached_property
    def raters(self) -> list[Rater]:
        return study_raters(self.study)

    @cached_property
    def called(self) -> dict[int, str]:
        return published_names(self.study, names=self.names)

    @cached_property
    def excluded(self) -> set[int]:
        return set(Exclusion.objects.filter(study=self.study, lifted_at=None).values_list("rater", flat=True))

    @cached_property
    def counts(self) -> dict[int, tuple[int, int]]:
        """The judgments of each rater, and those of them without a grade."""
        judgments = Judgment.objects.of_study(self.study).order_by().values("rater")
        rows = judgments.annotate(n=Count("pk"), ungraded=Count("pk", filter=Q(grade=None)))
        return {row["rater"]: (row["n"], row["ungraded"]) for row in rows}

    @cached_property
    def completeness(self) -> JudgesOfStudies:
        """How complete the judges are."""
        return completeness_of(self.study)

    @cached_property
    def n_topics(self) -> int:
        return Item.objects.filter(study=self.study).order_by().values("topic").distinct().count()

    def of_kind(self, kind: str) -> list[Rater]:
        return [rater for rater in self.raters if rater.kind == kind]


def plain(text: str) -> str:
    """Return text of people as Markdown that shows it and obeys nothing in it, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#~])", r"\\\1", " ".join(text.split()))


def markdown_table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    yield f"| {' | '.join(headers)} |"
    yield f"|{' --- |' * len(headers)}"
    for row in rows:
        yield f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in row)} |"


def figure_cells(estimate: Estimate) -> list[str]:
    """Return the value and its interval, or why there is none."""
    if estimate.value is None:
        return ["–", f"undefined: {plain(estimate.reason)}"]
    return [f"{estimate.value:.3f}", plain(estimate.interval_in_words()) or "–"]


def share_of(n: int, of: int) -> str:
    return f"{n / of:.1%}" if of else "–"
