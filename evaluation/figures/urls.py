from django.urls import URLPattern, URLResolver, include, path

from collection.web.charts.urls import chart_paths
from evaluation.figures import views

figures: list[URLPattern] = [
    path("", views.figures, name="figures"),
    path("<slug:figure>/", views.figure, name="figure"),
    *chart_paths("<slug:figure>/figure", views.figure_chart, "figure_chart"),
    path("<slug:figure>/<slug:table>.<slug:table_format>", views.figure_table, name="figure_table"),
]
urlpatterns: list[URLResolver] = [path("studies/<slug:name>/figures/", include(figures))]
