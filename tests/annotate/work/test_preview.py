"""A study's screens before anybody sees them."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from playwright.sync_api import Page, expect

from annotate.models import Assignment, Place, Task
from annotate.studies.lifecycle import open_study
from collection.models import Collection, Item, Judgment, Rater, Study, User
from tests.annotate.studies.test_lifecycle import a_study_of, rank_everything
from tests.annotate.work.test_assignment_in_browser import press
from tests.browser import SignIn, check_accessibility

MODELS = (Assignment, Item, Judgment, Place, Rater, Task)


def rows() -> list[int]:
    return [model._default_manager.count() for model in MODELS]


def preview_of(study: Study, task_type: str) -> str:
    return reverse("annotate:preview", args=[study.name, task_type])


@pytest.mark.parametrize("task_type", ["answerability", "rating", "key_point", "relevance"])
def test_rosa_sees_a_draft_s_screen_and_nothing_is_kept(
    collection: Collection, rosa: User, client: Client, task_type: str
) -> None:
    rank_everything(collection)
    study = a_study_of(collection, task_type)
    client.force_login(rosa)
    before = rows()

    response = client.get(preview_of(study, task_type))

    assert response.status_code == 200
    assert "This is a preview." in response.content.decode()
    assert rows() == before


def test_an_open_study_s_places_stay_as_they_are(collection: Collection, rosa: User, client: Client) -> None:
    study = a_study_of(collection, "answerability", overlap=1)
    open_study(study=study, at=now())
    client.force_login(rosa)
    before = rows()

    assert client.get(preview_of(study, "answerability")).status_code == 200
    assert rows() == before


def test_what_the_collection_lacks_is_said(collection: Collection, rosa: User, client: Client) -> None:
    study = a_study_of(collection, "relevance")
    client.force_login(rosa)

    response = client.get(preview_of(study, "relevance"), follow=True)

    assert "no pool to judge" in response.content.decode()


def test_only_its_researchers_see_it(collection: Collection, ada: User, mallory: User, client: Client) -> None:
    study = a_study_of(collection, "answerability", assessors=[ada])

    for user in (ada, mallory):
        client.force_login(user)
        assert client.get(preview_of(study, "answerability")).status_code == 404


@pytest.mark.parametrize("task_type", ["rating", "nonsense"])
def test_what_the_study_does_not_ask_has_no_preview(
    collection: Collection, rosa: User, client: Client, task_type: str
) -> None:
    study = a_study_of(collection, "answerability")
    client.force_login(rosa)

    assert client.get(preview_of(study, task_type)).status_code in (302, 404)


@pytest.mark.browser
@pytest.mark.by_hand
def test_rosa_tries_it_out(page: Page, sign_in: SignIn, collection: Collection, rosa: User) -> None:
    study = a_study_of(collection, "answerability")
    sign_in(page, rosa)
    page.goto(reverse("annotate:study", args=[study.name]))
    page.get_by_role("link", name="Preview as an assessor").click()
    expect(page.locator("#assignment.live")).to_be_visible()
    check_accessibility(page)

    press(page, "1", "t", "s", "Enter", "Escape", "n", "0", "n", "0")
    expect(page.locator("#progress")).to_have_text("3 of 3")
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")
    press(page, "Control+Enter")

    expect(page.get_by_role("heading", name="Criteria")).to_be_visible()
    assert not Judgment.objects.exists()
