"""Addresses of the quality pages, in the namespace `annotate`."""

from django.urls import URLPattern, path

from annotate.views import quality_gates as gates
from annotate.views import quality_gold as gold
from annotate.views import quality_inbox as inbox
from annotate.views import quality_people as people
from annotate.views import quality_setup as setup

STUDY = "studies/<slug:name>/"
PERSON = f"{STUDY}assessors/<str:username>/"

urlpatterns: list[URLPattern] = [
    path("work/consent/<slug:name>/", gates.consent, name="consent"),
    path("work/questions/<slug:name>/", gates.questionnaire, name="questionnaire"),
    path("work/training/<slug:name>/", gates.training, name="training"),
    path("work/attention/<slug:name>/", gates.attention, name="attention"),
    path("work/end/<slug:name>/", gates.screened_out, name="screened_out"),
    path("work/<int:pk>/comment/", inbox.comment, name="comment"),
    path(f"{STUDY}assessors/", people.people, name="people"),
    path(PERSON, people.person, name="person"),
    path(f"{PERSON}exclude/", people.person_exclude, name="person_exclude"),
    path(f"{PERSON}include/", people.person_include, name="person_include"),
    path(f"{PERSON}readmit/", people.person_readmit, name="person_readmit"),
    path(f"{STUDY}inbox/", inbox.inbox, name="inbox"),
    path(f"{STUDY}inbox/<int:pk>/handled/", inbox.comment_state, {"state": "handled"}, name="comment_handled"),
    path(f"{STUDY}inbox/<int:pk>/waiting/", inbox.comment_state, {"state": "waiting"}, name="comment_waiting"),
    path(f"{STUDY}checks/", setup.checks, name="checks"),
    path(f"{STUDY}checks/consent/", setup.checks_consent, name="checks_consent"),
    path(f"{STUDY}checks/questions/", setup.checks_question, name="checks_question"),
    path(f"{STUDY}checks/questions/<int:pk>/retire/", setup.checks_question_retire, name="checks_question_retire"),
    path(f"{STUDY}checks/attention/", setup.checks_attention, name="checks_attention"),
    path(f"{STUDY}checks/attention/<int:pk>/retire/", setup.checks_attention_retire, name="checks_attention_retire"),
    path(f"{STUDY}checks/rules/", setup.checks_rules, name="checks_rules"),
    path(f"{STUDY}gold/", gold.gold, name="gold"),
    path(f"{STUDY}gold/prepare/", gold.gold_prepare, name="gold_prepare"),
    path(f"{STUDY}gold/file/", gold.gold_file, name="gold_file"),
    path(f"{STUDY}gold/known-grades.csv", gold.gold_csv, name="gold_csv"),
    path(f"{STUDY}gold/<int:pk>/", gold.gold_item, name="gold_item"),
]
