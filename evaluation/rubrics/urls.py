from django.urls import URLPattern, path

from evaluation.rubrics import masking_views, redundancy_views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/masking/", masking_views.masking, name="masking"),
    path("studies/<slug:name>/redundancy/", redundancy_views.redundancy, name="redundancy"),
    path("studies/<slug:name>/redundancy/qrels/", redundancy_views.redundancy_qrels, name="redundancy_qrels"),
]
