from django.urls import URLPattern, path

from evaluation.battles import views

urlpatterns: list[URLPattern] = [path("studies/<slug:name>/battles/draw/", views.battles_draw, name="battles_draw")]
