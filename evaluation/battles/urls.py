from django.urls import URLPattern, path

from evaluation.battles import drawing_pairs

AT = "studies/<slug:name>/battles/draw/"
urlpatterns: list[URLPattern] = [path(AT, drawing_pairs.battles_draw, name="battles_draw")]
