"""Addresses of the quality pages, in the namespace `annotate`."""

from django.urls import URLPattern, path

from annotate.quality import assessor_views as assessors
from annotate.quality import checks_views as checks
from annotate.quality import gold_views as gold
from annotate.quality import inbox_views as inbox

STUDY = "studies/<slug:name>/"
PERSON = f"{STUDY}assessors/<str:username>/"

urlpatterns: list[URLPattern] = [
    path(f"{STUDY}assessors/", assessors.people, name="people"),
    path(PERSON, assessors.person, name="person"),
    path(f"{PERSON}exclude/", assessors.person_exclude, name="person_exclude"),
    path(f"{PERSON}include/", assessors.person_include, name="person_include"),
    path(f"{PERSON}readmit/", assessors.person_readmit, name="person_readmit"),
    path(f"{STUDY}inbox/", inbox.inbox, name="inbox"),
    path(f"{STUDY}inbox/<int:pk>/handled/", inbox.comment_state, {"state": "handled"}, name="comment_handled"),
    path(f"{STUDY}inbox/<int:pk>/waiting/", inbox.comment_state, {"state": "waiting"}, name="comment_waiting"),
    path(f"{STUDY}inbox/<int:pk>/reply/", inbox.inbox_reply, name="inbox_reply"),
    path(f"{STUDY}checks/", checks.checks, name="checks"),
    path(f"{STUDY}checks/consent/", checks.checks_consent, name="checks_consent"),
    path(f"{STUDY}checks/questionnaires/", checks.checks_questionnaire, name="checks_questionnaire"),
    path(f"{STUDY}checks/questions/", checks.checks_question, name="checks_question"),
    path(
        f"{STUDY}checks/questions/<int:pk>/screening/",
        checks.checks_question_screening,
        name="checks_question_screening",
    ),
    path(f"{STUDY}checks/questions/<int:pk>/retire/", checks.checks_question_retire, name="checks_question_retire"),
    path(f"{STUDY}checks/attention/", checks.checks_attention, name="checks_attention"),
    path(f"{STUDY}checks/attention/<int:pk>/retire/", checks.checks_attention_retire, name="checks_attention_retire"),
    path(f"{STUDY}checks/rules/", checks.checks_rules, name="checks_rules"),
    path(f"{STUDY}gold/", gold.gold, name="gold"),
    path(f"{STUDY}gold/prepare/", gold.gold_prepare, name="gold_prepare"),
    path(f"{STUDY}gold/file/", gold.gold_file, name="gold_file"),
    path(f"{STUDY}gold/known-grades.csv", gold.gold_csv, name="gold_csv"),
    path(f"{STUDY}gold/<int:pk>/", gold.gold_item, name="gold_item"),
]
