"""The guidelines beside the task, what screen readers hear, forced colours, and marks and finding by touch."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from django.utils.timezone import now
from playwright.sync_api import Page, expect

from annotate.assignments.assignments import submit_assignment
from collection.models import Collection, CopiedGrade, Guideline, Highlight, Judgment, Study, User
from collection.questions.guidelines import standard_guidelines
from tests.annotate.assignments.test_earlier_grades import answer, next_of_topic
from tests.annotate.factories import a_key_point_task, a_report_task, answer_report, in_hands_of
from tests.annotate.task_types.test_relevance_and_nuggets import opened, with_nuggets, with_second_reports
from tests.annotate.work.test_assignment_in_browser import open_assignment, press, saved
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll

pytestmark = [pytest.mark.browser, pytest.mark.by_hand, pytest.mark.in_real_time]


def picture(page: Page, name: str) -> None:
    """Keep a screenshot where SCREENSHOTS says."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def with_guidelines(study: Study) -> None:
    Guideline.objects.filter(study=study).update(
        markdown=standard_guidelines(["rating", "answerability", "key_point"]) + "\n\nRead on.\n" * 60
    )


@pytest.fixture
def open_reading(sign_in: SignIn, study: Study, ada: User) -> Callable[[Page], Page]:
    """Open a report of three questions, of which the first is answered; key points come next."""
    with_guidelines(study)
    assignment = in_hands_of(ada, a_report_task(study))
    a_key_point_task(study)
    answer_report(assignment, [1, 0, 0])

    def open_reading(page: Page) -> Page:
        sign_in(page, ada)
        open_assignment(page, assignment)
        return page

    return open_reading


# --- On a laptop ---------------------------------------------------------------------------------


def _reads_the_guidelines_beside_the_task(page: Page) -> None:
    guidelines = page.get_by_role("dialog", name="Guidelines")
    press(page, "g")
    expect(guidelines.get_by_role("heading", name="Does the report answer")).to_be_in_viewport()
    expect(guidelines.get_by_role("heading", name="How well does the passage")).not_to_be_in_viewport()
    expect(page.get_by_role("link", name="Guidelines")).to_have_attribute("aria-expanded", "true")
    picture(page, "guidelines-wide")
    check_accessibility(page)

    press(page, "n", "1", "0")  # the task goes on beside them
    expect(page.locator(".question:visible input[value='0']")).to_be_checked()
    page.locator(".question:visible label.choice").nth(1).click()
    expect(guidelines).to_be_visible()
    page.locator(".question:visible label.choice").first.click()
    saved(page)
    press(page, "Control+Enter")
    expect(page.locator("[data-task-type=key_point].live")).to_be_visible()
    expect(guidelines.get_by_role("heading", name="Is this a key point")).to_be_in_viewport()
    press(page, "g")
    expect(guidelines).to_be_hidden()
    page.reload()
    expect(page.locator("#assignment.live")).to_be_visible()
    expect(guidelines).to_be_hidden()


def test_guidelines_stay_open_beside_the_task_until_they_are_closed(
    open_page: Callable[..., Page], open_reading: Callable[[Page], Page]
) -> None:
    page = open_reading(open_page(viewport={"width": 1366, "height": 768}))
    button = page.get_by_role("link", name="Guidelines")
    button.focus()
    press(page, "Enter")
    expect(page.locator("#guidelines .reading")).to_be_focused()
    press(page, "Escape")
    expect(page.locator("#guidelines")).to_be_hidden()
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "false")

    _reads_the_guidelines_beside_the_task(page)


def _hears_questions_grades_and_failures(page: Page) -> None:
    says = page.locator("#tells")
    press(page, "n")
    expect(says).to_contain_text("Question 2: ")
    expect(says).to_contain_text(page.locator(".question:visible .question-text").inner_text().split("\n")[-1][3:])
    press(page, "p")
    expect(says).to_contain_text("Question 1: ")
    press(page, "n", "1")
    expect(says).to_have_text("answerable")
    saved(page)
    expect(says).to_have_text("answerable")  # that it is saved goes without saying
    page.context.set_offline(True)
    press(page, "0")
    expect(says).to_contain_text("Offline")
    page.context.set_offline(False)
    saved(page)


