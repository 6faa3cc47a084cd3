"""How many labels give a system's score under a measure of rankings an interval, or tell two systems apart in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from collection.models import Criterion, Rater
from evaluation.calibration.planning import HalfWidthPlan, SeparationPlan, plan_of
from evaluation.data.population import Population, find_judge, judge_choices
from evaluation.leaderboards.available_measures import measures_of
from evaluation.leaderboards.corrected.correction import Corrected, Ready, ready_to_correct
from evaluation.leaderboards.corrected.draws import NothingToCorrect
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.scores import score
from evaluation.leaderboards.sources import JudgmentLoader, Scorer, Source
from stats.calibration.pilots import NoPlan, Pilot
from stats.calibration.planning import Plan, more_labels, topics_answer
from stats.plurals import counted
from stats.ranking.label_pilots import RESAMPLES_OF_LABELS, TopicPilot
from stats.ranking.measure_names import SystemMeasure, parse_measure
from stats.ranking.qrels_scoring import QrelsMeasure
from stats.ratings import FloatArray

NO_AP = (
    "The error of AP falls with the square of the labels, which no plan here follows. Plan nDCG@k, P@k or DCG@k, which "
    "need about as many."
)


@dataclass(frozen=True)
class MeasurePlan:
    """What gives one system's mean an interval of ± `wanted`, or finds a difference of `wanted` between two."""

    measure: str
    systems: tuple[str, ...]
    wanted: float
    pilot: Pilot
    plan: Plan
    counts = "items"

    @property
    def answer(self) -> str:
        """What it takes, in words."""
        if len(self.systems) == 2:
            wanted = f"a difference of {abs(self.wanted):.3f} in {self.measure} between {' and '.join(self.systems)}"
            not_possible = f"Here {wanted} cannot be detected with 80 % power: {self.plan.reason}"
            purpose = f"to detect {wanted} with 80 % power"
        else:
            wanted = f"an interval of ± {self.wanted:g} around {self.measure} of {self.systems[0]}"
            not_possible = f"{wanted[0].upper()}{wanted[1:]} is not possible here: {self.plan.reason}"
            purpose = f"for {wanted}"
        if self.plan.needed is None:
            return f"{not_possible}{self._left_open}."
        if self.plan.needed <= self.pilot.n_labelled:
            return f"No more labels needed {purpose}: the {self.pilot.n_labelled:,} at hand do; {self._between}."
        needed = f"people must label {counted(self.plan.needed, 'items')} of {self.pilot.n_items:,} in all, drawn alike"
        return f"{more_labels(self.plan, 'labels')} ({needed}; {self._between}) {purpose}."

    @property
    def _between(self) -> str:
        assert self.plan.needed_range is not None  # of every pilot of topics
        low, high = self.plan.needed_range
        most = f"more than all {self.pilot.n_items:,}" if high is None else f"{high:,}"
        return f"between {low:,} and {most} as far as {counted(self.pilot.n_labelled, 'labels')} can tell, 80 %"

    @property
    def _left_open(self) -> str:
        assert self.plan.needed_range is not None
        low, _ = self.plan.needed_range
        return f". As far as these labels can tell (80 %), {low:,} may do" if low < self.pilot.n_items else ""

    @property
    def topics_answer(self) -> str:
        """What topics like these it needs, in words."""
        return topics_answer(self.pilot, self.plan, "items")

    def as_dict(self) -> dict[str, Any]:
        """Return it as commands and the API have it."""
        of_pair = len(self.systems) == 2
        return {
            "measure": self.measure,
            **({"systems": list(self.systems)} if of_pair else {"system": self.systems[0]}),
            **({"difference": self.wanted} if of_pair else {"half_width": self.wanted}),
            "pilot": self.pilot.as_dict(),
            "plan": self.plan.as_dict(),
            "answer": self.answer,
            "topics_answer": self.topics_answer,
        }


def measures_to_plan(criterion: Criterion) -> list[str]:
    """Return the measures of rankings that can be planned by labels under the criterion, nDCG first."""
    if not criterion.study.items.filter(task_type=criterion.task_type, passage__isnull=False).exists():
        return []
    names = [one.name for one in measures_of(criterion.study) if isinstance(one, QrelsMeasure) and _planned(one)]
    return sorted(names, key=lambda name: not name.startswith("nDCG"))


def _planned(measure: QrelsMeasure) -> bool:
    asked = measure.at(threshold=1)
    return not asked.at_oracle and (asked.ratio == "nDCG" or asked.estimable)


def plan(population: Population, *, measure: str = "", **asked: Any) -> HalfWidthPlan | SeparationPlan | MeasurePlan:
    """Return the plan that is asked for: of a measure of rankings, or without one of the share of yes.

    Raises as `plan_measure` and `plan_of` do.
    """
    if not measure:
        return plan_of(population, **asked)
    return plan_measure(population.criterion, measure=measure, judge=population.choice.key, **asked)


