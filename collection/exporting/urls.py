from django.urls import URLPattern, path

from collection.exporting import views

COLLECTION = "collections/<slug:name>"
STUDY = f"{COLLECTION}/studies/<slug:study>"
# By the rest of its name: an export's address, and what goes out there.
DECLARED = {
    "": (f"{COLLECTION}/export/", "collection"),
    "_reports": (f"{COLLECTION}/reports.jsonl", "reports"),
    "_texts": (f"{COLLECTION}/texts/", "texts"),
    "_answers": (f"{STUDY}/clapnq.jsonl", "clapnq"),
    "_labels": (f"{STUDY}/labels/", "labels"),
    "_scores": (f"{STUDY}/scores/", "scores"),
}
TABLES = ("csv", "jsonl", "parquet")

urlpatterns: list[URLPattern] = [
    *(path(at, views.export, {"what": what}, name=f"export{name}") for name, (at, what) in DECLARED.items()),
    path(f"{COLLECTION}/banks/<slug:bank>/nuggets.jsonl", views.export_bank, name="export_bank"),
    path(f"{STUDY}/assignments.jsonl", views.export_assignments, name="export_assignments"),
    *(
        path(f"{STUDY}/judgments.{table}", views.export_judgments, {"table": table}, name=f"export_judgments_{table}")
        for table in TABLES
    ),
]