def _sees_the_choice_in_forced_colours(page: Page) -> None:
    page.emulate_media(forced_colors="active")
    outlines = page.locator(".question:visible .choice:not(.none)").evaluate_all(
        "all => all.map(one => getComputedStyle(one).outlineStyle)"
    )
    picture(page, "forced-colours")

    assert sorted(outlines) == ["none", "solid"]
    selected, other = (page.locator("#tabs [role=tab]").nth(n) for n in (0, 1))
    colour = "one => getComputedStyle(one).backgroundColor"
    assert selected.evaluate(colour) != other.evaluate(colour)
    page.emulate_media(forced_colors="none")


def worked(page: Page, *, seconds: int) -> None:
    """Let the browser think that Ada has worked so long."""
    page.evaluate(
        """(seconds) => {
            const name = Object.keys(localStorage).find((one) => one.startsWith("assize:session:"));
            localStorage.setItem(name, JSON.stringify({ seconds, sinceBreak: seconds, at: Date.now() }));
        }""",
        seconds,
    )
    page.reload()
    expect(page.locator("#assignment.live")).to_be_visible()


def _nothing_in_the_bar_overlaps(page: Page) -> None:
    for width in (1000, 1100, 1366):
        page.set_viewport_size({"width": width, "height": 768})
        parts = page.locator(
            ".task-bar > div > a, .task-of > *, .task-bar .saving, .task-bar .site-tools .button:visible"
        )
        boxes = sorted((box["x"], box["x"] + box["width"]) for one in parts.all() if (box := one.bounding_box()))
        assert all(end <= start for (_, end), (start, _) in pairwise(boxes)), (width, boxes)


def _is_proposed_a_break(page: Page) -> None:
    worked(page, seconds=12 * 60 + 5)
    expect(page.locator("#session")).to_have_text("· 12 min worked")
    _nothing_in_the_bar_overlaps(page)
    expect(page.locator("#break")).to_be_hidden()
    worked(page, seconds=46 * 60)
    expect(page.locator("#break")).to_contain_text("You have worked for 45 minutes.")
    picture(page, "break")
    check_accessibility(page)
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator("#break")).to_be_hidden()

    page.reload()
    expect(page.locator("#assignment.live")).to_be_visible()

    expect(page.locator("#session")).to_have_text("· 46 min worked")
    expect(page.locator("#break")).to_be_hidden()


def _is_told_the_pay(page: Page) -> None:
    page.route(
        "**/work/*/",
        lambda route: route.fulfill(
            response=(response := route.fetch()),
            body=response.text().replace(
                'id="session"', 'id="session" data-reward="9.00" data-currency="GBP" data-done="5" data-tasks="10"'
            ),
        ),
    )
    worked(page, seconds=30 * 60)

    expect(page.locator("#session")).to_contain_text("about £9.0 an hour")


def test_choices_are_heard_and_seen_and_the_strip_tells_time_and_pay(
    open_page: Callable[..., Page], open_reading: Callable[[Page], Page]
) -> None:
    page = open_reading(open_page(viewport={"width": 1366, "height": 768}))
    expect(page.locator("#session")).to_be_hidden()
    for name in ("A− Smaller text", "A+ Larger text", "Go on after a choice"):  # the words that are seen
        expect(page.get_by_role("button", name=name)).to_be_visible()

    _sees_the_choice_in_forced_colours(page)
    _hears_questions_grades_and_failures(page)
    _is_proposed_a_break(page)
    _is_told_the_pay(page)


# --- By touch ------------------------------------------------------------------------------------


def _opens_the_guidelines_as_a_sheet(phone: Page) -> None:
    phone.get_by_role("link", name="Guidelines").tap()
    expect(phone.get_by_role("heading", name="Does the report answer")).to_be_in_viewport()
    expect(phone.locator("#text-title")).to_be_in_viewport()
    picture(phone, "guidelines-phone")
    check_no_sideways_scroll(phone)
    check_accessibility(phone)

    phone.get_by_role("button", name="Close").tap()

    expect(phone.locator("#guidelines")).to_be_hidden()


def _finds_words(phone: Page) -> None:
    phone.get_by_role("button", name="Find").tap()
    phone.get_by_role("textbox", name="Find in the text").fill("fact 1")
    expect(phone.get_by_text("1 of 1", exact=True)).to_be_visible()
    picture(phone, "find-phone")


