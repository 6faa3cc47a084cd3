from django.urls import URLPattern, path

from evaluation.agreement import breakdown_views, views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/agreement/", views.agreement, name="agreement"),
    # Before the addresses that begin with a criterion, which `details` would be taken for.
    path("studies/<slug:name>/agreement/details/", breakdown_views.breakdowns, name="breakdowns"),
    path("studies/<slug:name>/agreement/details/details.json", breakdown_views.breakdowns_json, name="breakdowns_json"),
    path(
        "studies/<slug:name>/agreement/details/<slug:table>.<slug:table_format>",
        breakdown_views.breakdowns_table,
        name="breakdowns_table",
    ),
    path("studies/<slug:name>/agreement/<slug:criterion>/coverage.svg", views.coverage_svg, name="coverage_svg"),
    path("studies/<slug:name>/agreement/<slug:criterion>/agreement.json", views.agreement_json, name="agreement_json"),
    path(
        "studies/<slug:name>/agreement/<slug:criterion>/<slug:table>.<slug:table_format>",
        views.agreement_table,
        name="agreement_table",
    ),
    path("studies/<slug:name>/agreement/items/<int:pk>/", breakdown_views.item, name="item"),
]
