from django.urls import URLPattern, URLResolver, include, path

from collection.web.charts.urls import chart_paths
from evaluation.battles import views

battles: list[URLPattern] = [
    path("", views.battles, name="battles"),
    path("draw/", views.battles_draw, name="battles_draw"),
    path("battles.json", views.battles_json, name="battles_json"),
    *chart_paths("against", views.battles_chart, "battles_chart"),
    path("<slug:table>.<slug:table_format>", views.battles_table, name="battles_table"),
]
urlpatterns: list[URLResolver] = [path("studies/<slug:name>/battles/", include(battles))]
