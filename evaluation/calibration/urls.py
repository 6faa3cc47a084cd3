from django.urls import URLPattern, path

from evaluation.calibration import views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/calibration/declarations/", views.declarations, name="declarations"),
    path("studies/<slug:name>/calibration/draw/", views.label_next, name="label_next"),
]
