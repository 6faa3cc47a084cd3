from django.urls import URLPattern, path

from evaluation.agreement.errors import views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/errors/items/", views.error_items_page, name="error_items"),
    *(
        path(
            f"studies/<slug:name>/errors/items.{suffix}",
            views.error_items_file,
            {"table_format": suffix},
            name=f"error_items_{suffix}",
        )
        for suffix in ("csv", "jsonl")
    ),
]
