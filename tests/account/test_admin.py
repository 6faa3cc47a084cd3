from __future__ import annotations

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from collection.judgments.services import record_judgment
from collection.models import Judgment, RubricElement, Study, User
from tests.factories import a_user, an_item, rater_of

TABLES = [model for model in admin.site._registry if model._meta.app_label == "collection"]


@pytest.fixture
def administrator(db: None) -> User:
    return a_user("olga", is_staff=True, is_superuser=True)


@pytest.fixture
def judgment(study: Study, ada: User) -> Judgment:
    """Ada finds that a report answers a sub-question, by its first four characters."""
    topic = study.collection.topics.get(topic_id="t0")
    element = topic.rubric_elements.filter(kind=RubricElement.Kind.SUB_QUESTION)[0]
    item = an_item(study, "answerability", topic=topic, element=element, text=topic.reports.get())
    criterion = study.criteria.get(name="answerability")
    grade = criterion.scale.values[0]
    return record_judgment(item=item, criterion=criterion, rater=rater_of(ada), grade=grade, at=now())


@pytest.mark.parametrize("model", TABLES, ids=lambda model: model.__name__)
def test_a_list_opens(model: type, client: Client, administrator: User, judgment: Judgment) -> None:
    client.force_login(administrator)

    response = client.get(reverse(f"admin:collection_{model._meta.model_name}_changelist"), {"q": "a"})  # type: ignore[attr-defined]

    assert response.status_code in {200, 302}  # a table without a search drops the question


def test_a_judgment_can_be_read_and_not_changed(client: Client, administrator: User, judgment: Judgment) -> None:
    client.force_login(administrator)
    path = reverse("admin:collection_judgment_change", args=[judgment.pk])

    assert client.get(path).status_code == 200
    assert client.post(path, {"grade": 3}).status_code == 403
    assert client.post(reverse("admin:collection_judgment_delete", args=[judgment.pk])).status_code == 403
    judgment.refresh_from_db()


def test_an_assessor_and_a_researcher_stay_out(client: Client, ada: User, rosa: User) -> None:
    for user in (ada, rosa):
        client.force_login(user)

        response = client.get(reverse("admin:index"))

        assert response["Location"].startswith("/admin/login/")