def _drags_the_end_of_a_mark(phone: Page) -> None:
    chip = phone.locator(".question:visible .chip-text")
    expect(chip).to_have_text("Fact")
    phone.locator("#text p").first.tap(position={"x": 12, "y": 14})
    expect(phone.get_by_role("group", name="The chosen mark")).to_be_visible()
    box = phone.locator(".mark-handle.end").bounding_box()
    assert box is not None
    picture(phone, "handles-phone")
    middle, top = box["x"] + box["width"] / 2, box["y"] + 8
    touch = phone.context.new_cdp_session(phone)

    def send(kind: str, *points: tuple[float, float]) -> None:
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    send("touchStart", (middle, top))
    for step in range(1, 9):
        send("touchMove", (middle + 12 * step, top + 8))
    send("touchEnd")
    phone.wait_for_timeout(400)  # or the browser takes the next tap for the second of a double tap
    phone.get_by_role("button", name="Done").tap()

    expect(chip).to_have_text(re.compile(r"^Fact 0 of\b"))
    saved(phone)
    quote = Highlight.objects.get().quote
    assert "Fact 0 of subject 0 is here.".startswith(quote)
    assert not "Fact 0 of subject 0 is here."[len(quote)].isalnum()


def test_a_finger_opens_guidelines_finds_words_and_drags_the_end_of_a_mark(
    open_page: Callable[..., Page], open_reading: Callable[[Page], Page]
) -> None:
    phone = open_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, color_scheme="dark")
    open_reading(phone)

    _opens_the_guidelines_as_a_sheet(phone)
    _drags_the_end_of_a_mark(phone)
    _finds_words(phone)


# --- Markdown ------------------------------------------------------------------------------------

MARKDOWN = "# Old **bridges**\n- They *burn* 🔥 often\n| Name | Year |\n|---|---|\n| Oak | **1752** |\nSee [more](https://x.org/a)."


def test_marks_over_markup_come_back_exactly(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study, MARKDOWN))
    sign_in(page, ada)
    open_assignment(page, assignment)
    picture(page, "markdown")
    assert page.locator("#text").evaluate("one => one.textContent") == MARKDOWN
    assert page.locator("#text").evaluate("one => one.innerText.includes('#')") is True  # it can be selected
    assert page.locator("#text .markup").first.evaluate("one => one.getBoundingClientRect().width") == 0
    assert page.locator("#text .h1 strong").evaluate("one => getComputedStyle(one).fontWeight") >= "600"

    press(page, "1", "t", "s", "Enter", "ArrowDown")  # the heading
    press(page, "s", "Enter", "Escape")
    page.locator("#text .cell strong").dblclick(position={"x": 8, "y": 8})
    saved(page)

    quotes = list(Highlight.objects.order_by("start").values_list("quote", "start", "end"))
    assert [quote for quote, *_ in quotes][-1] == "1752"
    assert all(MARKDOWN[start:end] == quote for quote, start, end in quotes)
    assert len(quotes) == 3
    page.reload()
    expect(page.locator("#assignment.live")).to_be_visible()
    drawn = page.evaluate("[...CSS.highlights.get('support')].map(String)")
    assert sorted(drawn) == sorted(quote for quote, *_ in quotes)


# --- Said once -----------------------------------------------------------------------------------


def test_the_importance_of_a_nugget_is_shown_and_changed(
    page: Page, sign_in: SignIn, collection: Collection, ada: User
) -> None:
    with_nuggets(collection)
    with_second_reports(collection)
    study = opened(collection, "nugget", ada, overlap=1)
    first = next_of_topic(study, ada)
    answer(first, support=0, importance=1)
    submit_assignment(assignment=first, at=now())
    second = next_of_topic(study, ada, like=first)
    sign_in(page, ada)
    open_assignment(page, second)
    importance = page.locator(".question:visible fieldset").nth(1)
    expect(importance.get_by_text("You have said this of it before.")).to_be_visible()
    expect(importance.locator(".choice:visible")).to_have_count(1)
    picture(page, "said-before")
    check_accessibility(page)

    page.locator(".question:visible label.choice").first.click()
    expect(page.locator("#progress")).to_have_text("1 of 2")
    importance.get_by_role("button", name="Change").click()
    importance.locator("label.choice").first.click()
    saved(page)

    judged = Judgment.objects.filter(criterion__name="importance").order_by("pk")
    assert len(set(judged.filter(item__asked__assignment=first).values_list("grade", flat=True))) == 1
    assert judged.get(item__asked__assignment=second).grade != judged[0].grade
    assert not CopiedGrade.objects.exists()
    page.reload()
    expect(page.locator("#assignment.live")).to_be_visible()
    expect(page.locator("#progress")).to_have_text("1 of 2")
