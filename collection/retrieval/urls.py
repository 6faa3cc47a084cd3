from django.urls import URLPattern, path

from collection.retrieval import views

urlpatterns: list[URLPattern] = [
    path("collections/<slug:name>/retrieval/", views.retrieval, name="retrieval"),
    path("collections/<slug:name>/retrieval/<int:pk>/stop/", views.retrieval_stop, name="retrieval_stop"),
]
