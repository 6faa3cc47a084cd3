from django.urls import URLPattern, URLResolver, include, path

from collection.web.report_views import report_paths
from evaluation.agreement.views import agreement_file

app_name = "evaluation"

FEATURES = (
    "agreement",
    "battles",
    "calibration",
    "cited_reports",
    "dashboard",
    "leaderboards",
    "publishing",
    "rubrics",
    "splits",
    "trust",
    "workshop_scores",
)

urlpatterns: list[URLPattern | URLResolver] = [
    *(path("", include(f"evaluation.{feature}.urls")) for feature in FEATURES),
    *report_paths("evaluation"),
    # After the reports, because agreement/details/ is one.
    path("studies/<slug:name>/agreement/<slug:criterion>/<str:file>", agreement_file, name="agreement_file"),
]
