"""What a study's first screen shows of its judgments: who gave them, how far people agree, and judges beside them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Count, Max, Q

from collection.judgments.judged_criteria import read_judged
from collection.models import Criterion, Exclusion, Judgment, Rater, Study
from evaluation.data.judgments import load_criterion
from evaluation.trust.overview import trust_in_judges
from evaluation.trust.overview_rows import Row, judges_in_words
from stats.agreement.report import at_least_two_grades, group_statistics
from stats.answers_in_words import RELIABLE, TENTATIVE, agreement_of_people
from stats.overviews_in_words import people_by_criterion
from stats.pattern_intervals import Estimate
from stats.ratings import count_patterns

# More raters than these are one row together; the API names all of them.
MOST_RATERS = 20
# Where an axis ends on the left.
AXES = (0.0, -0.25, -0.5, -1.0)


@dataclass(frozen=True)
class RaterWork:
    """What a rater judged: by criterion, of these without a readable grade, and when last."""

    rater: Rater
    by_criterion: tuple[int, ...]
    n_ungraded: int
    last: datetime
    excluded: bool

    @property
    def n(self) -> int:
        return sum(self.by_criterion)

    def as_dict(self, criteria: tuple[Criterion, ...]) -> dict[str, Any]:
        """Return it as the API has it."""
        return {
            "rater": self.rater.name,
            "kind": self.rater.kind,
            "origin": self.rater.origin,
            "judgments": self.n,
            "ungraded": self.n_ungraded,
            "by_criterion": {one.name: n for one, n in zip(criteria, self.by_criterion, strict=True) if n},
            "last": self.last.isoformat(),
            "excluded": self.excluded,
        }


@dataclass(frozen=True)
class PeopleAgreement:
    """How far people agree under a criterion. `alpha` is Krippendorff's; `n_pairable` items have two grades or more."""

    criterion: Criterion
    alpha: Estimate
    n_people: int
    n_pairable: int
    simulated: bool

    @property
    def answer(self) -> str:
        """How far their labels can be relied on, in a sentence."""
        return agreement_of_people(self.alpha)


@dataclass(frozen=True)
class Axis:
    """A scale of agreement from `low` to 1, on which places are in percent of its width."""

    low: float

    def place(self, value: float) -> float:
        """Return where a value stands, at the edge if it is beyond."""
        return round(100 * (max(value, self.low) - self.low) / (1 - self.low), 2)

    @property
    def ticks(self) -> list[tuple[float, float]]:
        """Return the values that are written below, each with its place."""
        return [(value, self.place(value)) for value in sorted({self.low, 0.0, 0.5, 1.0})]

    @property
    def bounds(self) -> list[float]:
        """Where Krippendorff's bounds for tentative and for firm conclusions stand."""
        return [self.place(TENTATIVE), self.place(RELIABLE)]


