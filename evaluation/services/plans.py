"""How many more labels a study needs, and which items to label next."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import numpy as np

from collection.drawing import draw_items
from collection.models import Draw, Item
from evaluation.active import Drawn, draw_by_doubt, draw_by_strata, nearness
from evaluation.calibration import correct, topic_scores
from evaluation.labels import Labels
from evaluation.planner import (
    NoPlan,
    Pilot,
    Plan,
    pilot_of,
    plan_half_width,
    plan_separation,
    strata_of,
    topics_to_separate,
)
from evaluation.ratings import FloatArray, grades_of
from evaluation.recalibration import recalibration_curve
from evaluation.services.populations import JudgeChoice, Population, System

How = Literal["strata", "doubt"]
HOW = {
    "strata": "by the judge’s grade, most where people vary (Neyman)",
    "doubt": "with probabilities that grow with doubt",
}


class SystemNotFound(LookupError):
    """The population has no system of this name."""


@dataclass(frozen=True)
class HalfWidthPlan:
    """How many labels give the score an interval of ± `half_width`: over all items, or over one system's."""

    half_width: float
    system: str
    pilot: Pilot
    plan: Plan

    def as_dict(self) -> dict[str, Any]:
        return {
            "half_width": self.half_width,
            "system": self.system or None,
            "pilot": vars(self.pilot),
            "plan": vars(self.plan),
        }


@dataclass(frozen=True)
class SeparationPlan:
    """How many questions people must label for both systems to tell them apart, and how many topics.

    `plan` counts pairs: one question asked of both systems, two labels. `topics` is None for the reason beside it.
    """

    systems: tuple[str, str]
    difference: float
    pilot: Pilot
    plan: Plan
    topics: int | None
    topics_reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "systems": list(self.systems),
            "difference": self.difference,
            "pilot": vars(self.pilot),
            "plan_pairs": vars(self.plan),
            "topics": self.topics,
            "topics_reason": self.topics_reason,
        }


def plan_interval(population: Population, half_width: float, *, system: str = "") -> HalfWidthPlan:
    """Plan for an interval of ± `half_width` around the score. Raises NoPlan and SystemNotFound."""
    labels = population.labels
    if system:
        labels = labels.of_items(find_system(population, system).rows)
    pilot = pilot_of(labels)
    return HalfWidthPlan(half_width, system, pilot, plan_half_width(pilot, half_width))


def plan_difference(population: Population, first: str, second: str, *, difference: float | None) -> SeparationPlan:
    """Plan for telling two systems apart; without a difference to expect, the one the judge sees.

    Raises NoPlan and SystemNotFound.
    """
    if first == second:
        raise NoPlan("Choose two different systems.")
    a, b = find_system(population, first), find_system(population, second)
    pairs = _pairs(population, a, b)
    if difference is None:
        difference = float(np.nanmean(pairs.judge)) if np.isfinite(pairs.judge).any() else 0.0
    if not difference:
        raise NoPlan("The judge sees no difference between these systems. Say which difference you want to find.")
    pilot = pilot_of(pairs)
    topics, reason = _topics(population, a, b)
    return SeparationPlan((first, second), difference, pilot, plan_separation(pilot, difference), topics, reason)


def find_system(population: Population, name: str) -> System:
    """Return the system of this name. Raises SystemNotFound with those there are."""
    found = next((system for system in population.systems if system.name == name), None)
    if found is None:
        listed = ", ".join(system.name for system in population.systems) or "none"
        raise SystemNotFound(f"There is no system “{name}”. Systems: {listed}.")
    return found


def _pairs(population: Population, first: System, second: System) -> Labels:
    """Return the differences between two systems, question by question."""
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
        raise NoPlan("These systems share no question that both of their reports are asked, so nothing is paired.")
    a, b = (np.array([rows[element] for element in shared], dtype=np.int64) for rows in by_element)
    labels = population.labels
    assert labels.topics is not None  # load_population
    return Labels(
        people=labels.people[a] - labels.people[b],
        judge=labels.judge[a] - labels.judge[b],
        weights=None if labels.weights is None else labels.weights[a] * labels.weights[b],
        topics=labels.topics[a],
        per_topic=True,
    )


def _topics(population: Population, first: System, second: System) -> tuple[int | None, str]:
    scores = []
    for system in (first, second):
        own = population.labels.of_items(system.rows)
        scores.append(topic_scores(own, correct(own).ppi))
    shared = scores[0].keys() & scores[1].keys()
    if not shared:
        return None, "corrected scores by topic need inclusion probabilities"
    try:
        return topics_to_separate([scores[0][topic] - scores[1][topic] for topic in sorted(shared)]), ""
    except NoPlan as none:
        return None, str(none)


def draw_next(
    population: Population, *, n: int, how: How, judges: list[JudgeChoice], at: datetime, seed: int | None = None
) -> int:
    """Draw `n` of the items that no people were asked about, and store the draw. Returns how many.

    Raises TooFewItems and NoPlan where so many cannot be drawn, ItemsNotToBeDrawn where somebody else drew meanwhile.
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
