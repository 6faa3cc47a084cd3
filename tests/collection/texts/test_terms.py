"""Terms to scan for, of a study and of its topics."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertContains

from collection.models import Collection, Study, Topic, User
from collection.texts.terms import check_terms, terms_in, terms_of


def test_terms_are_lines_each_once() -> None:
    assert terms_in(" oak \r\n\noak\nstone  bridge\n") == ["oak", "stone bridge"]


def test_a_topic_adds_its_own_terms() -> None:
    study = Study(terms="oak\nstone")

    assert terms_of(study, Topic(attributes={"terms": ["stone", "arch", 5, "x" * 101]})) == ["oak", "stone", "arch"]
    assert terms_of(study, Topic(attributes={"terms": "arch"})) == ["oak", "stone"]
    assert terms_of(Study(), Topic()) == []


@pytest.mark.parametrize(
    ("written", "reason"), [("x" * 101, "longer than 100"), ("\n".join(map(str, range(201))), "201")]
)
def test_what_are_no_terms_is_refused(written: str, reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        check_terms(written)


@pytest.mark.django_db
def test_terms_are_set_on_the_page_and_by_the_api(
    client: Client, rosa: User, collection: Collection, study: Study
) -> None:
    client.force_login(rosa)
    api = reverse("api:study-detail", args=[study.name])

    sent = {"title": "Bridges", "overlap": "3", "language": "en", "terms": "oak\narch"}
    assert client.post(reverse("annotate:study_edit", args=[study.name]), sent).status_code == 302
    study.refresh_from_db()
    assert terms_in(study.terms) == ["oak", "arch"]
    call_command("edit_study", "--study", study.name, "--terms", "pier\nstone arch")
    study.refresh_from_db()
    assert terms_in(study.terms) == ["pier", "stone arch"]
    patched = client.patch(api, {"terms": "stone"}, content_type="application/json")
    refused = client.patch(api, {"terms": "x" * 101}, content_type="application/json")
    made = client.post(
        reverse("api:study-list"),
        {"collection": collection.name, "name": "second", "task_types": ["answerability"], "terms": "<b>oak</b>"},
        content_type="application/json",
    )

    assert (patched.json()["terms"], refused.status_code, made.json()["terms"]) == ("stone", 400, "<b>oak</b>")
    assertContains(client.get(reverse("annotate:study_new")), "Terms to scan for")
