"""What workers compute for pages, each a function of a study and what was asked: `kept` says when and for whom.

What pages read of the figures is worked out here as far as it costs anything, so a web server needs no statistics.
"""

from __future__ import annotations

from typing import Any

from collection.models import Criterion, Study
from collection.web.cached_results import compute_now
from collection.web.charts.drawing import drawn
from evaluation.calibration.report import METHODS, MOST_SYSTEMS_DRAWN, Calibration, calibrate
from evaluation.charts.reliability import OVERALL, recalibration_chart
from evaluation.charts.reliability import scores_chart as corrected_scores_chart
from evaluation.data.judgments import load_criterion
from evaluation.data.population import judge_choices, population_of
from evaluation.leaderboards.corrected import plans
from stats.refusals import Refused

# A chart in its forms (`charts.drawing.drawn`); None where there is nothing to draw.
Chart = dict[str, Any] | None


def calibration_choices(study: Study, *, criterion: int) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the judges that may be calibrated, each with its name as a list has it, and measures to plan for."""
    chosen = _criterion(study, criterion)
    choices = judge_choices(load_criterion(chosen))
    judges = [(choice.key, choice.completeness.after(choice.key)) for choice in choices]
    return judges, plans.measures_to_plan(chosen) if judges else []


def calibration(study: Study, *, criterion: int, judge: str | None, label_shift: bool, part: Any) -> Calibration:
    found = calibrate(_criterion(study, criterion), judge=judge, label_shift=label_shift, part=part)
    found.as_dict(), found.tables()
    return found


def calibration_chart(study: Study, *, chart: str, **asked: Any) -> Chart:
    figures: Calibration = compute_now("evaluation.computations:calibration", study, **asked)
    if chart == "recalibration":
        return drawn(recalibration_chart(figures.curve, judge=figures.choice.key))
    scores = [
        (system, METHODS[method][0], score.estimate)
        for system, corrected in [
            (OVERALL, figures.overall),
            *((one.name, one.corrected) for one in figures.systems[:MOST_SYSTEMS_DRAWN]),
        ]
        for method, score in corrected.scores.items()
        if figures.overall.scores[method].estimate.value is not None
    ]
    return drawn(corrected_scores_chart(scores, judge=figures.choice.key, n_systems=len(figures.systems)))


def corrected_scores(study: Study, *, criterion: int, judge: str, measure: str) -> Any:
    """Return a judge's scores of systems under the measure as people's labels correct them."""
    return plans.corrected_by(_criterion(study, criterion), measure=measure, judge=judge)


def label_plans(
    study: Study, *, half_width: float | None, system: str, first: str, second: str, difference: float | None,
    measure: str, **asked: Any,
) -> dict[str, Any]:  # fmt: skip
    """Return the plans that are asked for, and by the name of the field why there is none."""
    population = compute_now("evaluation.computations:calibration", study, **asked).population
    found: dict[str, Any] = {"interval": None, "separation": None, "refused": {}}
    wanted: dict[str, dict[str, Any]] = {}
    if half_width is not None:
        wanted["interval"] = {"half_width": half_width, "system": system}
    if first:
        wanted["separation"] = {"separate": [first, second], "difference": difference}
    for name, of in wanted.items():
        try:
            found[name] = plans.plan(population, measure=measure, **of)
        except Refused as none:
            found["refused"]["second" if name == "separation" else "half_width"] = str(none)
    return found


def label_plan(
    study: Study, *, criterion: int, judge: str | None, system: str, measure: str,
    half_width: float | None = None, separate: list[str] | None = None, difference: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the plan that is asked for: for an interval, or for telling two systems apart."""
    population = population_of(_criterion(study, criterion), judge)
    asked = {"half_width": half_width, "system": system, "separate": separate, "difference": difference}
    return {**plans.plan(population, measure=measure, **asked).as_dict(), **population.sight.as_dict()}


def _criterion(study: Study, pk: int) -> Criterion:
    return study.criteria.select_related("study__collection", "scale").get(pk=pk)