def plan_measure(
    criterion: Criterion,
    *,
    measure: str,
    judge: str | None = None,
    half_width: float | None = None,
    system: str = "",
    separate: Sequence[str] | None = None,
    difference: float | None = None,
) -> MeasurePlan:
    """Plan for telling two systems apart in the measure, or for an interval around one's mean.

    Without a difference to expect, the one that the judge sees. Raises NoPlan, JudgeNotFound, and as
    `QrelsMeasure.at` does.
    """
    asked = parse_measure(measure)
    systems = tuple(separate or filter(None, [system]))
    if not isinstance(asked, QrelsMeasure):
        raise NoPlan(f"{asked.name} does not measure rankings. Plan nDCG@k, P@k or DCG@k.")
    if not systems or len(set(systems)) < len(systems):
        raise NoPlan(f"Choose the system whose {asked.name} it is, or two different systems.")
    if asked.ratio == "AP":
        raise NoPlan(NO_AP)
    scorer, people, by_judge = _sources(criterion, asked, judge)
    try:
        ready = ready_to_correct(scorer, asked, people, by_judge)
        values, deviations = _by_topic(ready, systems)
    except NothingToCorrect as nothing:
        raise NoPlan(str(nothing)) from nothing
    signs = np.array([1.0, -1.0][: len(systems)])
    graded = score(scorer, asked, by_judge).scored.evaluated.reindex(index=list(systems), columns=ready.pool.topics)
    judged = signs @ graded.fillna(0.0).to_numpy(dtype=np.float64)
    if len(systems) == 2 and difference is None:
        difference = float(judged.mean())
    if len(systems) == 2 and not difference:
        raise NoPlan("According to the judge these systems do not differ. Give the difference that you want to detect.")
    moved = np.einsum("s,rst->rt", signs, deviations)
    pilot = TopicPilot(signs @ values, moved, judged, ready.draw.n_labelled, ready.draw.n_items)
    wanted = difference if len(systems) == 2 else half_width
    assert wanted is not None  # PlanChoice asks for either
    plan = pilot.plan_separation(wanted) if len(systems) == 2 else pilot.plan_half_width(wanted)
    return MeasurePlan(ready.asked.shown, systems, wanted, pilot.pilot, plan)


def _sources(criterion: Criterion, measure: SystemMeasure, judge: str | None) -> tuple[Scorer, Source, Source]:
    """Return what is visible, the people under the criterion, and the judge. Raises NoPlan and JudgeNotFound."""
    everything = Scorer.of(criterion.study)
    people, by_judge = _people_and_judge(everything.loader, criterion, measure, judge)
    if people is None or by_judge is None:
        raise NoPlan("A plan needs people’s labels and a judge that graded these passages.")
    return everything.seen([people, by_judge]), people, by_judge


def _people_and_judge(
    loader: JudgmentLoader, criterion: Criterion, measure: SystemMeasure, judge: str | None
) -> tuple[Source | None, Source | None]:
    """Return the people under the criterion and the judge, called as `judge_choices` calls it. Raises JudgeNotFound."""
    choice = find_judge(judge_choices(loader.judgments(criterion)), judge)
    sources = loader.sources(measure)
    people = (one for one in sources if one.kind == Rater.Kind.ASSESSOR and one.criterion == criterion)
    judges = (one for one in sources if one.raters == (choice.rater,) and one.criterion == choice.criterion)
    return next(people, None), next(judges, None)


def _by_topic(ready: Ready, systems: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Return the systems' corrected scores by topic, and how far other labels of the draw move them."""
    names = list(ready.rankings)
    for system in systems:
        if system not in names:
            listed = ", ".join(names) or "none"
            raise NoPlan(ready.withheld.get(system) or f"No run is called “{system}”. Systems: {listed}.")
    rows = [names.index(system) for system in systems]
    if ready.ratio is not None:
        found = ready.ratios()
        return found.table.to_numpy(dtype=np.float64)[rows], found.deviations[:, rows]
    values, deviations = ready.sums().linear(RESAMPLES_OF_LABELS)
    if np.isnan(values[rows]).any():
        raise NoPlan(f"Nobody labelled any of the first passages of {' or of '.join(systems)}.")
    return values[rows], deviations[:, rows]


def corrected_by(criterion: Criterion, *, measure: str, judge: str) -> Corrected | None:
    """Return the systems' scores under the measure by the judge as people correct it; None where it has no part.

    Raises JudgeNotFound.
    """
    scorer, asked = Scorer.of(criterion.study), parse_measure(measure)
    found = _people_and_judge(scorer.loader, criterion, asked, judge)
    board = measure_leaderboard(scorer, asked, sources=[one.name for one in found if one]) if all(found) else None
    return next(iter(board.corrected), None) if board else None
