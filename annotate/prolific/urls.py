"""Addresses of a researcher's account at Prolific, in the namespace `annotate`."""

from django.urls import URLPattern, path, re_path

from annotate.prolific import views

KIND = "(?P<kind>study|places|approvals|top_ups|returns|statuses)"
STUDY = r"^studies/(?P<name>[-a-zA-Z0-9_]+)/crowd"

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/crowd/prolific/account/", views.prolific_account, name="prolific_account"),
    path("studies/<slug:name>/crowd/prolific/account/token/", views.prolific_token, name="prolific_token"),
    path(
        "studies/<slug:name>/crowd/prolific/account/unattended/",
        views.prolific_unattended,
        name="prolific_unattended",
    ),
    re_path(rf"{STUDY}/prolific/account/{KIND}/$", views.prolific_request, name="prolific_request"),
    path(
        "studies/<slug:name>/crowd/prolific/account/requests/<int:pk>/",
        views.prolific_settle,
        name="prolific_settle",
    ),
]
