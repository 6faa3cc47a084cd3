from django.urls import URLPattern, path

from evaluation.suggestions import views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/suggestions/effects/", views.suggestion_effects, name="suggestion_effects"),
]
