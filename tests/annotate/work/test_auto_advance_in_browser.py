"""A choice that completes a question leads on; whatever is pressed in the moment before, and U after it, takes back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from django.core.signals import request_started
from django.urls import reverse
from playwright.sync_api import Page, Request, Route, expect

from annotate.models import Assignment, Draft
from collection.models import Judgment, Study, User
from tests.annotate.factories import a_key_point_task, a_rating_task, a_report_task, in_hands_of
from tests.annotate.work.test_assignment_in_browser import FACTS, open_assignment, press, reports_in_hand, saved
from tests.browser import SignIn, check_accessibility

pytestmark = [pytest.mark.browser, pytest.mark.in_real_time]

LONGER_THAN_THE_MOMENT = 1_200  # ms


@pytest.fixture
def reading(page: Page, sign_in: SignIn, study: Study, ada: User) -> Page:
    """Ada's page with a report of three questions; key points of two come next."""
    assignment = in_hands_of(ada, a_report_task(study))
    a_key_point_task(study)
    sign_in(page, ada)
    open_assignment(page, assignment)
    return page


def at_question(page: Page, number: int) -> None:
    expect(page.locator(f"#tabs [role=tab]:nth-child({number})")).to_have_attribute("aria-selected", "true")


def at_task(page: Page, task_type: str) -> None:
    expect(page.locator(f"[data-task-type={task_type}].live")).to_be_visible()


def submitted_by_choices(page: Page) -> None:
    """Answer the three questions of the report, and be taken to the key points."""
    for number in (1, 2, 3):
        at_question(page, number)
        press(page, "0")
    at_task(page, "key_point")


def stays(page: Page, number: int, why: str = "") -> None:
    """Nothing happens in the time in which the page would have gone on from this question."""
    page.wait_for_timeout(LONGER_THAN_THE_MOMENT)
    expect(page.locator(f"#tabs [role=tab]:nth-child({number})"), why).to_have_attribute("aria-selected", "true")


def progress(page: Page, words: str) -> None:
    expect(page.locator("#progress")).to_have_text(words)


# --- To the next task -----------------------------------------------------------------------------


