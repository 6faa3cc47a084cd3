from django.urls import URLPattern, URLResolver, include, path

from evaluation.leaderboards import views

leaderboard: list[URLPattern] = [
    path("", views.leaderboard, name="leaderboard"),
    path("leaderboard.json", views.leaderboard_json, name="leaderboard_json"),
    path("systems.svg", views.leaderboard_chart, {"form": "svg"}, name="leaderboard_chart_svg"),
    path("systems.vl.json", views.leaderboard_chart, {"form": "json"}, name="leaderboard_chart_json"),
    path("<slug:table>.<slug:table_format>", views.leaderboard_table, name="leaderboard_table"),
    path("correlations/", views.correlations, name="correlations"),
    path("correlations/<slug:table>.<slug:table_format>", views.correlations_table, name="correlations_table"),
]
urlpatterns: list[URLResolver] = [path("studies/<slug:name>/leaderboard/", include(leaderboard))]
