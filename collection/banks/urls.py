from django.urls import URLPattern, path

from collection.banks import views

urlpatterns: list[URLPattern] = [
    path("collections/<slug:name>/banks/", views.banks, name="banks"),
    path("collections/<slug:name>/banks/<slug:bank>/", views.bank, name="bank"),
]
