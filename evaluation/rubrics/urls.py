from django.urls import URLPattern, path

from evaluation.rubrics import bank_check_views, graded_views, masking_views, redundancy_views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/masking/", masking_views.masking, name="masking"),
    path("studies/<slug:name>/redundancy/", redundancy_views.redundancy, name="redundancy"),
    path("studies/<slug:name>/redundancy/qrels/", redundancy_views.redundancy_qrels, name="redundancy_qrels"),
    path("studies/<slug:name>/bank-check/", bank_check_views.bank_check, name="bank_check"),
    path(
        "studies/<slug:name>/bank-check/<slug:table>.<slug:table_format>",
        bank_check_views.bank_check_table,
        name="bank_check_table",
    ),
    path("studies/<slug:name>/graded-passage/", graded_views.graded_passage, name="graded_passage"),
    path("studies/<slug:name>/graded-answer/", graded_views.graded_answer, name="graded_answer"),
]
