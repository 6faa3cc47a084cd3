from django.urls import URLPattern, URLResolver, include, path

app_name = "evaluation"

FEATURES = ("agreement", "calibration", "computing", "leaderboards", "publishing", "rubrics", "splits", "trust")

urlpatterns: list[URLPattern | URLResolver] = [path("", include(f"evaluation.{feature}.urls")) for feature in FEATURES]
