"""How many more labels a study needs, and which items to label next."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import numpy as np

from collection.judgments.draws import draw_items
from collection.models import Draw, Item
from evaluation.data.population import JudgeChoice, Population, System, find_system
from stats.calibration.active_sampling import Drawn, draw_by_doubt, draw_by_strata, nearness
from stats.calibration.allocation import strata_of
from stats.calibration.labels import Labels
from stats.calibration.pilots import NoPlan, Pilot, pilot_of
from stats.calibration.planning import Plan, more_labels, plan_half_width, plan_separation, topics_answer
from stats.calibration.recalibration import recalibration_curve
from stats.plurals import counted
from stats.ratings import FloatArray, IntArray, grades_of

How = Literal["strata", "doubt"]
# What a plan is for where no measure is named.
SHARE_OF_YES = "the share of yes"
HOW = {
    "strata": "by the judge’s grade, more where human grades vary (Neyman)",
    "doubt": "with probabilities that increase with uncertainty",
}


@dataclass(frozen=True)
class HalfWidthPlan:
    """What gives the score, over all items or over one system's, an interval of ± `half_width`."""

    half_width: float
    system: str
    pilot: Pilot
    plan: Plan

    @property
    def answer(self) -> str:
        """What these items need, in words."""
        score = f"{SHARE_OF_YES} of {self.system or 'all items'}"
        if self.plan.needed is None:
            return f"An interval of ± {self.half_width:g} around {score} is not possible here: {self.plan.reason}."
        needed = f"people must label {counted(self.plan.needed, 'items')} in all"
        return f"{more_labels(self.plan, 'labels')} ({needed}) for an interval of ± {self.half_width:g} around {score}."

    @property
    def topics_answer(self) -> str:
        """What topics like these it needs, in words; empty where items belong to no topics."""
        return topics_answer(self.pilot, self.plan, "items")

    def as_dict(self) -> dict[str, Any]:
        return {
            "measure": SHARE_OF_YES,
            "half_width": self.half_width,
            "system": self.system or None,
            "pilot": self.pilot.as_dict(),
            "plan": self.plan.as_dict(),
            "answer": self.answer,
            "topics_answer": self.topics_answer,
        }


@dataclass(frozen=True)
class SeparationPlan:
    """What finds two systems different, four times in five. Its pilot and plan count pairs.

    A pair is one question asked of both systems: two labels.
    """

    systems: tuple[str, str]
    difference: float
    pilot: Pilot
    plan: Plan
    counts = "questions"

    @property
    def answer(self) -> str:
        """What these questions need, in words."""
        wanted = f"a difference of {abs(self.difference):.3f} in {SHARE_OF_YES} between {' and '.join(self.systems)}"
        if self.plan.needed is None:
            return f"Here {wanted} cannot be detected with 80 % power: {self.plan.reason}."
        needed = f"people must label {counted(self.plan.needed, 'questions')} for both systems"
        return f"{more_labels(self.plan, 'questions')} ({needed}, two labels each) to detect {wanted} with 80 % power."

    @property
    def topics_answer(self) -> str:
        """What topics like these it needs, in words."""
        return topics_answer(self.pilot, self.plan, "questions")

    def as_dict(self) -> dict[str, Any]:
        return {
            "measure": SHARE_OF_YES,
            "systems": list(self.systems),
            "difference": self.difference,
            "pilot": self.pilot.as_dict(),
            "plan_pairs": self.plan.as_dict(),
            "answer": self.answer,
            "topics_answer": self.topics_answer,
        }


def plan_of(
    population: Population,
    *,
    half_width: float | None = None,
    system: str = "",
    separate: Sequence[str] | None = None,
    difference: float | None = None,
) -> HalfWidthPlan | SeparationPlan:
    """Return the plan that is asked for: to `separate` two systems, or for an interval. Raises as those two do."""
    if separate:
        first, second = separate
        return plan_difference(population, first, second, difference=difference)
    assert half_width is not None  # PlanChoice asks for either
    return plan_interval(population, half_width, system=system)


def plan_interval(population: Population, half_width: float, *, system: str = "") -> HalfWidthPlan:
    """Plan for an interval of ± `half_width` around the score. Raises NoPlan and SystemNotFound."""
    if not system:
        return plan_labels(population.labels, half_width, units=population.units)
    rows = find_system(population, system).rows
    units = None if population.units is None else population.units[rows]
    return plan_labels(population.labels.of_items(rows), half_width, system=system, units=units)


def plan_labels(labels: Labels, half_width: float, *, system: str = "", units: IntArray | None = None) -> HalfWidthPlan:
    """Plan for an interval of ± `half_width` around the score of these items. Raises NoPlan."""
    pilot = pilot_of(labels, units)
    return HalfWidthPlan(half_width, system, pilot, plan_half_width(pilot, half_width))


