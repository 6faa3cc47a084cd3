"""Nothing that was chosen is lost: offline, signed out, with two tabs, with the browser closed too early."""

from __future__ import annotations

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, Route, expect

from annotate.assignments.assignments import return_assignment
from annotate.models import Assignment
from collection.models import Judgment, Study, User
from tests.annotate.factories import NOON, a_report_task, in_hands_of
from tests.annotate.work.test_assignment_in_browser import open_assignment, press, quotes, saved
from tests.browser import SignIn, check_accessibility

pytestmark = [pytest.mark.browser, pytest.mark.by_hand]


def grades() -> list[float | None]:
    return list(Judgment.objects.order_by("item").values_list("grade", flat=True))


@pytest.fixture
def reading(page: Page, sign_in: SignIn, study: Study, ada: User) -> Page:
    """Ada's page with a report of three questions."""
    sign_in(page, ada)
    open_assignment(page, in_hands_of(ada, a_report_task(study)))
    return page


def test_what_was_chosen_offline_is_sent_when_back(reading: Page) -> None:
    reading.context.set_offline(True)

    press(reading, "0", "n", "t", "s", "Enter", "Escape", "n", "0")
    expect(reading.locator("#saving")).to_have_text("Offline – 3 choices are kept here")
    offline = grades()
    reading.context.set_offline(False)
    saved(reading)

    assert offline == []
    assert grades() == [0, 1, 0]
    assert quotes()[1] == ["Fact 0 of subject 0 is here."]


def test_what_was_chosen_offline_outlives_the_page(reading: Page) -> None:
    url = reading.url
    reading.context.set_offline(True)
    press(reading, "0", "n", "t", "s", "Enter")
    expect(reading.locator("#saving")).to_have_text("Offline – 2 choices are kept here")
    reading.close()
    page = reading.context.new_page()
    reading.context.set_offline(False)

    page.goto(url)
    saved(page)

    assert grades() == [0, 1]
    expect(page.get_by_role("tab", name="2, answered")).to_be_visible()


def test_submitting_offline_waits_and_goes_on_by_itself(reading: Page) -> None:
    press(reading, "0", "n", "0", "n")
    saved(reading)
    reading.context.set_offline(True)

    press(reading, "0", "Control+Enter")
    expect(reading.locator("#says")).to_contain_text("submitted by itself when the network is back")
    press(reading, "Control+Enter")
    reading.context.set_offline(False)

    reading.get_by_role("heading", name="All done. Thank you!").wait_for()
    assert grades() == [0, 0, 0]


def test_what_is_changed_while_submitting_waits_counts_as_it_is_then(reading: Page) -> None:
    press(reading, "0", "n", "0", "n")
    saved(reading)
    reading.context.set_offline(True)

    press(reading, "0", "Control+Enter")
    expect(reading.locator("#says")).to_contain_text("submitted by itself")
    press(reading, "-")
    reading.context.set_offline(False)

    expect(reading.locator("#says")).to_contain_text("not answered yet")
    assert Assignment.objects.get().state == Assignment.State.OPEN


def test_a_task_of_which_all_is_saved_waits_for_the_network_too(reading: Page) -> None:
    press(reading, "0", "n", "0", "n", "0")
    saved(reading)
    reading.context.set_offline(True)

    press(reading, "Control+Enter")
    expect(reading.locator("#says")).to_contain_text("submitted by itself when the network is back")
    reading.context.set_offline(False)

    reading.get_by_role("heading", name="All done. Thank you!").wait_for()
    assert Assignment.objects.get().state == Assignment.State.SUBMITTED


def test_what_waits_is_shown_on_my_work_and_sent_from_there(reading: Page, expected_console_errors: list[str]) -> None:
    expected_console_errors.append("status of 503")
    reading.route("**/choice/", lambda route: route.fulfill(status=503))
    press(reading, "0", "n", "0")
    expect(reading.locator("#saving")).to_have_text("Offline – 2 choices are kept here")

    reading.goto("/work/")
    expect(reading.locator("#waiting")).to_contain_text("not sent yet: 2. Offline.")
    check_accessibility(reading)
    kept_back = grades()
    reading.unroute("**/choice/")
    reading.get_by_role("button", name="Send now").click()

    expect(reading.locator("#waiting-says")).to_have_text("All your answers are saved.")
    assert kept_back == []
    assert grades() == [0, 0]


