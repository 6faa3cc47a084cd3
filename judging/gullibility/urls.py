from django.urls import URLPattern, path

from judging.gullibility import views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/judging/gullibility/", views.gullibility, name="gullibility"),
]
