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

pytestmark = [pytest.mark.browser, pytest.mark.in_real_time]

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


def _flags_in_the_moment_after_a_choice_and_by_mouse(page: Page) -> None:
    press(page, "0", "q")
    at_question(page, 2)
    expect(page.locator(BOX)).not_to_be_checked()
    saved(page)
    assert flags() == [(0, True)]

    page.locator(BOX).check()
    press(page, "0")  # which still acts
    at_question(page, 3)
    saved(page)
    assert flags() == [(0, True)] * 2


def _comes_back_to_the_last_grade(page: Page) -> None:
    press(page, "0")
    at_task(page, "key_point")
    press(page, "u")
    at_task(page, "answerability")
    at_question(page, 3)
    assert flags() == [(0, True), (0, True), (0, False)]

    press(page, "q")

    expect(page.locator(BOX)).to_be_checked()
    expect(page.locator("#saving[data-state=saved]")).to_be_visible()
    page.wait_for_timeout(LONGER_THAN_THE_MOMENT)
    at_question(page, 3)  # what is submitted is left when somebody says so
    assert flags() == [(0, True)] * 3


def _flags_the_last_of_two_grades(page: Page) -> None:
    press(page, "1", "q")
    saved(page)
    press(page, "4")
    at_question(page, 2)
    saved(page)
    assert flags()[3:] == [(1, True), (1, False)]


def _flags_before_the_choice(page: Page) -> None:
    press(page, "q")
    expect(page.locator(BOX)).to_be_checked()
    check_accessibility(page)

    press(page, "0")  # the last grade of a task takes it along

    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    assert flags()[3:] == [(1, True), (1, False), (0, True)]


def test_a_grade_is_flagged_before_and_after_it_by_key_and_by_mouse_and_the_page_goes_on(reading: Page) -> None:
    _flags_in_the_moment_after_a_choice_and_by_mouse(reading)
    _comes_back_to_the_last_grade(reading)
    press(reading, "b")
    at_task(reading, "key_point")
    _flags_the_last_of_two_grades(reading)
    _flags_before_the_choice(reading)


def _is_taken_back_and_comes_and_goes_with_undo(page: Page) -> None:
    press(page, "0", "q")
    saved(page)
    flagged = flags()

    press(page, "q")
    saved(page)
    taken_back = flags()
    press(page, "u")
    expect(page.locator(BOX)).to_be_checked()
    press(page, "u")
    expect(page.locator(BOX)).not_to_be_checked()
    saved(page)

    assert (flagged, taken_back, flags()) == ([(0, True)], [(0, False)], [(0, False)])


def test_a_flag_is_undone_sent_when_back_and_shown_where_it_waits_in_the_browser(reading: Page) -> None:
    reading.locator("#goes-on").click()
    _is_taken_back_and_comes_and_goes_with_undo(reading)

    press(reading, "n")
    reading.context.set_offline(True)
    press(reading, "0", "q")
    expect(reading.locator("#saving")).not_to_have_attribute("data-state", "saved")
    reading.context.set_offline(False)
    saved(reading)
    assert flags() == [(0, False), (0, True)]

    press(reading, "n")
    reading.route("**/choice/", lambda route: route.abort("internetdisconnected"))
    press(reading, "0", "q")
    expect(reading.locator("#saving")).to_have_attribute("data-state", "offline")
    reading.reload()
    expect(reading.locator("#assignment.live")).to_be_visible()
    press(reading, "j", "3", "Enter")
    at_question(reading, 3)
    expect(reading.locator(BOX)).to_be_checked()


def _flags_an_outcome(page: Page) -> None:
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()

    page.get_by_text("no answer", exact=True).click()
    press(page, "q")
    saved(page)
    assert flags()[-1][1] is True
    press(page, "u")
    saved(page)
    assert flags()[-1][1] is False


def test_an_evaluated_answer_is_flagged_after_its_key_turned_to_the_next_question_and_so_is_an_outcome(
    page: Page, sign_in: SignIn, rosa: User, ada: User
) -> None:
    sign_in(page, ada)
    open_assignment(page, in_hands(ada, a_study_of_answers(rosa)))

    press(page, "0", "q", "0")
    saved(page)

    expect(page.locator(".panel:visible .unsure input").first).to_be_checked()
    assert flags() == [(0, True), (0, False)]

    a_study_of_writing(owner=rosa, people=[ada])
    page.goto("/work/")
    _flags_an_outcome(page)
