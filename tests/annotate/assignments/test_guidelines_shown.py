"""Judgments remember the guidelines that their assessor was shown, and everybody is shown each version once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect
from rest_framework.test import APIClient

from annotate.assignments.assignments import claim_next
from annotate.assignments.guideline_reading import Passage, changed_lines, note_reading, shown_guidelines
from annotate.models import Assignment, Enrolment, GuidelineReading
from annotate.studies.lifecycle import revise_guidelines
from collection.models import Judgment, Study, User
from tests.annotate.factories import NOON, a_report_task, an_open_study, in_hands_of, the_criterion
from tests.browser import SignIn, check_accessibility
from tests.factories import rater_of


def sent_by_the_page(assignment: Assignment, **changes: Any) -> str:
    """An answer to the first question."""
    item = assignment.asked.all()[0].item.pk
    criterion = the_criterion(assignment.task.study, "answerability").pk
    return json.dumps({"item": item, "criterion": criterion, "grade": 0, **changes})


def test_a_judgment_remembers_the_version_that_its_page_showed(
    client: Client, study: Study, ada: User, rosa: User
) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    client.force_login(ada)
    page = client.get(f"/work/{assignment.pk}/").text
    revise_guidelines(study=study, markdown="Read nothing.", by=rosa)

    client.post(
        f"/work/{assignment.pk}/choice/", sent_by_the_page(assignment, guidelines=1), content_type="application/json"
    )

    assert 'data-guidelines="1"' in page
    judgment = Judgment.objects.get()
    assert judgment.guideline is not None
    assert judgment.guideline.version == 1


def test_who_says_no_version_was_shown_none(client: Client, study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    client.force_login(ada)

    client.post(f"/work/{assignment.pk}/choice/", sent_by_the_page(assignment), content_type="application/json")

    assert Judgment.objects.get().guideline is None


@pytest.mark.parametrize("version", ["1", 0, 10**30, True, 1.5])
def test_a_version_that_is_none_is_refused(client: Client, study: Study, ada: User, version: object) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    client.force_login(ada)
    sent = sent_by_the_page(assignment, guidelines=version)

    response = client.post(f"/work/{assignment.pk}/choice/", sent, content_type="application/json")

    assert response.status_code == 400


def test_the_api_shows_the_guidelines_and_takes_their_version(study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    client = APIClient()
    client.force_authenticate(ada)

    shown = client.get(f"/api/v1/assignments/{assignment.pk}/").json()
    sent = json.loads(sent_by_the_page(assignment, guidelines_version=shown["guidelines_version"]))
    client.post(f"/api/v1/assignments/{assignment.pk}/choices/", sent, format="json")

    assert shown["guidelines"] == "Read *everything* first."
    assert Judgment.objects.get().guideline == study.guidelines.get()


def test_each_version_is_new_once(study: Study, ada: User, rosa: User) -> None:
    first = shown_guidelines(study=study.pk, rater=rater_of(ada).pk)
    for _ in range(2):
        note_reading(study=study, user=ada, version=1, at=NOON)
    read = shown_guidelines(study=study.pk, rater=rater_of(ada).pk)
    revise_guidelines(study=study, markdown="Read *everything* twice.", by=rosa)
    revised = shown_guidelines(study=study.pk, rater=rater_of(ada).pk)

    assert first is not None
    assert read is not None
    assert revised is not None
    assert (first.is_new, first.changes) == (True, [])
    assert (read.is_new, read.changes) == (False, [])
    assert revised.is_new
    assert Passage("removed", "first") in revised.changes[0]
    assert Passage("added", "twice") in revised.changes[0]
    assert GuidelineReading.objects.count() == 1


def test_only_lines_that_differ_are_changes() -> None:
    assert changed_lines("One.\n\nTwo.\n", "One.\n\nTwo.\n") == []
    assert changed_lines("One.\nTwo.", "One.\nThree.\nTwo.") == [[Passage("added", "Three.")]]


# --- In the browser ---------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_guidelines_open_before_the_first_task_and_after_a_revision(
    page: Page, sign_in: SignIn, study: Study, ada: User, rosa: User
) -> None:
    a_report_task(study)
    Enrolment.objects.create(study=an_open_study(study), user=ada)
    assignment = claim_next(study=study, rater=rater_of(ada), at=NOON)
    assert assignment is not None
    dialog = page.locator("#guidelines")
    sign_in(page, ada)

    page.goto(f"/work/{assignment.pk}/")
    expect(dialog).to_be_visible()
    with page.expect_response("**/guidelines/"):
        page.keyboard.press("Escape")
    page.reload()
    expect(page.locator("#text")).to_be_visible()
    expect(dialog).not_to_be_visible()
    revise_guidelines(study=study, markdown="Read *everything* twice.", by=rosa)
    page.reload()

    expect(dialog.get_by_role("heading", name="What changed")).to_be_visible()
    expect(dialog.locator("ins")).to_have_text("twice")
    check_accessibility(page)
    with page.expect_response("**/guidelines/"):
        page.keyboard.press("Escape")
    page.keyboard.press("0")
    expect(page.locator("#saving")).to_have_text("Saved")
    judgment = Judgment.objects.get()
    assert judgment.guideline is not None
    assert judgment.guideline.version == 2
