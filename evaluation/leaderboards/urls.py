from django.urls import URLPattern, URLResolver, include, path

from collection.web.charts.urls import chart_paths
from evaluation.leaderboards import views
from evaluation.leaderboards.evaluation_files import views as correlate_views
from evaluation.leaderboards.measures import views as measures_views

leaderboard: list[URLPattern] = [
    path("", views.leaderboard, name="leaderboard"),
    path("leaderboard.json", views.leaderboard_json, name="leaderboard_json"),
    *chart_paths("systems", views.leaderboard_chart, "leaderboard_chart"),
    path("<slug:table>.<slug:table_format>", views.leaderboard_table, name="leaderboard_table"),
    path("measures/", measures_views.measures_board, name="measures_board"),
    path("measures/measures.json", measures_views.measures_json, name="measures_json"),
    *chart_paths("measures/systems", measures_views.measures_chart, "measures_chart"),
    path("measures/<slug:table>.<slug:table_format>", measures_views.measures_table, name="measures_table"),
    path("evaluation-files/", views.leaderboard_evaluation, name="leaderboard_evaluation"),
    path("correlate/", correlate_views.correlate, name="correlate"),
]
urlpatterns: list[URLResolver] = [path("studies/<slug:name>/leaderboard/", include(leaderboard))]