@dataclass(frozen=True)
class Dashboard:
    """The figures of the first screen. `judges` are beside people, as *Trust* has them."""

    criteria: tuple[Criterion, ...]
    raters: tuple[RaterWork, ...]
    agreement: tuple[PeopleAgreement, ...]
    judges: tuple[Row, ...]

    @property
    def answer(self) -> list[str]:
        """How far people can be relied on, and of how many judges it is settled how they stand beside people."""
        people = people_by_criterion(
            {one.criterion.name: one.alpha for one in self.agreement},
            n_simulated=sum(one.simulated for one in self.agreement),
        )
        return [people, judges_in_words(self.judges)]

    @property
    def n(self) -> int:
        """How many judgments there are."""
        return sum(one.n for one in self.raters)

    @property
    def shown_raters(self) -> tuple[RaterWork, ...]:
        return self.raters[:MOST_RATERS]

    @property
    def other_raters(self) -> tuple[RaterWork, ...]:
        return self.raters[MOST_RATERS:]

    @property
    def n_others(self) -> int:
        return sum(one.n for one in self.other_raters)

    @property
    def most(self) -> int:
        """How many judgments the rater with the most gave."""
        return max((one.n for one in self.raters), default=0)

    @property
    def last(self) -> datetime | None:
        """When the newest judgment was given."""
        return max((one.last for one in self.raters), default=None)

    @property
    def has_simulated(self) -> bool:
        return any(one.rater.simulated for one in self.raters)

    @cached_property
    def axis(self) -> Axis:
        """One axis for both pictures, as far to the left as any interval goes."""
        shown = [one.alpha for one in self.agreement] + [row.brief.kappa for row in self.judges]
        ends = [end for one in shown for end in (one.value, one.low) if end is not None]
        least = min(ends, default=0.0)
        return Axis(next((low for low in AXES if least >= low), AXES[-1]))

    def as_dict(self) -> dict[str, Any]:
        """Return everything, as the API has it."""
        return {
            "answer": " ".join(self.answer),
            "judgments": self.n,
            "raters": [one.as_dict(self.criteria) for one in self.raters],
            "agreement": [
                {
                    "criterion": one.criterion.name,
                    "answer": one.answer,
                    "krippendorff_alpha": one.alpha.as_dict(),
                    "assessors": one.n_people,
                    "items_with_two_grades": one.n_pairable,
                    "simulated": one.simulated,
                }
                for one in self.agreement
            ],
            "judges": [row.as_dict() for row in self.judges],
        }


def measure_dashboard(study: Study) -> Dashboard:
    """Count the study's judgments by rater and criterion, and measure agreement among people and with judges."""
    only = Study.objects.filter(pk=study.pk)
    judged = read_judged(only)
    return Dashboard(
        criteria=judged.criteria,
        raters=work_of_raters(study, judged.criteria),
        agreement=tuple(filter(None, map(_agreement, judged.by(Rater.Kind.ASSESSOR)))),
        judges=trust_in_judges(only).rows,
    )


def work_of_raters(study: Study, criteria: tuple[Criterion, ...]) -> tuple[RaterWork, ...]:
    """Return who judged how much: people first, and who judged most before others."""
    rows = (
        Judgment.objects.filter(criterion__in=[one.pk for one in criteria])
        .order_by()
        .values_list("rater", "criterion")
        .annotate(n=Count("pk"), n_ungraded=Count("pk", filter=~Q(ungraded="")), last=Max("judged_at"))
    )
    found: dict[int, list[tuple[int, int, int, datetime]]] = defaultdict(list)
    for rater, *row in rows:
        found[rater].append((row[0], row[1], row[2], row[3]))
    raters = Rater.objects.in_bulk(list(found))
    excluded = set(Exclusion.objects.filter(study=study, lifted_at=None).values_list("rater", flat=True))
    work = [
        RaterWork(
            rater=raters[pk],
            by_criterion=tuple(sum(n for of, n, _, _ in theirs if of == one.pk) for one in criteria),
            n_ungraded=sum(ungraded for _, _, ungraded, _ in theirs),
            last=max(last for *_, last in theirs),
            excluded=pk in excluded,
        )
        for pk, theirs in found.items()
    ]
    return tuple(sorted(work, key=lambda one: (one.rater.kind != Rater.Kind.ASSESSOR, -one.n, one.rater.name)))


def _agreement(criterion: Criterion) -> PeopleAgreement | None:
    """Return how far people agree; None where no item has two people's grades."""
    judged = load_criterion(criterion)
    people = at_least_two_grades(judged.people)
    patterns = count_patterns(people)
    n_pairable = int(patterns.frequencies[patterns.counts.sum(axis=1) >= 2].sum())
    if not n_pairable:
        return None
    return PeopleAgreement(
        criterion=criterion,
        alpha=group_statistics(patterns, people)["krippendorff_alpha"],
        n_people=len(people.raters),
        n_pairable=n_pairable,
        simulated=judged.has_simulated_people,
    )
