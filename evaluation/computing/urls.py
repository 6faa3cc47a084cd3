from django.urls import URLPattern, path

from evaluation.computing import views

urlpatterns: list[URLPattern] = [
    path("computing/<slug:key>/", views.computing, name="computing"),
]
