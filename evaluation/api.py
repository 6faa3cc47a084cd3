"""This app's part of /api/v1/: the same services as its pages."""

from django.urls import URLPattern, URLResolver, path

from collection.web.api import report_api_paths
from evaluation.agreement import api as agreement
from evaluation.agreement.nuggets import api as nugget_sets
from evaluation.battles import drawing_pairs
from evaluation.calibration import api as calibration
from evaluation.dashboard import api as dashboard
from evaluation.leaderboards import views as leaderboards
from evaluation.publishing import api as publishing
from evaluation.splits import api as splits
from evaluation.trust import overview_views as trust

api_urlpatterns: list[URLPattern | URLResolver] = [
    path("collections/<slug:name>/nugget-agreement/", nugget_sets.nugget_agreement, name="collection_nugget_agreement"),
    path("collections/<slug:name>/nugget-agreement/list/", nugget_sets.nuggets_as_reports, name="nuggets_as_reports"),
    path("trust-in-judges/", trust.trust_in_judges_in_api, name="trust_in_judges"),
    path("studies/<slug:name>/dashboard/", dashboard.dashboard, name="study_dashboard"),
    path("studies/<slug:name>/agreement/", agreement.agreement_of_people, name="study_agreement_of_people"),
    path("studies/<slug:name>/errors/items/", agreement.error_items_page, name="study_error_items"),
    path("studies/<slug:name>/battles/draw/", drawing_pairs.draw, name="study_battles_draw"),
    *report_api_paths("evaluation"),
    path("studies/<slug:name>/split/", splits.split, name="study_split"),
    path("studies/<slug:name>/split/readings/", splits.readings, name="study_readings"),
    path("studies/<slug:name>/families/", splits.families, name="study_families"),
    path("studies/<slug:name>/calibration/plan/", calibration.label_plan, name="study_label_plan"),
    path("studies/<slug:name>/calibration/draw/", calibration.draw, name="study_draw"),
    path("studies/<slug:name>/declarations/", calibration.declarations, name="study_declarations"),
    path("studies/<slug:name>/qrels/", publishing.qrels, name="study_qrels"),
    path("studies/<slug:name>/filled-qrels/", publishing.filled_qrels, name="study_filled_qrels"),
    path("studies/<slug:name>/making/", publishing.making, name="study_making"),
    path("studies/<slug:name>/bundle/", publishing.bundle, name="study_bundle"),
    path(
        "studies/<slug:name>/leaderboard/evaluation/",
        leaderboards.evaluation_in_api,
        name="study_leaderboard_evaluation",
    ),
    path("studies/<slug:name>/leaderboard/run/", leaderboards.posted_run, name="study_posted_run"),
]
