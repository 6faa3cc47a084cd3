"""Nothing that was chosen is lost: offline, signed out, with two tabs, with the browser closed too early."""

from __future__ import annotations

import json

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, Route, expect

from annotate.assignments.assignments import return_assignment
from annotate.models import Assignment
from collection.models import Judgment, Study, User
from tests.annotate.factories import NOON, a_report_task, in_hands_of
from tests.annotate.work.test_assignment_in_browser import FACTS, open_assignment, press, quotes, reports_in_hand, saved
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.factories import a_study

pytestmark = [pytest.mark.browser, pytest.mark.by_hand, pytest.mark.in_real_time]


def grades() -> list[float | None]:
    return list(Judgment.objects.order_by("item").values_list("grade", flat=True))


def compute_now(page: Page, words: str) -> None:
    expect(page.locator("#saving")).to_have_text(words)


@pytest.fixture
def reading(page: Page, sign_in: SignIn, study: Study, ada: User) -> Page:
    """Ada's page with a report of three questions."""
    sign_in(page, ada)
    open_assignment(page, in_hands_of(ada, a_report_task(study)))
    return page


# --- Offline --------------------------------------------------------------------------------------


def test_what_was_chosen_offline_is_sent_when_back_and_outlives_the_page(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    first, second = reports_in_hand(ada, study, [FACTS, FACTS])
    sign_in(page, ada)
    open_assignment(page, first)
    page.context.set_offline(True)
    press(page, "0", "n", "t", "s", "Enter", "Escape", "n", "0")
    compute_now(page, "Offline – 3 choices are kept here")
    assert grades() == []
    page.context.set_offline(False)
    saved(page)

    assert grades() == [0, 1, 0]
    assert quotes()[1] == ["Fact 0 of subject 0 is here."]

    open_assignment(page, second)
    page.context.set_offline(True)
    press(page, "0", "n", "t", "s", "Enter")
    compute_now(page, "Offline – 2 choices are kept here")
    again = page.context.new_page()
    page.close()
    again.context.set_offline(False)
    again.goto(f"/work/{second.pk}/")
    saved(again)

    assert grades() == [0, 1, 0, 0, 1]
    expect(again.get_by_role("tab", name="2, answered")).to_be_visible()


def _submits_offline(page: Page, *keys: str) -> None:
    page.context.set_offline(True)
    press(page, *keys, "Control+Enter")
    expect(page.locator("#says")).to_contain_text("submitted by itself when the network is back")


def _loses_the_reply(page: Page) -> None:
    """Submit once everything is saved; the server hears of it, and its reply does not arrive."""

    def lose(route: Route) -> None:
        route.fetch()
        route.abort("internetdisconnected")

    page.route("**/submit/", lose, times=1)
    press(page, "Control+Enter")
    expect(page.locator("#says")).not_to_be_empty()
    page.evaluate("dispatchEvent(new Event('online'))")


def test_a_task_that_is_submitted_offline_waits_and_goes_on_by_itself(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    first, second, third, fourth = reports_in_hand(ada, study, [FACTS] * 4)
    sign_in(page, ada)
    open_assignment(page, first)
    press(page, "0", "n", "0", "n", "0", "Control+Enter")  # at once after the last choice
    page.wait_for_selector(f"#assignment.live[data-assignment='{second.pk}']")
    assert grades() == [0, 0, 0]

    press(page, "0", "n", "0", "n")
    saved(page)
    _submits_offline(page, "0")
    press(page, "-")  # what is changed meanwhile counts as it is then
    page.context.set_offline(False)
    expect(page.locator("#says")).to_contain_text("not answered yet")
    assert Assignment.objects.get(pk=second.pk).state == Assignment.State.OPEN

    press(page, "0")
    saved(page)
    _submits_offline(page)  # although all is saved
    page.context.set_offline(False)
    page.wait_for_selector(f"#assignment.live[data-assignment='{third.pk}']")
    assert Assignment.objects.get(pk=second.pk).state == Assignment.State.SUBMITTED

    press(page, "0", "n", "0", "n", "0")
    saved(page)
    _loses_the_reply(page)
    page.wait_for_selector(f"#assignment.live[data-assignment='{fourth.pk}']")
    assert Assignment.objects.get(pk=third.pk).state == Assignment.State.SUBMITTED

    press(page, "0", "n", "0", "n")
    saved(page)
    _submits_offline(page, "0")
    press(page, "Control+Enter")
    page.context.set_offline(False)
    page.get_by_role("heading", name="All done. Thank you!").wait_for()
    assert grades() == [0] * 12


def test_what_waits_is_shown_on_my_work_and_sent_from_there(reading: Page, expected_console_errors: list[str]) -> None:
    expected_console_errors.append("status of 503")
    reading.route("**/choice/", lambda route: route.fulfill(status=503))
    press(reading, "0", "n", "0")
    compute_now(reading, "Offline – 2 choices are kept here")

    reading.goto("/work/")
    expect(reading.locator("#waiting")).to_contain_text("not sent yet: 2. Offline.")
    check_accessibility(reading)
    assert grades() == []
    reading.evaluate("for (let timer = setTimeout(() => {}); timer; timer--) clearTimeout(timer)")  # of the next try
    reading.unroute("**/choice/")
    reading.get_by_role("button", name="Send now").click()
    expect(reading.locator("#waiting-says")).to_have_text("All your answers are saved.")
    assert grades() == [0, 0]

    reading.reload()
    expect(reading.locator("#waiting")).to_be_hidden()
    reading.go_back()
    expect(reading.locator("#assignment.live")).to_be_visible()
    reading.context.set_offline(True)
    press(reading, "n", "0")
    compute_now(reading, "Offline – 1 choice is kept here")
    page = reading.context.new_page()
    reading.close()
    page.context.set_offline(False)
    page.goto("/work/")

    expect(page.locator("#waiting-says")).to_have_text("All your answers are saved.")  # without being asked to
    assert grades() == [0, 0, 0]


# --- In a hurry, and against a server that stumbles ------------------------------------------------


def _is_sent_again(page: Page) -> None:
    answers = iter([500, 500])

    def stumble(route: Route) -> None:
        status = next(answers, None)
        route.fulfill(status=status) if status else route.continue_()

    page.route("**/choice/", stumble)
    press(page, "0")
    saved(page)
    page.unroute("**/choice/")


def test_a_page_closed_at_once_a_server_that_stumbles_and_quick_changes_lose_nothing(
    reading: Page, expected_console_errors: list[str]
) -> None:
    expected_console_errors.append("status of 500")
    url = reading.url
    press(reading, "0")
    reading.goto("about:blank")
    reading.goto(url)
    saved(reading)
    assert grades() == [0]

    press(reading, "n")
    _is_sent_again(reading)
    assert grades() == [0, 0]

    sent: list[str] = []
    reading.on("request", lambda request: sent.append(request.url) if "choice" in request.url else None)
    press(reading, "n", "0", "1", "0", "1", "0")
    saved(reading)
    assert grades() == [0, 0, 0]
    assert len(sent) == 1


# --- Somebody who may not save now ------------------------------------------------------------------


def _comes_back(page: Page, sign_in: SignIn, user: User) -> None:
    sign_in(page, user)  # in another tab
    page.evaluate("dispatchEvent(new Event('focus'))")
    saved(page)


def test_a_choice_waits_until_its_assessor_is_signed_in_again(
    reading: Page, sign_in: SignIn, ada: User, ben: User, expected_console_errors: list[str]
) -> None:
    expected_console_errors.append("status of 403")
    Session.objects.all().delete()
    press(reading, "0")
    expect(reading.locator("#saving")).to_contain_text("Signed out – 1 choice is kept here.")
    _comes_back(reading, sign_in, ada)
    assert grades() == [0]

    sign_in(reading, ben)  # in another tab
    press(reading, "n", "0")
    expect(reading.locator("#saving")).to_contain_text("Signed out – 1 choice is kept here.")
    assert grades() == [0]
    _comes_back(reading, sign_in, ada)
    assert grades() == [0, 0]

    ada.set_unusable_password()
    ada.save()
    sign_in(reading, ada)
    reading.reload()
    expect(reading.locator("#assignment.live")).to_be_visible()
    Session.objects.all().delete()
    press(reading, "1")
    compute_now(reading, "Signed out – 1 choice is kept here. Open your link again.")


def test_a_closed_study_keeps_a_choice_here_and_a_returned_task_refuses_it(
    reading: Page, ada: User, expected_console_errors: list[str]
) -> None:
    expected_console_errors.extend(["status of 409", "status of 410"])
    Study.objects.update(state=Study.State.CLOSED)
    press(reading, "0")
    expect(reading.locator("#saving")).to_contain_text("is closed: it accepts no answers now. 1 choice is kept here.")
    assert grades() == []
    Study.objects.update(state=Study.State.OPEN)
    reading.evaluate("dispatchEvent(new Event('focus'))")
    saved(reading)
    assert grades() == [0]

    return_assignment(assignment=ada.rater.assignments.get(), at=NOON)
    assert grades() == []
    press(reading, "n", "0")

    expect(reading.locator("#saving")).to_contain_text("Question 2 was refused: This task is no longer assigned to you")
    assert grades() == []
    sent: list[str] = []
    reading.on("request", lambda request: sent.append(request.url) if "choice" in request.url else None)
    reading.goto("/work/")
    shelf = reading.locator("#shelf .message")
    expect(reading.locator("#waiting")).to_be_hidden()
    with reading.expect_download() as downloaded:
        shelf.get_by_role("button", name="Download").click()
    (answer,) = json.loads(downloaded.value.path().read_text())
    assert answer["choice"]["grade"] == 0
    assert sent == []
    reading.once("dialog", lambda dialog: dialog.accept())
    shelf.get_by_role("button", name="Discard").click()
    expect(shelf).to_have_count(0)


# Whether the browser keeps so many choices under this name.
WAITS = "([name, n]) => Object.keys(JSON.parse(localStorage.getItem(name)) ?? {}).length === n"


def _answers_and_submits(page: Page, assignment: Assignment) -> None:
    open_assignment(page, assignment)
    press(page, "0", "n", "0", "n", "0", "Control+Enter")
    page.wait_for_url(lambda url: f"/work/{assignment.pk}/" not in url)
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.SUBMITTED


def test_what_a_closed_study_or_a_broken_address_does_not_take_keeps_nothing_else_waiting(
    page: Page, sign_in: SignIn, study: Study, ada: User, expected_console_errors: list[str]
) -> None:
    expected_console_errors.extend(["status of 409", "status of 500"])
    other = a_study(study.collection, name="tunnels")
    in_closed = in_hands_of(ada, a_report_task(other))
    first, second, third = reports_in_hand(ada, study, [FACTS] * 3)
    sign_in(page, ada)
    open_assignment(page, in_closed)
    Study.objects.filter(pk=other.pk).update(state=Study.State.CLOSED)
    press(page, "0")
    expect(page.locator("#saving")).to_have_attribute("data-state", "error")

    tab = page.context.new_page()
    _answers_and_submits(tab, first)

    tab.wait_for_selector(f"#assignment.live[data-assignment='{second.pk}']")
    broken = f"**/work/{second.pk}/choice/"  # for all tabs: each sends what the others could not
    page.context.route(broken, lambda route: route.fulfill(status=500))
    press(tab, "0")
    expect(tab.locator("#saving")).to_have_attribute("data-state", "offline")
    _answers_and_submits(tab, third)

    assert grades() == [0] * 6
    page.context.unroute(broken)
    work = page.context.new_page()
    work.goto("/work/")
    work.wait_for_function(WAITS, arg=[f"assize:outbox:{ada.pk}", 1])
    assert grades() == [0] * 7
    expect(work.locator("#waiting")).to_be_hidden()
    shelf = work.locator("#shelf .message")
    expect(shelf).to_contain_text("“tunnels”")
    expect(shelf).to_contain_text(": 1.")
    check_accessibility(work)
    check_no_sideways_scroll(work)

    with work.expect_download() as downloaded:
        shelf.get_by_role("button", name="Download").click()
    (answer,) = json.loads(downloaded.value.path().read_text())
    assert (answer["choice"]["grade"], answer["url"]) == (0, f"/work/{in_closed.pk}/choice/")
    discard = shelf.get_by_role("button", name="Discard")
    work.once("dialog", lambda dialog: dialog.dismiss())
    discard.press("Enter")
    work.evaluate("dispatchEvent(new Event('focus'))")  # it is sent again
    work.wait_for_load_state("networkidle")
    expect(discard).to_be_focused()
    work.once("dialog", lambda dialog: dialog.accept())
    discard.press("Enter")
    expect(shelf).to_have_count(0)
    work.reload()
    expect(work.locator("#shelf")).to_be_empty()
    assert grades() == [0] * 7


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
