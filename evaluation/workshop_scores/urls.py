from django.urls import URLPattern, path

from evaluation.workshop_scores import views

urlpatterns: list[URLPattern] = [
    path("workshops/<int:pk>/topics/<int:topic>/scores/", views.workshop_scores, name="workshop_scores"),
]
