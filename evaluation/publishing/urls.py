from django.urls import URLPattern, path

from evaluation.publishing import filled_qrels_views, qrels_views, views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/qrels/", qrels_views.qrels, name="qrels"),
    path("studies/<slug:name>/qrels/file/", qrels_views.qrels_file, name="qrels_file"),
    path("studies/<slug:name>/qrels/provenance/", qrels_views.qrels_provenance, name="qrels_provenance"),
    path("studies/<slug:name>/qrels/unjudged/", qrels_views.qrels_unjudged, name="qrels_unjudged"),
    path("studies/<slug:name>/qrels/each/", qrels_views.qrels_each, name="qrels_each"),
    path("studies/<slug:name>/filled-qrels/", filled_qrels_views.filled_qrels, name="filled_qrels"),
    path(
        "studies/<slug:name>/filled-qrels/<slug:file>/", filled_qrels_views.filled_qrels_file, name="filled_qrels_file"
    ),
    path("studies/<slug:name>/publish/", views.publish, name="publish"),
    path("studies/<slug:name>/publish/bundle/", views.bundle, name="bundle"),
    path("studies/<slug:name>/publish/making/", views.making, name="making"),
    path("studies/<slug:name>/publish/card/", views.data_card, name="data_card"),
    path("studies/<slug:name>/publish/card/file/", views.data_card_file, name="data_card_file"),
]
