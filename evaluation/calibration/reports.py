"""The report of a judge's scores as people's labels correct them."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from collection.models import Study
from collection.web.pages import MOST_LISTED, figures_of
from collection.web.reports import Chart
from evaluation.calibration.forms import DrawForm, PlanForm
from evaluation.calibration.serializers import CalibrationChoice
from evaluation.data.study_reports import StudyReport

COMPUTING = "evaluation.leaderboards.corrected.calibrations"
PLANNED = ("measure", "half_width", "system", "first", "second", "difference")


class CalibrationReport(StudyReport):
    name, path, file = "calibration", "calibration", "calibration"
    title = "Calibration"
    lead = "How accurate a judge’s scores are, and the scores corrected by human labels."
    about = "A judge's scores corrected by human labels, overall and by system, with the recalibration curve."
    options, shown = CalibrationChoice, ("judge", "label_shift")
    of_criterion = True
    compute = f"{COMPUTING}:calibration_of"
    offers = f"{COMPUTING}:offered"
    charts = {
        "recalibration": Chart("evaluation.calibration.report:curve_chart"),
        "scores": Chart("evaluation.calibration.report:systems_chart"),
    }
    template = "evaluation/calibration.html"

    def context(self, request: HttpRequest, study: Study, result: Any) -> dict[str, Any]:
        """Return the forms of the plan and of the next draw, the plan asked for, and scores by the first measure."""
        if result is None or result.visibility.part == "test":
            return {}
        of: dict[str, Any] = {"criterion": result.criterion.pk, "judge": result.choice.key}
        names = [system.name for system in result.population.systems]
        form = PlanForm(
            request.GET if "half_width" in request.GET else None, systems=names, measures=list(result.measures)
        )
        found: dict[str, Any] = {"plan_form": form, "draw_form": DrawForm()}
        found["n_undrawn"] = int(result.population.undrawn.sum())
        for measure in result.measures[:1]:
            found |= {"measure": measure, "most_listed": MOST_LISTED}
            found["corrected"] = figures_of(request, f"{COMPUTING}:corrected", study, measure=measure, **of)
        if form.is_valid():
            wanted = {name: form.cleaned_data[name] for name in PLANNED}
            plans = figures_of(request, f"{COMPUTING}:label_plans", study, **wanted, **of)
            found["interval_plan"], found["separation_plan"] = plans["interval"], plans["separation"]
            for field, reason in plans["refused"].items():
                form.add_error(field, reason)
        return found
