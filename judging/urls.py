from django.urls import URLPattern, URLResolver, include, path

app_name = "judging"

FEATURES = (
    "building",
    "comparison",
    "gullibility",
    "imported",
    "jobs",
    "judges",
    "prompt_templates",
    "servers",
    "trial_runs",
)

urlpatterns: list[URLPattern | URLResolver] = [path("", include(f"judging.{feature}.urls")) for feature in FEATURES]
