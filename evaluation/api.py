"""This app's part of /api/v1/: the same services as its pages."""

from django.urls import URLPattern, URLResolver, path

from evaluation.agreement import api as agreement
from evaluation.calibration import api as calibration
from evaluation.leaderboards import api as leaderboards
from evaluation.publishing import api as publishing
from evaluation.rubrics import api as rubrics
from evaluation.splits import api as splits
from evaluation.trust import api as trust

api_urlpatterns: list[URLPattern | URLResolver] = [
    path("trust-in-judges/", trust.trust_in_judges, name="trust_in_judges"),
    path("studies/<slug:name>/agreement/", agreement.agreement, name="study_agreement"),
    path("studies/<slug:name>/comparison/", agreement.comparison, name="study_comparison"),
    path("studies/<slug:name>/agreement/details/", agreement.agreement_details, name="study_agreement_details"),
    path("studies/<slug:name>/judge-comparison/", trust.judge_comparison, name="study_judge_comparison"),
    path("studies/<slug:name>/trust/", trust.trust, name="study_trust"),
    path("studies/<slug:name>/split/", splits.split, name="study_split"),
    path("studies/<slug:name>/split/readings/", splits.readings, name="study_readings"),
    path("studies/<slug:name>/suggestions/effects/", trust.suggestion_effects, name="study_suggestion_effects"),
    path("studies/<slug:name>/families/", splits.families, name="study_families"),
    path("studies/<slug:name>/masking/", rubrics.masking, name="study_masking"),
    path("studies/<slug:name>/calibration/", calibration.calibration, name="study_calibration"),
    path("studies/<slug:name>/calibration/plan/", calibration.label_plan, name="study_label_plan"),
    path("studies/<slug:name>/calibration/draw/", calibration.draw, name="study_draw"),
    path("studies/<slug:name>/qrels/", publishing.qrels, name="study_qrels"),
    path("studies/<slug:name>/bundle/", publishing.bundle, name="study_bundle"),
    path("studies/<slug:name>/leaderboard/", leaderboards.leaderboard, name="study_leaderboard"),
    path("studies/<slug:name>/divergence/", leaderboards.divergence, name="study_divergence"),
    path("studies/<slug:name>/redundancy/", rubrics.redundancy, name="study_redundancy"),
]
