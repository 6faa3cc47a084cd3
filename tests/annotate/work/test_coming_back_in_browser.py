"""Whoever comes back to a task sees it as it is: by the browser's way back, in another tab, after a second tap."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from annotate.models import Assignment
from collection.models import Judgment, Study, User
from tests.annotate.factories import a_key_point_task, a_report_task, an_open_study, enrolled, in_hands_of
from tests.annotate.work.test_assignment_in_browser import open_assignment, press, saved
from tests.annotate.writers import a_study_of_writing, next_of
from tests.browser import SignIn

pytestmark = [pytest.mark.browser, pytest.mark.by_hand]


@pytest.fixture
def fetched_ahead(page: Page, sign_in: SignIn, study: Study, ada: User) -> Page:
    """Ada's page of a key-point task that was fetched while she finished the report before it; "yes" is chosen."""
    assignment = in_hands_of(ada, a_report_task(study))
    a_key_point_task(study)
    sign_in(page, ada)
    open_assignment(page, assignment)
    with page.expect_response(re.compile("/ahead/")) as claimed:
        press(page, "0", "n", "0", "n", "0")
        saved(page)
    (following,) = claimed.value.json()["ahead"]
    page.wait_for_function(
        "(url) => performance.getEntriesByName(location.origin + url)[0]?.responseEnd", arg=following
    )
    press(page, "Control+Enter")
    page.wait_for_url(f"**{following}")
    expect(page.locator("[data-task-type=key_point].live")).to_be_visible()
    press(page, "1")
    saved(page)
    return page


def yes(page: Page) -> None:
    expect(page.locator(".question:not([hidden]) fieldset:first-of-type input[value='1']")).to_be_checked()
    expect(page.get_by_text("Is it a key point for the question?").first).to_be_visible()


def test_the_way_back_leads_to_the_page_as_it_is(fetched_ahead: Page) -> None:
    fetched_ahead.get_by_role("link", name="My work").click()
    expect(fetched_ahead.get_by_role("heading", name="My work")).to_be_visible()

    fetched_ahead.go_back()

    yes(fetched_ahead)


def test_the_way_back_to_what_was_submitted_says_that_it_is(fetched_ahead: Page) -> None:
    press(fetched_ahead, "4", "n", "0")
    saved(fetched_ahead)
    press(fetched_ahead, "Control+Enter")
    expect(fetched_ahead.get_by_role("heading", name="All done. Thank you!")).to_be_visible()

    fetched_ahead.go_back()
    expect(fetched_ahead.get_by_text("You submitted this on")).to_be_visible()
    expect(fetched_ahead.locator("#progress")).to_have_text("2 of 2")
    fetched_ahead.go_back()

    expect(fetched_ahead.locator("[data-task-type=answerability].live")).to_be_visible()
    expect(fetched_ahead.get_by_text("You submitted this on")).to_be_visible()
    expect(fetched_ahead.locator("#progress")).to_have_text("3 of 3")


def test_another_tab_shows_the_page_as_it_is(fetched_ahead: Page) -> None:
    url = fetched_ahead.url
    again = fetched_ahead.context.new_page()
    fetched_ahead.close()

    again.goto(url)

    yes(again)


def test_a_page_out_of_the_browsers_memory_is_loaded_anew(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(page, ada)
    open_assignment(page, in_hands_of(ada, a_report_task(study)))
    press(page, "0")
    saved(page)
    Judgment.objects.update(grade=1)  # elsewhere, meanwhile

    with page.expect_navigation():
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")

    expect(page.locator(".question:not([hidden]) input[value='1']")).to_be_checked()


def test_what_is_typed_outlives_the_way_back(page: Page, sign_in: SignIn, rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada])
    sign_in(page, ada)
    page.goto(f"/work/{next_of(ada, study).pk}/")
    press(page, "5")
    page.locator("#answer").fill("Made of oak, then of st")
    page.get_by_role("link", name="My work").click()
    expect(page.get_by_role("heading", name="My work")).to_be_visible()

    page.go_back()

    expect(page.locator("#answer")).to_have_value("Made of oak, then of st")
    saved(page)


def test_submitting_twice_at_once_goes_on_to_the_next_task(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    first = a_report_task(study)
    a_key_point_task(study)
    enrolled(ada, an_open_study(study))
    sign_in(page, ada)
    open_assignment(page, in_hands_of(ada, first))
    page.route("**/ahead/", lambda route: route.fulfill(status=204))
    press(page, "0", "n", "0", "n", "0")
    saved(page)
    sent: list[Route] = []
    page.route("**/submit/", lambda route: sent.append(route))  # and no answer yet

    page.evaluate(
        """() => {  // an impatient finger on a slow network
            const button = document.getElementById("submit-button");
            button.click();
            setTimeout(() => button.click(), 300);
        }"""
    )
    page.wait_for_timeout(900)
    assert len(sent) == 1
    sent[0].continue_()

    expect(page.locator("[data-task-type=key_point].live")).to_be_visible()
    assert Assignment.objects.get(task=first).state == Assignment.State.SUBMITTED
