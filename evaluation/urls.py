from django.urls import URLPattern, URLResolver, include, path

from collection.web.report_views import report_paths

app_name = "evaluation"

FEATURES = (
    "agreement",
    "battles",
    "calibration",
    "cited_reports",
    "dashboard",
    "figures",
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
]
