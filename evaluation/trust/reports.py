"""Reports about judges: how they compare, and what suggesting their grades does to labels."""

from __future__ import annotations

from typing import Any

from collection.web.options import Choices
from collection.web.reports import Chart
from collection.web.sent_files import Files
from evaluation.data.study_reports import StudyReport
from evaluation.trust.serializers import EffectsChoice, JudgeComparisonChoice, SubmissionsChoice, TrustChoice
from stats.judges.alt_test import EPSILONS
from stats.judges.text_level import RULES
from stats.plurals import counted


class TrustReport(StudyReport):
    name, path, file = "trust", "trust", "trust"
    title = "Trust in a judge"
    lead = "The best threshold of a judge, whether it is as good as a human assessor, and its biases."
    about = (
        "A judge’s threshold chosen on one half, human ceiling, alternative-annotator test and bias audits; if it "
        "graded texts’ elements and assessors the texts, `rolled_up` compares them."
    )
    options, shown = TrustChoice, ("judge", "people", "rule", "against")
    of_criterion = True
    compute = "evaluation.trust.page:examine"
    charts = {"thresholds": Chart("evaluation.trust.page:thresholds_chart")}
    template = "evaluation/trust.html"

    def choices(self, result: Any) -> dict[str, Choices]:
        pairs = ((one, one.of_judges, one.of_people) for one in result.roll_ups)
        against = [(one.key, f"{a} ({a.study}) to {b} ({b.study})") for one, a, b in pairs]
        return {
            "judge": result.choices,
            "people": [(name, f"{name} (ε = {epsilon})") for name, epsilon in EPSILONS.items() if result.same_items],
            "rule": list(RULES.items()) if result.rolled else [],
            "against": against if len(against) > 1 else [],
        }

    def missing(self, result: Any) -> str:
        return "" if result and result.name else "No judge can be compared with humans yet."


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


class SubmittedJudgesReport(StudyReport):
    name, path = "submitted_judges", "submitted-judges"
    title = "Submitted judges"
    lead = "How far judges’ files agree with people, and order the systems as people do. The files are not kept."
    about = (
        "Judges’ qrels and evaluation files beside people: κ and α of their grades, τ_b and τ_AP of their order of "
        "systems, with intervals. The files are not kept."
    )
    options, shown = SubmissionsChoice, ("measure", "stored", "form")
    files = Files("Files of judges", "Qrels, or evaluation files: one of each judge, called like it.")
    of_criterion = True
    compute = "evaluation.trust.submitted_judges:compare_submissions"
    template = "evaluation/submitted_judges.html"

    def notes(self, result: Any) -> list[str]:
        of = result.comparison
        on = (
            f"{counted(of.n_items, 'items')} of {counted(of.n_topics, 'topics')} under {result.criterion}."
            if of
            else ""
        )
        return [*filter(None, [on]), *result.notes]


class SuggestionEffectsReport(StudyReport):
    name, path, file = "suggestion_effects", "suggestions/effects", "suggestion-effects"
    title = "Effects of suggestions"
    lead = "What it does to labels that assessors see a judge’s grade."
    command = "trust suggestions"
    about = "By arm of a study's suggestions: the shift towards the judge, time, agreement, and the leaderboard."
    options, shown = EffectsChoice, ("criterion", "judge")
    compute = "evaluation.trust.suggestion_effects:measure_effects"
    offers = "evaluation.trust.suggestion_effects:offered"
    template = "evaluation/suggestion_effects.html"
