from django.urls import URLPattern, path

from collection.documents import views

urlpatterns: list[URLPattern] = [
    path("collections/<slug:name>/documents/", views.documents, name="documents"),
    path("collections/<slug:name>/documents/fetch/", views.documents_fetch, name="documents_fetch"),
    path("collections/<slug:name>/document/", views.document, name="document"),
]
