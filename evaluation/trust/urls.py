from django.urls import URLPattern, path

from evaluation.trust import comparison_views, model_family_views, overview_views, views

urlpatterns: list[URLPattern] = [
    path("trust-in-judges/", overview_views.trust_in_judges, name="trust_in_judges"),
    path("trust-in-judges/judges.json", overview_views.trust_in_judges_json, name="trust_in_judges_json"),
    path(
        "trust-in-judges/judges.<slug:table_format>",
        overview_views.trust_in_judges_table,
        name="trust_in_judges_table",
    ),
    path("studies/<slug:name>/families/", model_family_views.families, name="families"),
    path("studies/<slug:name>/judge-comparison/", comparison_views.judge_comparison, name="judge_comparison"),
    path(
        "studies/<slug:name>/judge-comparison/judges.json",
        comparison_views.judge_comparison_json,
        name="judge_comparison_json",
    ),
    path(
        "studies/<slug:name>/judge-comparison/judges.<slug:table_format>",
        comparison_views.judge_comparison_table,
        name="judge_comparison_table",
    ),
    path("studies/<slug:name>/trust/", views.trust, name="trust"),
    path("studies/<slug:name>/trust/trust.json", views.trust_json, name="trust_json"),
    path("studies/<slug:name>/trust/thresholds.svg", views.thresholds_chart, {"form": "svg"}, name="thresholds_svg"),
    path(
        "studies/<slug:name>/trust/thresholds.vl.json", views.thresholds_chart, {"form": "json"}, name="thresholds_json"
    ),
    path("studies/<slug:name>/trust/<slug:table>.<slug:table_format>", views.trust_table, name="trust_table"),
]
