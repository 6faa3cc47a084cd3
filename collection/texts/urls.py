from django.urls import URLPattern, path

from collection.texts import sentence_views

urlpatterns: list[URLPattern] = [
    path("collections/<slug:name>/report-sentences/", sentence_views.report_sentences, name="report_sentences"),
]