def test_my_work_sends_what_waits_by_itself(reading: Page) -> None:
    reading.goto("/work/")
    expect(reading.locator("#waiting")).to_be_hidden()
    reading.go_back()
    reading.context.set_offline(True)
    press(reading, "0")
    expect(reading.locator("#saving")).to_have_text("Offline – 1 choice is kept here")
    reading.close()
    page = reading.context.new_page()
    reading.context.set_offline(False)

    page.goto("/work/")

    expect(page.locator("#waiting-says")).to_have_text("All your answers are saved.")
    assert grades() == [0]


def test_submitting_at_once_after_the_last_choice_loses_nothing(reading: Page) -> None:
    press(reading, "0", "n", "0", "n", "0", "Control+Enter")

    reading.get_by_role("heading", name="All done. Thank you!").wait_for()
    assert grades() == [0, 0, 0]


def test_closing_the_page_at_once_after_a_choice_loses_nothing(reading: Page) -> None:
    url = reading.url
    press(reading, "0")
    reading.goto("about:blank")

    reading.goto(url)
    saved(reading)

    assert grades() == [0]


def test_a_server_that_stumbles_gets_it_again(reading: Page, expected_console_errors: list[str]) -> None:
    expected_console_errors.append("status of 500")
    answers = iter([500, 500])

    def stumble(route: Route) -> None:
        status = next(answers, None)
        route.fulfill(status=status) if status else route.continue_()

    reading.route("**/choice/", stumble)
    press(reading, "0")
    saved(reading)

    assert grades() == [0]


def test_quick_changes_at_one_question_are_sent_once(reading: Page) -> None:
    sent: list[str] = []
    reading.on("request", lambda request: sent.append(request.url) if "choice" in request.url else None)

    press(reading, "0", "1", "0", "1", "0")
    saved(reading)

    assert grades() == [0]
    assert len(sent) == 1


def test_somebody_signed_out_is_asked_to_sign_in(reading: Page, sign_in: SignIn, ada: User) -> None:
    Session.objects.all().delete()

    press(reading, "0")
    expect(reading.locator("#saving")).to_contain_text("Signed out – 1 choice is kept here.")
    sign_in(reading, ada)  # in another tab
    reading.evaluate("dispatchEvent(new Event('focus'))")
    saved(reading)

    assert grades() == [0]


def test_who_has_no_password_is_sent_to_their_link(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    ada.set_unusable_password()
    ada.save()
    sign_in(page, ada)
    open_assignment(page, in_hands_of(ada, a_report_task(study)))
    Session.objects.all().delete()

    press(page, "0")

    said = "Signed out – 1 choice is kept here. Open your link again."
    expect(page.locator("#saving")).to_have_text(said)


def test_a_choice_waits_while_somebody_else_is_signed_in(
    reading: Page, sign_in: SignIn, ada: User, ben: User, expected_console_errors: list[str]
) -> None:
    expected_console_errors.append("status of 403")
    sign_in(reading, ben)  # in another tab

    press(reading, "0")
    expect(reading.locator("#saving")).to_contain_text("Signed out – 1 choice is kept here.")
    of_ben = grades()
    sign_in(reading, ada)
    reading.evaluate("dispatchEvent(new Event('focus'))")
    saved(reading)

    assert of_ben == []
    assert grades() == [0]


def test_a_returned_assignment_says_so(reading: Page, ada: User, expected_console_errors: list[str]) -> None:
    expected_console_errors.append("status of 410")
    return_assignment(assignment=ada.rater.assignments.get(), at=NOON)

    press(reading, "0")

    expect(reading.locator("#saving")).to_contain_text("Question 1 was refused: This task is no longer assigned to you")
    assert grades() == []


def test_a_closed_study_keeps_the_choice_here(reading: Page, study: Study, expected_console_errors: list[str]) -> None:
    expected_console_errors.append("status of 409")
    Study.objects.update(state=Study.State.CLOSED)

    press(reading, "0")

    expect(reading.locator("#saving")).to_contain_text("is closed: it accepts no answers now. 1 choice is kept here.")


def test_two_tabs_show_the_same(reading: Page) -> None:
    other = reading.context.new_page()
    other.goto(reading.url)
    expect(other.locator("#assignment.live")).to_be_visible()

    press(reading, "t", "s", "Enter", "Escape")
    expect(other.get_by_role("tab", name="1, answered")).to_be_visible()
    press(other, "t", "ArrowDown", "s", "Enter")
    saved(other)

    assert quotes() == [["Fact 0 of subject 0 is here.", "🌉 Fact 1 is here too."]]
    expect(reading.locator(".question:not([hidden]) .chip")).to_have_count(2)
