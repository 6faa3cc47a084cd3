"""Q, or a tick beside the grades, says that a grade is not sure: before it or after it, also where the page goes on."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from collection.models import Judgment, Study, User
from tests.annotate.evaluated_answers import a_study_of_answers, in_hands
from tests.annotate.factories import a_key_point_task, a_report_task, in_hands_of
from tests.annotate.work.test_assignment_in_browser import open_assignment, press, saved
from tests.annotate.work.test_auto_advance_in_browser import LONGER_THAN_THE_MOMENT, at_question, at_task
from tests.annotate.writers import a_study_of_writing
from tests.browser import SignIn, check_accessibility

pytestmark = pytest.mark.browser

BOX = "#choices .question:not([hidden]) .unsure:visible input"


@pytest.fixture
def reading(page: Page, sign_in: SignIn, study: Study, ada: User) -> Page:
    """Ada's page with a report of three questions; key points of two come next."""
    assignment = in_hands_of(ada, a_report_task(study))
    a_key_point_task(study)
    sign_in(page, ada)
    open_assignment(page, assignment)
    return page


def flags() -> list[tuple[float | None, bool]]:
    return list(Judgment.objects.order_by("item", "criterion").values_list("grade", "unsure"))


def test_pressed_in_the_moment_after_a_choice_it_flags_it_and_the_page_goes_on(reading: Page) -> None:
    press(reading, "0", "q")

    at_question(reading, 2)
    expect(reading.locator(BOX)).not_to_be_checked()
    saved(reading)
    assert flags() == [(0, True)]


def test_pressed_before_a_choice_it_goes_with_it(reading: Page) -> None:
    press(reading, "q")
    expect(reading.locator(BOX)).to_be_checked()
    check_accessibility(reading)

    press(reading, "0")
    at_question(reading, 2)

    saved(reading)
    assert flags() == [(0, True)]


def test_it_is_taken_back_and_comes_and_goes_with_undo(reading: Page) -> None:
    reading.locator("#goes-on").click()
    press(reading, "0", "q")
    saved(reading)
    flagged = flags()

    press(reading, "q")
    saved(reading)
    taken_back = flags()
    press(reading, "u")
    expect(reading.locator(BOX)).to_be_checked()
    press(reading, "u")
    expect(reading.locator(BOX)).not_to_be_checked()
    saved(reading)

    assert (flagged, taken_back, flags()) == ([(0, True)], [(0, False)], [(0, False)])


def test_a_tick_by_mouse_leaves_the_keys_to_grades(reading: Page) -> None:
    reading.locator(BOX).check()
    press(reading, "0")

    at_question(reading, 2)
    saved(reading)
    assert flags() == [(0, True)]


def test_the_last_grade_of_a_task_takes_it_along_and_u_comes_back_to_it(reading: Page) -> None:
    for number in (1, 2, 3):
        at_question(reading, number)
        press(reading, "0")
    at_task(reading, "key_point")
    press(reading, "u")
    at_task(reading, "answerability")
    at_question(reading, 3)

    press(reading, "q")

    expect(reading.locator(BOX)).to_be_checked()
    saved_again = reading.locator("#saving[data-state=saved]")
    expect(saved_again).to_be_visible()
    reading.wait_for_timeout(LONGER_THAN_THE_MOMENT)
    at_question(reading, 3)  # what is submitted is left when somebody says so
    assert flags() == [(0, False), (0, False), (0, True)]


def test_a_flag_set_offline_is_not_lost(reading: Page) -> None:
    reading.locator("#goes-on").click()
    reading.context.set_offline(True)
    press(reading, "0", "q")
    expect(reading.locator("#saving")).not_to_have_attribute("data-state", "saved")

    reading.context.set_offline(False)

    saved(reading)
    assert flags() == [(0, True)]


def test_what_waits_in_the_browser_is_shown_after_a_reload(reading: Page) -> None:
    reading.locator("#goes-on").click()
    reading.route("**/choice/", lambda route: route.abort("internetdisconnected"))
    press(reading, "0", "q")
    expect(reading.locator("#saving")).to_have_attribute("data-state", "offline")

    reading.reload()
    expect(reading.locator("#assignment.live")).to_be_visible()

    press(reading, "p")
    expect(reading.locator(BOX)).to_be_checked()


def test_of_two_grades_it_flags_the_last(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_key_point_task(study))
    sign_in(page, ada)
    open_assignment(page, assignment)

    press(page, "1", "q")
    saved(page)
    press(page, "4")
    at_question(page, 2)

    saved(page)
    assert flags() == [(1, True), (1, False)]


def test_an_evaluated_answer_is_flagged_after_its_key_turned_to_the_next_question(
    page: Page, sign_in: SignIn, rosa: User, ada: User
) -> None:
    sign_in(page, ada)
    open_assignment(page, in_hands(ada, a_study_of_answers(rosa)))

    press(page, "0", "q", "0")
    saved(page)

    expect(page.locator(".panel:visible .unsure input").first).to_be_checked()
    assert flags() == [(0, True), (0, False)]


def test_an_outcome_is_flagged(page: Page, sign_in: SignIn, rosa: User, ada: User) -> None:
    a_study_of_writing(owner=rosa, people=[ada])
    sign_in(page, ada)
    page.goto("/work/")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()

    page.get_by_text("no answer", exact=True).click()
    press(page, "q")
    saved(page)
    flagged = flags()
    press(page, "u")
    saved(page)

    assert [unsure for _, unsure in flagged + flags()] == [True, False]
