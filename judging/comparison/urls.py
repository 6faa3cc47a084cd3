from django.urls import URLPattern, path

from judging.comparison import views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/judging/compare/", views.comparison, name="comparison"),
    path("studies/<slug:name>/judging/compare/start/", views.comparison_start, name="comparison_start"),
]
