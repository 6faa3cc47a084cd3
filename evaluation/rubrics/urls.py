from django.urls import URLPattern, path

from evaluation.rubrics import graded_views, masking_views, redundancy_views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/masking/", masking_views.masking, name="masking"),
    path("studies/<slug:name>/redundancy/", redundancy_views.redundancy, name="redundancy"),
    path("studies/<slug:name>/redundancy/qrels/", redundancy_views.redundancy_qrels, name="redundancy_qrels"),
    path("studies/<slug:name>/graded-passage/", graded_views.graded_passage, name="graded_passage"),
    path("studies/<slug:name>/graded-answer/", graded_views.graded_answer, name="graded_answer"),
]
