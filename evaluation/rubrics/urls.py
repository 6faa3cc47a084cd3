from django.urls import URLPattern, path

from evaluation.rubrics import masking_and_redundancy_views as views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/masking/unmask/", views.masking_unmask, name="masking_unmask"),
    path("studies/<slug:name>/redundancy/qrels/", views.redundancy_qrels, name="redundancy_qrels"),
]
