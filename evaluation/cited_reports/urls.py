from django.urls import URLPattern, path

from evaluation.cited_reports import views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/reports/", views.cited_reports, name="cited_reports"),
    path("studies/<slug:name>/reports/<int:pk>/", views.cited_report, name="cited_report"),
]
