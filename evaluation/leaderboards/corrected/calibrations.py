"""What workers compute for calibration: corrected scores, and plans of labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from collection.models import Criterion, Study
from collection.splits import AskedPart
from collection.web.options import Choices
from collection.web.reports import NothingToReport
from evaluation.calibration.report import Calibration, calibrate_population
from evaluation.data.judgments import load_criterion
from evaluation.data.population import NothingVisible, find_judge, judge_choices, load_population, population_of
from evaluation.leaderboards.corrected import plans
from stats.refusals import Refused


def offered(criterion: Criterion) -> dict[str, Choices]:
    """Return the judges that may be calibrated, each with its name as a list has it."""
    choices = judge_choices(load_criterion(criterion))
    return {"judge": [(choice.key, choice.completeness.after(choice.key)) for choice in choices]}


def calibration_of(criterion: Criterion, *, judge: str | None, label_shift: bool, part: AskedPart) -> Calibration:
    """Correct the scores of the judge of this name, or of the first. Raises NothingToReport and JudgeNotFound."""
    of_people = load_criterion(criterion)
    choices = judge_choices(of_people)
    if not choices:
        raise NothingToReport(f"No judge has graded these items under “{criterion}” yet.")
    try:
        population = load_population(of_people, find_judge(choices, judge or choices[0].key), part=part)
    except NothingVisible as nothing:
        raise NothingToReport(str(nothing)) from nothing
    found = calibrate_population(population, label_shift=label_shift)
    return replace(found, measures=tuple(plans.measures_to_plan(criterion)))


def corrected(study: Study, *, criterion: int, judge: str, measure: str) -> Any:
    """Return a judge's scores of systems under the measure as people's labels correct them."""
    return plans.corrected_by(_criterion(study, criterion), measure=measure, judge=judge)


def label_plans(
    study: Study, *, criterion: int, judge: str, half_width: float | None, system: str, first: str, second: str,
    difference: float | None, measure: str,
) -> dict[str, Any]:  # fmt: skip
    """Return the plans that are asked for, and by the name of the field why there is none."""
    population = population_of(_criterion(study, criterion), judge)
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


def label_plan(study: Study, *, criterion: int, judge: str | None, **asked: Any) -> dict[str, Any]:
    """Return the plan that is asked for: for an interval, or for telling two systems apart."""
    population = population_of(_criterion(study, criterion), judge)
    return {**plans.plan(population, **asked).as_dict(), **population.visibility.as_dict()}


def _criterion(study: Study, pk: int) -> Criterion:
    return study.criteria.select_related("study__collection", "scale").get(pk=pk)
