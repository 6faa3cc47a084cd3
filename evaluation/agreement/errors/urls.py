from django.urls import URLPattern, URLResolver, include, path

from evaluation.agreement.errors import views

errors: list[URLPattern] = [
    path("", views.errors, name="errors"),
    path("items/", views.error_items_page, name="error_items"),
    *(
        path(f"items.{suffix}", views.error_items_file, {"table_format": suffix}, name=f"error_items_{suffix}")
        for suffix in ("csv", "jsonl")
    ),
    path("errors.json", views.errors_json, name="errors_json"),
    path("<slug:table>.<slug:table_format>", views.errors_table, name="errors_table"),
]
urlpatterns: list[URLResolver] = [path("studies/<slug:name>/errors/", include(errors))]