def plan_difference(population: Population, first: str, second: str, *, difference: float | None) -> SeparationPlan:
    """Plan for telling two systems apart; without a difference to expect, the one the judge sees.

    Raises NoPlan and SystemNotFound.
    """
    if first == second:
        raise NoPlan("Choose two different systems.")
    a, b = find_system(population, first), find_system(population, second)
    pairs, units = _pairs(population, a, b)
    if difference is None:
        difference = float(np.nanmean(pairs.judge)) if np.isfinite(pairs.judge).any() else 0.0
    if not difference:
        raise NoPlan("According to the judge these systems do not differ. Give the difference that you want to detect.")
    pilot = pilot_of(pairs, units)
    return SeparationPlan((first, second), difference, pilot, plan_separation(pilot, difference))


def _pairs(population: Population, first: System, second: System) -> tuple[Labels, IntArray | None]:
    """Return the differences between two systems, question by question, and what of them was drawn at once."""
    elements = dict(
        Item.objects.filter(pk__in=population.item_ids[[*first.rows, *second.rows]].tolist(), report__isnull=False)
        .exclude(element=None)
        .values_list("pk", "element")
    )
    by_element = [
        {elements[pk]: row for row in system.rows if (pk := int(population.item_ids[row])) in elements}
        for system in (first, second)
    ]
    shared = sorted(by_element[0].keys() & by_element[1].keys())
    if not shared:
        raise NoPlan("These systems share no question asked of both their reports, so nothing can be paired.")
    a, b = (np.array([rows[element] for element in shared], dtype=np.int64) for rows in by_element)
    labels = population.labels
    assert labels.topics is not None  # load_population
    pairs = Labels(
        people=labels.people[a] - labels.people[b],
        judge=labels.judge[a] - labels.judge[b],
        weights=None if labels.weights is None else labels.weights[a] * labels.weights[b],
        topics=labels.topics[a],
        per_topic=True,
    )
    return pairs, None if population.units is None else population.units[a]


def draw_next(
    population: Population, *, n: int, how: How, judges: list[JudgeChoice], at: datetime, seed: int | None = None
) -> int:
    """Draw `n` of the items that no people were asked about, and store the draw. Returns how many.

    Raises TooFewItems and NoAllocation where so many cannot be drawn, ItemsNotToBeDrawn where somebody else drew
    meanwhile.
    """
    drawn = _drawn(population, n, how, judges, secrets.randbits(63) if seed is None else seed)
    rows = np.flatnonzero(drawn.items)
    ids = population.item_ids[rows].tolist()
    strata = None
    if drawn.strata is not None:
        names = drawn.strata.names
        strata = {pk: names[kind] for pk, kind in zip(ids, drawn.strata.numbers[rows].tolist(), strict=True)}
    return draw_items(
        study=population.criterion.study,
        drawn=dict(zip(ids, drawn.probabilities[rows].tolist(), strict=True)),
        purpose=Draw.Purpose.ACTIVE,
        design=drawn.design,
        strata=strata,
        at=at,
    )


def _drawn(population: Population, n: int, how: How, judges: list[JudgeChoice], seed: int) -> Drawn:
    labels = population.labels
    if how == "doubt":
        return draw_by_doubt(doubt_of(population), n, available=population.undrawn, seed=seed)
    strata = strata_of(labels.judge_grades, disagreement_of(population, judges))
    return draw_by_strata(labels, strata, n, available=population.undrawn, seed=seed)


def doubt_of(population: Population) -> FloatArray:
    """Return how uncertain people's yes is: √(p(1 − p)), p their share of yes at the judge's grade (rising curve).

    Without labels, how near the grade lies to the threshold. NaN where the judge gave no grade and nobody labelled any.
    """
    labels = population.labels
    if not labels.n_labelled:
        return nearness(labels.judge_grades, population.at)
    expected = np.full(labels.n_items, np.nan)
    for point in recalibration_curve(labels):
        here = np.isnan(labels.judge_grades) if point.grade is None else labels.judge_grades == point.grade
        expected[here] = np.nan if point.isotonic is None else point.isotonic
    return np.asarray(np.sqrt(np.clip(expected * (1 - expected), 0, None)))


def disagreement_of(population: Population, judges: list[JudgeChoice]) -> FloatArray | None:
    """Return the sd of several judges' yes and no on each item; None where there is one judge alone."""
    if len(judges) < 2:
        return None
    places = {pk: place for place, pk in enumerate(population.item_ids.tolist())}
    votes = np.full((len(judges), len(places)), np.nan)
    for number, choice in enumerate(judges):
        asked = choice.graded.judge(choice.column)
        grades = grades_of(asked.codes[:, 0], asked.numbers)
        for pk, grade in zip(asked.items, grades.tolist(), strict=True):
            if pk in places and not np.isnan(grade):
                votes[number, places[pk]] = grade >= choice.criterion.threshold
    n = np.isfinite(votes).sum(axis=0)
    share = np.nansum(votes, axis=0) / np.maximum(n, 1)
    return np.where(n >= 2, np.sqrt(share * (1 - share)), np.nan)
