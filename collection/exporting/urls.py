from django.urls import URLPattern, path

from collection.exporting import views

urlpatterns: list[URLPattern] = [
    path("collections/<slug:name>/export/", views.export, name="export"),
    path("collections/<slug:name>/reports.jsonl", views.export_reports, name="export_reports"),
    path("collections/<slug:name>/texts/", views.export_texts, name="export_texts"),
    path("collections/<slug:name>/banks/<slug:bank>/nuggets.jsonl", views.export_bank, name="export_bank"),
    path(
        "collections/<slug:name>/studies/<slug:study>/assignments.jsonl",
        views.export_assignments,
        name="export_assignments",
    ),
    path("collections/<slug:name>/studies/<slug:study>/clapnq.jsonl", views.export_answers, name="export_answers"),
    path("collections/<slug:name>/studies/<slug:study>/labels/", views.export_labels, name="export_labels"),
    path("collections/<slug:name>/studies/<slug:study>/scores/", views.export_scores, name="export_scores"),
    *(
        path(
            f"collections/<slug:name>/studies/<slug:study>/judgments.{table}",
            views.export_judgments,
            {"table": table},
            name=f"export_judgments_{table}",
        )
        for table in ("csv", "jsonl", "parquet")
    ),
]
