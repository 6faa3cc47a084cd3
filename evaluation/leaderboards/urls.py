from django.urls import URLPattern, path

from evaluation.leaderboards import views

AT = "studies/<slug:name>/leaderboard"
urlpatterns: list[URLPattern] = [
    path(f"{AT}/evaluation-files/", views.leaderboard_evaluation, name="leaderboard_evaluation"),
]
