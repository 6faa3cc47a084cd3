"""Whoever comes back to a task sees it as it is: by the browser's way back, in another tab, after a second tap."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from annotate.models import Assignment
from collection.models import Judgment, Study, User
from tests.annotate.factories import a_key_point_task, a_report_task, in_hands_of
from tests.annotate.work.test_assignment_in_browser import open_assignment, press, saved
from tests.annotate.writers import a_study_of_writing, next_of
from tests.browser import SignIn

pytestmark = [pytest.mark.browser, pytest.mark.by_hand, pytest.mark.in_real_time]


def _finishes_a_report_while_the_next_page_is_fetched(page: Page) -> None:
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
    transferred = page.evaluate("performance.getEntriesByType('navigation')[0].transferSize")
    assert transferred == 0, "it was there already"


def yes(page: Page) -> None:
    expect(page.locator(".question:not([hidden]) fieldset:first-of-type input[value='1']")).to_be_checked()
    expect(page.get_by_text("Is it a key point for the question?").first).to_be_visible()


def _comes_back_to_the_page_as_it_is(page: Page) -> None:
    """In another tab, by the browser's way back, and from My work."""
    other = page.context.new_page()
    other.goto(page.url)
    yes(other)
    other.close()

    page.get_by_role("link", name="My work").click()
    expect(page.get_by_role("heading", name="My work")).to_be_visible()
    page.go_back()
    yes(page)

    press(page, "4")
    saved(page)
    page.get_by_role("link", name="My work").click()
    page.get_by_role("link", name="Continue").click()
    expect(page.locator("input[type=radio]:checked[value='1']")).to_have_count(2)
    page.go_back()
    page.go_back()
    yes(page)


def _comes_back_to_what_is_submitted(page: Page) -> None:
    press(page, "n", "0")
    saved(page)
    press(page, "Control+Enter")
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()

    page.go_back()
    expect(page.get_by_text("You submitted this on")).to_be_visible()
    expect(page.locator("#progress")).to_have_text("2 of 2")
    page.go_back()

    expect(page.locator("[data-task-type=answerability].live")).to_be_visible()
    expect(page.get_by_text("You submitted this on")).to_be_visible()
    expect(page.locator("#progress")).to_have_text("3 of 3")


def test_a_page_that_was_fetched_ahead_is_shown_once_and_later_as_it_is(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    a_key_point_task(study)
    sign_in(page, ada)
    open_assignment(page, assignment)

    _finishes_a_report_while_the_next_page_is_fetched(page)
    press(page, "1")
    saved(page)
    _comes_back_to_the_page_as_it_is(page)
    _comes_back_to_what_is_submitted(page)


def test_a_page_out_of_the_browsers_memory_is_loaded_anew_and_submitted_once(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    first = a_report_task(study)
    a_key_point_task(study)
    sign_in(page, ada)
    open_assignment(page, in_hands_of(ada, first))
    press(page, "0")
    saved(page)
    Judgment.objects.update(grade=1)  # elsewhere, meanwhile
    with page.expect_navigation():
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    expect(page.locator(".question:not([hidden]) input[value='1']")).to_be_checked()

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


def test_what_is_typed_outlives_the_way_back_and_is_confirmed_as_what_it_claims(
    page: Page, sign_in: SignIn, rosa: User, ada: User
) -> None:
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

    concise = page.locator("#confirmations label").nth(1)
    expect(concise).to_contain_text("It answers the question completely")
    concise.click()
    expect(concise.locator("input")).to_be_checked()
    page.locator("#outcomes").get_by_text("partial answer", exact=True).click()
    expect(concise.locator("span:visible").last).to_contain_text("as much of the question as the passage does")
    expect(concise.locator("input")).not_to_be_checked()
