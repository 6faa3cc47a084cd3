from django.urls import URLPattern, URLResolver, include, path

from collection.web.charts.urls import chart_paths
from evaluation.agreement import breakdown_views, views

agreement: list[URLPattern] = [
    path("", views.agreement, name="agreement"),
    # Before the addresses that begin with a criterion, which `details` would be taken for.
    path("details/", breakdown_views.breakdowns, name="breakdowns"),
    path("details/details.json", breakdown_views.breakdowns_json, name="breakdowns_json"),
    path("details/<slug:table>.<slug:table_format>", breakdown_views.breakdowns_table, name="breakdowns_table"),
    *chart_paths("<slug:criterion>/coverage", views.coverage_chart, "coverage"),
    path("<slug:criterion>/agreement.json", views.agreement_json, name="agreement_json"),
    path("<slug:criterion>/<slug:table>.<slug:table_format>", views.agreement_table, name="agreement_table"),
    path("items/<int:pk>/", breakdown_views.item, name="item"),
]
urlpatterns: list[URLResolver] = [
    path("studies/<slug:name>/agreement/", include(agreement)),
    path("", include("evaluation.agreement.errors.urls")),
    path("", include("evaluation.agreement.nuggets.urls")),
]
