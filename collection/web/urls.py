from django.urls import URLPattern, path

from collection.web import computing_views

urlpatterns: list[URLPattern] = [
    path("computing/<slug:key>/", computing_views.computing, name="computing"),
]
