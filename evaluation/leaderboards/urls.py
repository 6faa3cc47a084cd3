from django.urls import URLPattern, path

from evaluation.leaderboards import views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/leaderboard/", views.leaderboard, name="leaderboard"),
    path("studies/<slug:name>/leaderboard/leaderboard.json", views.leaderboard_json, name="leaderboard_json"),
    path(
        "studies/<slug:name>/leaderboard/systems.svg",
        views.leaderboard_chart,
        {"form": "svg"},
        name="leaderboard_chart_svg",
    ),
    path(
        "studies/<slug:name>/leaderboard/systems.vl.json",
        views.leaderboard_chart,
        {"form": "json"},
        name="leaderboard_chart_json",
    ),
    path(
        "studies/<slug:name>/leaderboard/<slug:table>.<slug:table_format>",
        views.leaderboard_table,
        name="leaderboard_table",
    ),
    path("studies/<slug:name>/leaderboard/correlations/", views.correlations, name="correlations"),
    path(
        "studies/<slug:name>/leaderboard/correlations/<slug:table>.<slug:table_format>",
        views.correlations_table,
        name="correlations_table",
    ),
]
