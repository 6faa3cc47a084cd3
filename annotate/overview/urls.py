from django.urls import URLPattern, path

from annotate.overview import views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/overview/", views.overview, name="overview"),
]