def test_choices_alone_lead_through_a_task_and_to_the_next_but_not_from_what_was_submitted(reading: Page) -> None:
    submitted_by_choices(reading)
    at_question(reading, 1)
    check_accessibility(reading)
    reading.go_back()
    expect(reading.get_by_text("You submitted this on")).to_be_visible()
    expect(reading.locator("#assignment.live")).to_be_visible()
    press(reading, "1", "0")
    reading.wait_for_timeout(LONGER_THAN_THE_MOMENT)
    at_task(reading, "answerability")
    assert Assignment.objects.filter(state="submitted").count() == 1
    reading.go_forward()
    at_task(reading, "key_point")

    press(reading, "1")
    stays(reading, 1)  # the second question is asked now
    press(reading, "4")
    at_question(reading, 2)
    press(reading, "0")

    expect(reading.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    judged = Judgment.objects.order_by("item", "criterion").values_list("criterion__name", "grade")
    assert list(judged) == [*[("answerability", 0)] * 3, ("grounded", 1), ("utility", 1), ("grounded", 0)]
    assert set(Assignment.objects.values_list("state", flat=True)) == {Assignment.State.SUBMITTED}


def _takes_back_and_returns(page: Page, way: str, grade: int) -> None:
    """From the key points to the report's last question, which gets this grade, and back with B."""
    following = page.url
    if way == "link":
        page.get_by_role("link", name="Take back").click()
    else:
        press(page, way)

    at_task(page, "answerability")
    at_question(page, 3)
    check_accessibility(page)
    press(page, *(["1", "t", "s", "Enter", "Escape"] if grade else ["0"]))
    saved(page)
    press(page, "b")

    expect(page, way).to_have_url(following)
    at_task(page, "key_point")
    assert list(Judgment.objects.order_by("grade").values_list("grade", flat=True)) == [0, 0, grade], way
    assert not Draft.objects.exists(), way
    assert Assignment.objects.filter(state="submitted").count() == 1, way


def test_the_last_task_is_taken_back_from_the_next_until_that_is_begun(reading: Page) -> None:
    submitted_by_choices(reading)
    for way, grade in (("u", 1), ("Control+z", 0), ("link", 1)):
        _takes_back_and_returns(reading, way, grade)

    press(reading, "0")
    at_question(reading, 2)
    expect(reading.get_by_role("link", name="Take back")).to_be_hidden()
    press(reading, "u", "u")
    at_task(reading, "key_point")
    expect(reading.locator("#says")).to_have_text("There is nothing to undo.")

    press(reading, "0")
    at_question(reading, 2)
    press(reading, "0", "Shift")  # which stops the way on
    saved(reading)
    press(reading, "Control+Enter")
    expect(reading.get_by_role("link", name="Take the last task back")).to_be_visible()
    check_accessibility(reading)
    press(reading, "u")

    at_task(reading, "key_point")
    expect(reading.get_by_text("You submitted this on")).to_be_visible()


# --- In the moment --------------------------------------------------------------------------------


def test_whatever_is_pressed_in_the_moment_stops_it_and_who_goes_back_stays(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    stops = ("1", "Shift", "pointer", "g")  # the guidelines stay open
    taken_back, changed, *stopped = reports_in_hand(ada, study, [FACTS] * (len(stops) + 2))
    sign_in(page, ada)
    open_assignment(page, taken_back)
    press(page, "0", "u")
    progress(page, "0 of 3")
    stays(page, 1)
    press(page, "0")
    at_question(page, 2)
    press(page, "u")
    at_question(page, 1)
    progress(page, "0 of 3")

    open_assignment(page, changed)
    press(page, "0")
    at_question(page, 2)
    press(page, "p", "-", "0")
    stays(page, 1)

    for stop, assignment in zip(stops, stopped, strict=True):
        open_assignment(page, assignment)
        press(page, "0")
        if stop == "pointer":
            page.locator("#text p").first.click()
        else:
            press(page, stop)
        stays(page, 1, stop)


def _needs_a_mark(page: Page) -> None:
    press(page, "1")
    stays(page, 1)
    press(page, "n", "n", "0")  # from the last to the first that is open
    at_question(page, 1)
    press(page, "t", "s", "Enter", "Escape")
    stays(page, 1)


def _is_asked_for_next_too_late(page: Page) -> None:
    page.evaluate(
        """() => {
            const next = document.getElementById("next");
            new MutationObserver((_, observer) => {
                if (document.querySelector("#tabs [role=tab]").ariaSelected === "true") return;
                observer.disconnect();
                next.click();
                next.dataset.pressed = "";
            }).observe(document.getElementById("tabs"), { subtree: true, attributeFilter: ["aria-selected"] });
        }"""
    )
    press(page, "0")
    expect(page.locator("#next[data-pressed]")).to_be_visible()
    at_question(page, 2)


def _is_held_down(page: Page) -> None:
    page.keyboard.down("0")
    at_question(page, 2)
    for _ in range(3):
        page.keyboard.down("0")  # as the keyboard repeats it
    page.keyboard.up("0")
    progress(page, "1 of 3")


def _is_passed_over(page: Page) -> None:
    page.locator(".question:visible input[value='1']").focus()
    press(page, "ArrowUp")
    progress(page, "1 of 3")
    stays(page, 1)


def _is_not_left_with_a_comment(page: Page) -> None:
    press(page, "n", "0")
    at_question(page, 3)
    press(page, "w")
    page.locator("#comment-text").fill("The second")
    press(page, "Escape")
    expect(page.locator("#comment-text")).not_to_be_focused()
    press(page, "0")
    at_question(page, 1)
    press(page, "0")

    expect(page.locator("#says")).to_contain_text("Your comment is not sent yet.")
    assert not Assignment.objects.filter(state="submitted").exists()


def _is_switched_off(page: Page) -> None:
    switch = page.get_by_role("button", name="Go on after a choice")
    expect(switch).to_have_attribute("aria-pressed", "true")
    switch.click()
    page.reload()
    expect(switch).to_have_attribute("aria-pressed", "false")
    press(page, "0")
    stays(page, 1)


def test_goes_on_once_and_only_where_all_is_said_by_whoever_has_it_switched_on(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    steps = [
        _needs_a_mark,
        _is_asked_for_next_too_late,
        _is_held_down,
        _is_passed_over,
        _is_not_left_with_a_comment,
        _is_switched_off,
    ]
    assignments = reports_in_hand(ada, study, [FACTS] * len(steps))
    sign_in(page, ada)

    for step, assignment in zip(steps, assignments, strict=True):
        open_assignment(page, assignment)
        step(page)


# --- While it is submitted ------------------------------------------------------------------------


def test_nothing_is_lost_offline_or_changed_while_a_task_is_submitted(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    first, second, _ = reports_in_hand(ada, study, [FACTS] * 3)
    sign_in(page, ada)
    open_assignment(page, first)
    page.context.set_offline(True)
    for number in (1, 2, 3):
        at_question(page, number)
        press(page, "0")
    expect(page.locator("#says")).to_contain_text("Offline. The task is submitted by itself")
    assert not Judgment.objects.exists()
    page.context.set_offline(False)
    page.wait_for_selector(f"#assignment.live[data-assignment='{second.pk}']")
    assert Judgment.objects.filter(grade=0).count() == 3

    sent = []
    for number in (1, 2):
        at_question(page, number)
        press(page, "0")
    at_question(page, 3)
    saved(page)
    page.route("**/choice/", lambda route: sent.append(route))
    press(page, "0")
    page.wait_for_timeout(LONGER_THAN_THE_MOMENT)
    assert len(sent) == 1
    press(page, "1", "-", "u")
    sent[0].continue_()
    expect(page.get_by_text("You submitted this task.")).to_be_visible()
    page.wait_for_selector(f"#assignment.live[data-assignment='{second.pk}']")
    at_question(page, 3)
    assert list(Judgment.objects.values_list("grade", flat=True)) == [0] * 6
    assert not Draft.objects.exists()


def test_two_tabs_submit_once(reading: Page) -> None:
    press(reading, "0")
    at_question(reading, 2)
    press(reading, "0")
    at_question(reading, 3)
    other = reading.context.new_page()
    other.goto(reading.url)
    expect(other.locator("#assignment.live")).to_be_visible()
    press(reading, "0")
    at_task(reading, "key_point")

    expect(other.locator("#submitted-elsewhere")).to_be_visible()
    other.wait_for_timeout(LONGER_THAN_THE_MOMENT)

    at_task(other, "answerability")
    assert Judgment.objects.count() == 3
    assert sorted(Assignment.objects.values_list("state", flat=True)) == ["open", "submitted"]


def test_a_phone_has_the_switch_and_the_way_back(phone: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    a_rating_task(study)
    assignment = in_hands_of(ada, study.tasks.get())
    a_key_point_task(study)
    sign_in(phone, ada)
    open_assignment(phone, assignment)
    phone.get_by_role("button", name="Text size, and going on").tap()
    expect(phone.get_by_role("button", name="Go on after a choice")).to_be_in_viewport()
    check_accessibility(phone)
    phone.locator("#text-title").tap()
    expect(phone.get_by_role("button", name="Go on after a choice")).to_be_hidden()

    for number in range(1, assignment.asked.count() + 1):
        at_question(phone, number)
        phone.locator(".question:visible label.choice", has_text=re.compile(r"^\s*none")).first.tap()
    at_task(phone, "key_point")
    back = phone.get_by_role("link", name="Take back")
    expect(back).to_be_in_viewport()
    check_accessibility(phone)
    back.tap()

    at_task(phone, "rating")


# --- One round trip -------------------------------------------------------------------------------


@pytest.fixture
def short_tasks(page: Page, sign_in: SignIn, study: Study, ada: User) -> Page:
    """Ada's page with a report of one question; five more wait."""
    for n in range(6):
        a_report_task(study, f"Report {n}.").task_items.exclude(position=0).delete()
    sign_in(page, ada)
    open_assignment(page, in_hands_of(ada, study.tasks.order_by("position")[0]))
    return page


def posted(page: Page) -> list[str]:
    """What the page sends from now on, by the last word of its address."""
    sent: list[str] = []

    def note(request: Request) -> None:
        if request.method == "POST":
            sent.append(request.url.rstrip("/").rpartition("/")[2])

    page.on("request", note)
    return sent


@pytest.fixture
def asked() -> Iterator[list[str]]:
    """What the server is asked about work, as "POST /work/1/choice/"."""
    requests: list[str] = []

    def note(environ: dict[str, str], **_: object) -> None:
        if environ["PATH_INFO"].startswith("/work/"):
            requests.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}")

    request_started.connect(note)
    yield requests
    request_started.disconnect(note)


def can_show_pages(page: Page) -> None:
    """Wait until pages can come with the reply to an answer."""
    active = "navigator.serviceWorker.getRegistration('/work/').then((one) => one?.active?.state === 'activated')"
    page.wait_for_function(active)


def ahead_of(ada: User) -> list[str]:
    """Where the tasks in Ada's hands are, in their order."""
    return [reverse("annotate:assignment", args=[one.pk]) for one in Assignment.objects.of(ada).open().order_by("pk")]


def answered(page: Page) -> None:
    """Answer the task of one question, and wait until the next one is there."""
    before = page.url
    press(page, "0")
    page.wait_for_url(lambda url: url != before)
    expect(page.locator("#assignment.live")).to_be_visible()


def test_a_task_of_one_question_is_one_round_trip_with_two_tasks_ahead(
    short_tasks: Page, ada: User, asked: list[str]
) -> None:
    sent = posted(short_tasks)
    press(short_tasks, "0", "u")  # takes back what was not sent yet
    short_tasks.wait_for_timeout(LONGER_THAN_THE_MOMENT)
    assert set(sent) == {"choice"}
    assert not Judgment.objects.exists()
    assert not Assignment.objects.filter(state="submitted").exists()

    can_show_pages(short_tasks)
    asked.clear()
    (first,) = ahead_of(ada)
    answered(short_tasks)
    second, third, fourth = ahead_of(ada)
    assert asked == [f"POST {first}choice/"]
    assert short_tasks.url.endswith(second)
    expect(short_tasks.locator(".task-turn")).to_have_text("task 2 of 6")
    answered(short_tasks)
    assert short_tasks.url.endswith(third)
    answered(short_tasks)
    assert short_tasks.url.endswith(fourth)
    assert asked == [f"POST {address}choice/" for address in (first, second, third)]
    expect(short_tasks.get_by_text("Report 3.")).to_be_visible()
    assert Judgment.objects.count() == 3
    check_accessibility(short_tasks)
    press(short_tasks, "u")
    expect(short_tasks).to_have_url(re.compile(re.escape(third)))
    expect(short_tasks.get_by_text("You submitted this task.")).to_be_visible()


def _gets_the_headers_of_every_page(page: Page) -> None:
    with page.expect_response(lambda response: response.request.is_navigation_request()) as came:
        answered(page)
    with page.expect_response(lambda response: response.request.is_navigation_request()) as fetched:
        page.reload()
    expect(page.locator("#assignment.live")).to_be_visible()

    assert came.value.from_service_worker
    assert not fetched.value.from_service_worker
    of_every_page = "content-security-policy content-type referrer-policy x-content-type-options x-frame-options"
    for name in of_every_page.split():
        assert came.value.headers[name] == fetched.value.headers[name], name
    assert "no-store" in came.value.headers["cache-control"]


def _gets_a_page_anew_that_came_long_ago(page: Page, ada: User, asked: list[str]) -> None:
    answered(page)
    here, following, _ = ahead_of(ada)
    later = "const now = Date.now.bind(Date); Date.now = () => now() + 121_000;"
    page.evaluate(later)
    asked.clear()

    answered(page)

    assert page.url.endswith(following)
    assert asked == [f"POST {here}choice/"]  # and it came once more
    expect(page.locator(".task-turn")).to_have_text("task 4 of 6")


def _leaves_and_reloads(page: Page, ada: User, asked: list[str]) -> None:
    here, following, _ = ahead_of(ada)
    asked.clear()

    page.reload()
    expect(page.locator("#assignment.live")).to_be_visible()
    page.get_by_role("link", name="My work").click()
    expect(page.get_by_role("heading", name="My work")).to_be_visible()

    assert f"GET {here}" in asked
    assert page.evaluate("sessionStorage.getItem('assize:pages')") is None
    page.goto(following)
    assert f"GET {following}" in asked
    open_assignment(page, Assignment.objects.of(ada).open().order_by("pk")[0])


def _sees_what_another_tab_has_begun(page: Page, ada: User) -> None:
    answered(page)
    _, following = ahead_of(ada)
    other = page.context.new_page()
    other.goto(following)
    press(other, "0", "Shift")  # which stops the way on
    saved(other)

    answered(page)

    assert page.url.endswith(following)
    progress(page, "1 of 1")


def test_a_page_that_came_along_is_shown_once_while_it_is_what_the_server_has(
    short_tasks: Page, ada: User, asked: list[str]
) -> None:
    can_show_pages(short_tasks)

    _gets_the_headers_of_every_page(short_tasks)
    can_show_pages(short_tasks)
    _gets_a_page_anew_that_came_long_ago(short_tasks, ada, asked)
    _leaves_and_reloads(short_tasks, ada, asked)
    can_show_pages(short_tasks)
    _sees_what_another_tab_has_begun(short_tasks, ada)


def test_where_pages_cannot_be_handed_on_they_are_fetched_ahead(
    open_page: Callable[..., Page], sign_in: SignIn, study: Study, ada: User, ben: User, asked: list[str]
) -> None:
    for n in range(4):
        a_report_task(study, f"Report {n}.").task_items.exclude(position=0).delete()
    page = open_page(service_workers="block")
    sign_in(page, ada)
    open_assignment(page, in_hands_of(ada, study.tasks.order_by("position")[0]))

    answered(page)

    _, third, _ = ahead_of(ada)
    page.wait_for_function("(url) => performance.getEntriesByName(location.origin + url)[0]?.responseEnd", arg=third)
    assert page.locator("link[rel=prefetch]").count() == 2
    asked.clear()
    answered(page)
    assert page.url.endswith(third)
    assert f"GET {third}" not in asked

    sign_in(page, ben)  # in this tab, which knows what is ahead of Ada
    open_assignment(page, in_hands_of(ben, study.tasks.order_by("position")[0]))
    expect(page.locator("link[rel=prefetch]")).to_have_count(0)


def test_an_answer_whose_reply_is_lost_or_that_waits_offline_goes_on_to_the_next_task(
    short_tasks: Page, expected_console_errors: list[str]
) -> None:
    expected_console_errors.append("ERR_FAILED")
    tries: list[str] = []

    def lose_the_first(route: Route) -> None:
        tries.append(route.request.url)
        if len(tries) > 1:
            return route.continue_()
        route.fetch()
        return route.abort()

    short_tasks.route("**/choice/", lose_the_first)
    answered(short_tasks)
    assert len(tries) == 2
    assert Judgment.objects.count() == 1
    assert Assignment.objects.filter(state="submitted").count() == 1
    assert short_tasks.url.endswith(f"/work/{Assignment.objects.open().order_by('pk')[0].pk}/")

    second = short_tasks.url
    short_tasks.context.set_offline(True)
    press(short_tasks, "0")
    expect(short_tasks.locator("#says")).to_contain_text("Offline.")
    assert Judgment.objects.count() == 1
    short_tasks.context.set_offline(False)
    short_tasks.wait_for_url(lambda url: url != second)
    expect(short_tasks.locator("#assignment.live")).to_be_visible()
    assert Assignment.objects.filter(state="submitted").count() == 2
