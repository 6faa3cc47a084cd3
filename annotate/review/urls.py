from django.urls import URLPattern, path

from annotate.review import views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/review/batch/", views.batch_release, name="batch_release"),
    path("studies/<slug:name>/review/disagreements/", views.disagreements, name="disagreements"),
    path("studies/<slug:name>/review/disagreements/names/", views.disagreements_names, name="disagreements_names"),
    path(
        "studies/<slug:name>/review/disagreements/<int:item>/<slug:criterion>/", views.adjudication, name="adjudication"
    ),
    path("studies/<slug:name>/review/adjudicators/<str:username>/", views.adjudicator, name="adjudicator"),
    path("studies/<slug:name>/review/spot-checks/", views.spot_checks, name="spot_checks"),
    path("studies/<slug:name>/review/spot-checks/draw/<int:rater>/", views.spot_checks_draw, name="spot_checks_draw"),
    path("studies/<slug:name>/review/spot-checks/<int:pk>/", views.spot_check, name="spot_check"),
]
