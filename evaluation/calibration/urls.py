from django.urls import URLPattern, path

from collection.web.charts.urls import chart_paths
from evaluation.calibration import views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/calibration/", views.calibration, name="calibration"),
    path("studies/<slug:name>/calibration/calibration.json", views.calibration_json, name="calibration_json"),
    path("studies/<slug:name>/calibration/declarations/", views.declarations, name="declarations"),
    path("studies/<slug:name>/calibration/draw/", views.label_next, name="label_next"),
    *(
        address
        for chart in ("recalibration", "scores")
        for address in chart_paths(
            f"studies/<slug:name>/calibration/{chart}", views.calibration_chart, f"calibration_{chart}", chart=chart
        )
    ),
    path(
        "studies/<slug:name>/calibration/<slug:table>.<slug:table_format>",
        views.calibration_table,
        name="calibration_table",
    ),
]
