from django.urls import URLPattern, path

from collection.importing import views

urlpatterns: list[URLPattern] = [
    path("collections/<slug:name>/import/", views.import_page, name="import_page"),
    path("collections/<slug:name>/import/<int:pk>/", views.import_preview, name="import_preview"),
    path("collections/<slug:name>/import/<int:pk>/cancel/", views.import_cancel, name="import_cancel"),
]
