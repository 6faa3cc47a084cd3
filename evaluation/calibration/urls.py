from django.urls import URLPattern, path

from evaluation.calibration import views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/calibration/", views.calibration, name="calibration"),
    path("studies/<slug:name>/calibration/calibration.json", views.calibration_json, name="calibration_json"),
    path("studies/<slug:name>/calibration/draw/", views.label_next, name="label_next"),
    *(
        path(
            f"studies/<slug:name>/calibration/{chart}.{suffix}",
            views.calibration_chart,
            {"chart": chart, "form": form},
            name=f"calibration_{chart}_{form}",
        )
        for chart in ("recalibration", "scores")
        for suffix, form in (("svg", "svg"), ("vl.json", "json"))
    ),
    path(
        "studies/<slug:name>/calibration/<slug:table>.<slug:table_format>",
        views.calibration_table,
        name="calibration_table",
    ),
]
