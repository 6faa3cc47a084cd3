"""Reports about judges: how they compare, and what suggesting their grades does to labels."""

from __future__ import annotations

from collection.web.reports import Chart
from evaluation.data.study_reports import StudyReport
from evaluation.trust.serializers import EffectsChoice, JudgeComparisonChoice


class JudgeComparisonReport(StudyReport):
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


class SuggestionEffectsReport(StudyReport):
    name, path, file = "suggestion_effects", "suggestions/effects", "suggestion-effects"
    title = "Effects of suggestions"
    lead = "What it does to labels that assessors see a judge’s grade."
    about = "By arm of a study's suggestions: the shift towards the judge, time, agreement, and the leaderboard."
    options, shown = EffectsChoice, ("criterion", "judge")
    compute = "evaluation.trust.suggestion_effects:measure_effects"
    offers = "evaluation.trust.suggestion_effects:offered"
    template = "evaluation/suggestion_effects.html"
