"""Reports about people and judges on the same items: how far they agree, where they do not, and where one errs."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from collection.models import Study
from collection.web.options import Choices
from collection.web.pages import criteria_queryset
from collection.web.reports import Chart
from evaluation.agreement.errors.serializers import PEOPLE, ErrorsChoice
from evaluation.data.study_reports import StudyReport


class AgreementReport(StudyReport):
    name, path, file = "agreement", "agreement", "agreement"
    api_path = "comparison"
    title = "Agreement"
    lead = "How far assessors agree with one another, and how far each judge agrees with them."
    about = "All figures of the agreement page: assessors with one another, and with each judge."
    of_criterion = True
    compute = "evaluation.agreement.report:measure_criterion"
    charts = {"coverage": Chart("evaluation.agreement.report:draw_coverage")}
    template = "evaluation/agreement.html"

    def missing(self, result: Any) -> str:
        """Say that no person has judged, where so."""
        return "" if result and result.agreement.n_ratings else self.nothing

    def context(self, request: HttpRequest, study: Study, result: Any) -> dict[str, Any]:
        """Return where judges without items of people's own can be compared: with texts, or with a yes and no."""
        from evaluation.data.judge_pairs import is_graded_version
        from evaluation.data.text_level import roll_ups_of

        del request
        if result is None or result.judges:
            return {}
        chosen = result.criterion
        yes_no = [one for one in criteria_queryset(study) if is_graded_version(chosen, of=one)]
        return {"roll_ups": roll_ups_of(chosen), "yes_no": yes_no}


class BreakdownsReport(StudyReport):
    name, path, file = "breakdowns", "agreement/details", "details"
    title = "Agreement in detail"
    lead = "Where assessors agree and where they do not: by group, grade, assessor and item."
    about = "Agreement by topic, topic attribute, wave, guideline version, grade and assessor; disputed items."
    of_criterion = True
    compute = "evaluation.agreement.breakdowns:measure_breakdowns"
    template = "evaluation/breakdowns.html"

    def missing(self, result: Any) -> str:
        """Say that nobody has judged, where so."""
        return self.nothing if result is None or not result.n_items else ""


class ErrorsReport(StudyReport):
    name, path, file = "errors", "errors", "errors"
    title = "Errors"
    lead = "Where a judge or an assessor differs from people, in which direction, and on which texts."
    about = (
        "Where a rater errs beside people or another rater: confusion matrix, errors by topic, length and expected "
        "grade, and all pairs of raters, with 95 % intervals over topics."
    )
    options, shown = ErrorsChoice, ("rater", "against", "by")
    of_criterion = True
    compute = "evaluation.agreement.errors.report:measure_errors"
    template = "evaluation/errors.html"

    def choices(self, result: Any) -> dict[str, Choices]:
        """Return the raters' names, first the one that is shown, and beside whom."""
        names = [(one.name, one.completeness.after(one.name)) for one in result.choices]
        return {
            "rater": sorted(names, key=lambda one: one[0] != result.name),
            "against": [(PEOPLE, "people (majority)"), *names],
        }
