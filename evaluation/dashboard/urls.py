from django.urls import URLPattern, path

from evaluation.dashboard import views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/dashboard/", views.dashboard, name="dashboard"),
]
