from django.urls import URLPattern, URLResolver, include, path

from evaluation.trust import comparison_views, model_family_views, overview_views, suggestion_views, views

of_study: list[URLPattern] = [
    path("families/", model_family_views.families, name="families"),
    path("judge-comparison/", comparison_views.judge_comparison, name="judge_comparison"),
    path("judge-comparison/judges.json", comparison_views.judge_comparison_json, name="judge_comparison_json"),
    path(
        "judge-comparison/judges.<slug:table_format>",
        comparison_views.judge_comparison_table,
        name="judge_comparison_table",
    ),
    path("suggestions/effects/", suggestion_views.suggestion_effects, name="suggestion_effects"),
    path("trust/", views.trust, name="trust"),
    path("trust/trust.json", views.trust_json, name="trust_json"),
    path("trust/thresholds.svg", views.thresholds_chart, {"form": "svg"}, name="thresholds_svg"),
    path("trust/thresholds.vl.json", views.thresholds_chart, {"form": "json"}, name="thresholds_json"),
    path("trust/<slug:table>.<slug:table_format>", views.trust_table, name="trust_table"),
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
