"""Comparison of judges: whom to trust, and what each makes of the order of systems."""

from __future__ import annotations

from collection.web.reports import Chart, Report
from evaluation.trust.serializers import JudgeComparisonChoice


class JudgeComparisonReport(Report):
    name, path, file = "judge_comparison", "judge-comparison", "judges"
    title = "Comparison of judges"
    lead = "Which judge agrees most with people, and what each does to the order of systems."
    about = (
        "Judges of a criterion on the same items: κ, α, ungraded replies and cost; the best by κ, corrected for the "
        "choice; differences with simultaneous 95 % intervals; the order of systems by people, by each judge, and by "
        "its grades recalibrated. On the development topics if the study is split."
    )
    options = JudgeComparisonChoice
    of_criterion = True
    compute = "evaluation.trust.comparison:compare_judges_of"
    charts = {
        "agreement": Chart("evaluation.trust.comparison_charts:agreement_chart"),
        "differences": Chart("evaluation.trust.comparison_charts:differences_chart"),
        "ranks": Chart("evaluation.trust.comparison_charts:systems_chart"),
    }
    template = "evaluation/judge_comparison.html"
