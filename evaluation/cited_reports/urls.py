from django.urls import URLPattern, path

from evaluation.cited_reports import views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/reports/<int:pk>/", views.cited_report, name="cited_report"),
]
