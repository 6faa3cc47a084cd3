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
from tests.annotate.factories import a_key_point_task, a_rating_task, a_report_task, answer_report, in_hands_of
from tests.annotate.work.test_assignment_in_browser import open_assignment, press, saved
from tests.browser import SignIn, check_accessibility

pytestmark = pytest.mark.browser

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


def test_choices_alone_lead_through_a_task_and_to_the_next(reading: Page) -> None:
    submitted_by_choices(reading)
    at_question(reading, 1)
    check_accessibility(reading)

    press(reading, "1")
    reading.wait_for_timeout(LONGER_THAN_THE_MOMENT)  # the second question is asked now
    at_question(reading, 1)
    press(reading, "4")
    at_question(reading, 2)
    press(reading, "0")

    expect(reading.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    assert list(Judgment.objects.order_by("item", "criterion").values_list("criterion__name", "grade")) == [
        ("answerability", 0),
        ("answerability", 0),
        ("answerability", 0),
        ("grounded", 1),
        ("utility", 1),
        ("grounded", 0),
    ]
    assert set(Assignment.objects.values_list("state", flat=True)) == {Assignment.State.SUBMITTED}


def test_stays_where_a_mark_is_needed_and_goes_to_the_next_open_question(reading: Page) -> None:
    press(reading, "1")
    reading.wait_for_timeout(LONGER_THAN_THE_MOMENT)
    at_question(reading, 1)
    press(reading, "n", "n", "0")  # from the last to the first that is open
    at_question(reading, 1)
    press(reading, "t", "s", "Enter", "Escape")
    reading.wait_for_timeout(LONGER_THAN_THE_MOMENT)

    at_question(reading, 1)


@pytest.mark.parametrize("stop", ["1", "Shift", "g", "pointer"])
def test_whatever_is_pressed_in_the_moment_stops_it(reading: Page, stop: str) -> None:
    press(reading, "0")
    if stop == "pointer":
        reading.locator("#text p").first.click()
    else:
        press(reading, stop)

    reading.wait_for_timeout(LONGER_THAN_THE_MOMENT)

    at_question(reading, 1)


def test_u_takes_back_in_the_moment_and_after_it(reading: Page) -> None:
    press(reading, "0", "u")
    expect(reading.locator("#progress")).to_have_text("0 of 3")
    reading.wait_for_timeout(LONGER_THAN_THE_MOMENT)
    at_question(reading, 1)
    press(reading, "0")
    at_question(reading, 2)

    press(reading, "u")

    at_question(reading, 1)
    expect(reading.locator("#progress")).to_have_text("0 of 3")


def test_who_goes_back_to_change_an_answer_stays_there(reading: Page) -> None:
    press(reading, "0")
    at_question(reading, 2)
    press(reading, "p", "-", "0")

    reading.wait_for_timeout(LONGER_THAN_THE_MOMENT)

    at_question(reading, 1)


def test_a_late_next_does_not_skip_a_question(reading: Page) -> None:
    reading.evaluate(
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

    press(reading, "0")

    expect(reading.locator("#next[data-pressed]")).to_be_visible()
    at_question(reading, 2)


def test_a_key_held_down_answers_one_question(reading: Page) -> None:
    reading.keyboard.down("0")
    at_question(reading, 2)
    for _ in range(3):
        reading.keyboard.down("0")  # as the keyboard repeats it
    reading.keyboard.up("0")

    expect(reading.locator("#progress")).to_have_text("1 of 3")


def test_the_arrows_that_pass_over_the_choices_stay(reading: Page) -> None:
    reading.locator(".question:visible input[value='1']").focus()
    press(reading, "ArrowUp")
    expect(reading.locator("#progress")).to_have_text("1 of 3")

    reading.wait_for_timeout(LONGER_THAN_THE_MOMENT)

    at_question(reading, 1)


def test_the_switch_is_kept_and_says_its_state(reading: Page) -> None:
    switch = reading.get_by_role("button", name="Go on after a choice")
    expect(switch).to_have_attribute("aria-pressed", "true")
    switch.click()
    reading.reload()
    expect(switch).to_have_attribute("aria-pressed", "false")
    press(reading, "0")

    reading.wait_for_timeout(LONGER_THAN_THE_MOMENT)

    at_question(reading, 1)


def test_a_comment_that_is_typed_is_not_lost(reading: Page) -> None:
    press(reading, "n", "0")
    at_question(reading, 3)
    press(reading, "w")
    reading.locator("#comment-text").fill("The second")
    press(reading, "Escape")
    expect(reading.locator("#comment-text")).not_to_be_focused()
    press(reading, "0")
    at_question(reading, 1)
    press(reading, "0")

    expect(reading.locator("#says")).to_contain_text("Your comment is not sent yet.")
    assert not Assignment.objects.filter(state="submitted").exists()


def test_offline_nothing_is_submitted_or_lost(reading: Page) -> None:
    reading.context.set_offline(True)
    for number in (1, 2, 3):
        at_question(reading, number)
        press(reading, "0")
    expect(reading.locator("#says")).to_contain_text("Offline. The task is submitted by itself")
    assert not Judgment.objects.exists()

    reading.context.set_offline(False)

    at_task(reading, "key_point")
    assert Judgment.objects.filter(grade=0).count() == 3


def test_a_submitted_task_that_is_changed_is_not_left(reading: Page) -> None:
    submitted_by_choices(reading)
    reading.go_back()
    expect(reading.get_by_text("You submitted this on")).to_be_visible()
    expect(reading.locator("#assignment.live")).to_be_visible()
    press(reading, "1", "0")

    reading.wait_for_timeout(LONGER_THAN_THE_MOMENT)

    at_task(reading, "answerability")
    assert Assignment.objects.filter(state="submitted").count() == 1


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


# --- Across tasks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["u", "Control+z", "link"])
def test_the_last_task_is_taken_back_from_the_next_and_b_returns(reading: Page, way: str) -> None:
    submitted_by_choices(reading)
    following = reading.url
    if way == "link":
        reading.get_by_role("link", name="Take back").click()
    else:
        press(reading, way)

    at_task(reading, "answerability")
    at_question(reading, 3)
    check_accessibility(reading)
    press(reading, "1", "t", "s", "Enter", "Escape")
    saved(reading)
    press(reading, "b")

    expect(reading).to_have_url(following)
    at_task(reading, "key_point")
    assert list(Judgment.objects.order_by("grade").values_list("grade", flat=True)) == [0, 0, 1]
    assert not Draft.objects.exists()
    assert Assignment.objects.filter(state="submitted").count() == 1


def test_once_the_next_task_is_begun_u_undoes_there(reading: Page) -> None:
    submitted_by_choices(reading)
    press(reading, "0")
    at_question(reading, 2)
    expect(reading.get_by_role("link", name="Take back")).to_be_hidden()

    press(reading, "u", "u")

    at_task(reading, "key_point")
    expect(reading.locator("#says")).to_have_text("There is nothing to undo.")


def test_the_very_last_task_is_taken_back_by_key(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    answer_report(assignment, [0, 0, 0])
    sign_in(page, ada)
    open_assignment(page, assignment)
    press(page, "Control+Enter")
    expect(page.get_by_role("link", name="Take the last task back")).to_be_visible()
    check_accessibility(page)

    press(page, "u")

    at_task(page, "answerability")
    expect(page.get_by_text("You submitted this on")).to_be_visible()


def test_what_is_pressed_while_a_task_is_submitted_changes_nothing(reading: Page) -> None:
    sent = []
    for number in (1, 2):
        at_question(reading, number)
        press(reading, "0")
    at_question(reading, 3)
    saved(reading)
    reading.route("**/choice/", lambda route: sent.append(route))
    press(reading, "0")
    reading.wait_for_timeout(LONGER_THAN_THE_MOMENT)
    assert len(sent) == 1
    press(reading, "1", "-", "u")
    sent[0].continue_()

    expect(reading.get_by_text("You submitted this task.")).to_be_visible()
    at_task(reading, "answerability")
    at_question(reading, 3)
    assert list(Judgment.objects.values_list("grade", flat=True)) == [0, 0, 0]
    assert not Draft.objects.exists()


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
    """Ada's page with a report of one question; three more wait."""
    for n in range(4):
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
    can_show_pages(short_tasks)
    asked.clear()
    (first,) = ahead_of(ada)

    answered(short_tasks)

    second, third, fourth = ahead_of(ada)
    assert asked == [f"POST {first}choice/"]
    assert short_tasks.url.endswith(second)
    expect(short_tasks.locator(".task-turn")).to_have_text("task 2 of 4")
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


def test_a_page_that_came_along_has_the_headers_of_every_other(short_tasks: Page) -> None:
    can_show_pages(short_tasks)

    with short_tasks.expect_response(lambda response: response.request.is_navigation_request()) as came:
        answered(short_tasks)
    with short_tasks.expect_response(lambda response: response.request.is_navigation_request()) as fetched:
        short_tasks.reload()

    assert came.value.from_service_worker
    assert not fetched.value.from_service_worker
    of_a_page = {
        "content-security-policy",
        "content-type",
        "referrer-policy",
        "x-content-type-options",
        "x-frame-options",
    }
    for name in of_a_page:
        assert came.value.headers[name] == fetched.value.headers[name]
    assert "no-store" in came.value.headers["cache-control"]


def test_whoever_leaves_or_reloads_gets_pages_as_they_are(short_tasks: Page, ada: User, asked: list[str]) -> None:
    can_show_pages(short_tasks)
    answered(short_tasks)
    second, third, _ = ahead_of(ada)
    asked.clear()

    short_tasks.reload()
    expect(short_tasks.locator("#assignment.live")).to_be_visible()
    short_tasks.get_by_role("link", name="My work").click()
    expect(short_tasks.get_by_role("heading", name="My work")).to_be_visible()

    assert f"GET {second}" in asked
    assert short_tasks.evaluate("sessionStorage.getItem('assize:pages')") is None
    short_tasks.goto(third)
    assert f"GET {third}" in asked


def test_what_another_tab_has_begun_is_shown_as_it_is(short_tasks: Page, ada: User) -> None:
    can_show_pages(short_tasks)
    answered(short_tasks)
    _, third, _ = ahead_of(ada)
    other = short_tasks.context.new_page()
    other.goto(third)
    press(other, "0", "Shift")  # which stops the way on
    saved(other)

    answered(short_tasks)

    assert short_tasks.url.endswith(third)
    expect(short_tasks.locator("#progress")).to_have_text("1 of 1")


def test_a_page_that_came_long_ago_is_fetched_anew(short_tasks: Page, ada: User, asked: list[str]) -> None:
    can_show_pages(short_tasks)
    answered(short_tasks)
    second, third, _ = ahead_of(ada)
    later = "const now = Date.now.bind(Date); Date.now = () => now() + 121_000;"
    short_tasks.evaluate(later)
    asked.clear()

    answered(short_tasks)

    assert short_tasks.url.endswith(third)
    assert asked == [f"POST {second}choice/"]  # and it came once more
    expect(short_tasks.locator(".task-turn")).to_have_text("task 3 of 4")


def test_where_pages_cannot_be_handed_on_they_are_fetched_ahead(
    open_page: Callable[..., Page], sign_in: SignIn, study: Study, ada: User, asked: list[str]
) -> None:
    for n in range(3):
        a_report_task(study, f"Report {n}.").task_items.exclude(position=0).delete()
    page = open_page(service_workers="block")
    sign_in(page, ada)
    open_assignment(page, in_hands_of(ada, study.tasks.order_by("position")[0]))

    answered(page)

    _, third = ahead_of(ada)
    page.wait_for_function("(url) => performance.getEntriesByName(location.origin + url)[0]?.responseEnd", arg=third)
    assert page.locator("link[rel=prefetch]").count() == 1
    asked.clear()
    answered(page)
    assert page.url.endswith(third)
    assert f"GET {third}" not in asked


def test_an_answer_whose_reply_is_lost_is_sent_again_and_goes_on(
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
    first = short_tasks.url
    press(short_tasks, "0")

    short_tasks.wait_for_url(lambda url: url != first)

    assert len(tries) == 2
    assert Judgment.objects.count() == 1
    assert Assignment.objects.filter(state="submitted").count() == 1
    assert short_tasks.url.endswith(f"/work/{Assignment.objects.open().order_by('pk')[0].pk}/")


def test_offline_the_answer_waits_and_takes_along_to_the_next_task(short_tasks: Page) -> None:
    first = short_tasks.url
    short_tasks.context.set_offline(True)
    press(short_tasks, "0")
    expect(short_tasks.locator("#says")).to_contain_text("Offline.")
    assert not Judgment.objects.exists()

    short_tasks.context.set_offline(False)

    short_tasks.wait_for_url(lambda url: url != first)
    expect(short_tasks.locator("#assignment.live")).to_be_visible()
    assert Assignment.objects.filter(state="submitted").count() == 1


def test_in_the_moment_u_takes_back_what_was_not_sent_yet(short_tasks: Page) -> None:
    sent = posted(short_tasks)

    press(short_tasks, "0", "u")
    short_tasks.wait_for_timeout(LONGER_THAN_THE_MOMENT)

    assert set(sent) == {"choice"}
    assert not Judgment.objects.exists()
    assert not Assignment.objects.filter(state="submitted").exists()
