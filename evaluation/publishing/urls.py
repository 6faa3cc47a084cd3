from django.urls import URLPattern, path

from evaluation.publishing import qrels_views, views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/qrels/", qrels_views.qrels, name="qrels"),
    *(
        path(f"studies/<slug:name>/qrels/{file}/", qrels_views.qrels_file, {"file": file}, name=name)
        for file, name in (
            *(("file", "qrels_file"), ("provenance", "qrels_provenance")),
            *(("unjudged", "qrels_unjudged"), ("each", "qrels_each")),
        )
    ),
    path("studies/<slug:name>/filled-qrels/", qrels_views.filled_qrels, name="filled_qrels"),
    path("studies/<slug:name>/filled-qrels/<slug:file>/", qrels_views.filled_qrels_file, name="filled_qrels_file"),
    path("studies/<slug:name>/publish/", views.publish, name="publish"),
    path("studies/<slug:name>/publish/bundle/", views.bundle, name="bundle"),
    path("studies/<slug:name>/publish/making/", views.making, name="making"),
    path("studies/<slug:name>/publish/card/", views.data_card, name="data_card"),
    path("studies/<slug:name>/publish/card/file/", views.data_card_file, name="data_card_file"),
]
