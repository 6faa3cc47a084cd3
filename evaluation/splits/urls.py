from django.urls import URLPattern, path

from evaluation.splits import views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/split/", views.split, name="split"),
    path("studies/<slug:name>/split/read/", views.read_test, name="read_test"),
]
