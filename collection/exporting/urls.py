from django.urls import URLPattern, path

from collection.exporting import views

urlpatterns: list[URLPattern] = [
    path("collections/<slug:name>/export/", views.export, name="export"),
    path("collections/<slug:name>/studies/<slug:study>/clapnq.jsonl", views.export_answers, name="export_answers"),
    *(
        path(
            f"collections/<slug:name>/studies/<slug:study>/judgments.{table}",
            views.export_judgments,
            {"table": table},
            name=f"export_judgments_{table}",
        )
        for table in ("csv", "jsonl")
    ),
]
