from django.urls import URLPattern, path

from judging.building import review_views, views
from judging.building.key_facts import fact_views
from judging.building.seeds import views as seed_views

urlpatterns: list[URLPattern] = [
    path("collections/<slug:name>/building/", views.builds, name="builds"),
    path("collections/<slug:name>/building/seeds/", seed_views.seeds, name="seeds"),
    path("collections/<slug:name>/building/new/<slug:pipeline>/", views.build_new, name="build_new"),
    path("collections/<slug:name>/building/<int:pk>/", views.build, name="build"),
    path("collections/<slug:name>/building/<int:pk>/add/", views.build_add, name="build_add"),
    path("collections/<slug:name>/building/<int:pk>/step/", views.build_again, name="build_again"),
    path("collections/<slug:name>/building/<int:pk>/calls/<slug:step>/", views.build_calls, name="build_calls"),
    path("collections/<slug:name>/building/<int:pk>/facts/", fact_views.build_facts, name="build_facts"),
    path("collections/<slug:name>/building/<int:pk>/review/", review_views.build_review, name="build_review"),
    path("collections/<slug:name>/building/<int:pk>/<slug:move>/", views.build_move, name="build_move"),
]
