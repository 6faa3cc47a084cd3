from django.urls import URLPattern, URLResolver, include, path

from evaluation.trust import (
    model_family_views,
    overview_views,
)

of_study: list[URLPattern] = [
    path("families/", model_family_views.families, name="families"),
]
trust_in_judges: list[URLPattern] = [
    path("", overview_views.trust_in_judges, name="trust_in_judges"),
    path("judges.json", overview_views.trust_in_judges_json, name="trust_in_judges_json"),
    path("judges.<slug:table_format>", overview_views.trust_in_judges_table, name="trust_in_judges_table"),
]
urlpatterns: list[URLResolver] = [
    path("trust-in-judges/", include(trust_in_judges)),
    path("studies/<slug:name>/", include(of_study)),
]
