"""The three interfaces used like a person: by keyboard alone, with the mouse, on a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from annotate.models import Assignment, Draft
from collection.models import Judgment, Study, User
from tests.annotate.factories import (
    a_key_point_task,
    a_rating_task,
    a_report_task,
    an_open_study,
    answer_report,
    enrolled,
    in_hands_of,
)
from tests.browser import SignIn, check_accessibility

pytestmark = [pytest.mark.browser, pytest.mark.by_hand]


def saved(page: Page) -> None:
    """Wait until the page says that everything is saved."""
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")
    expect(page.locator("#saving")).to_have_text("Saved")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def open_assignment(page: Page, assignment: Assignment) -> None:
    page.goto(f"/work/{assignment.pk}/")
    expect(page.locator("#assignment.live")).to_be_visible()


def quotes(criterion: str = "answerability") -> list[list[str]]:
    """The marked words of each judgment, in the order of the items."""
    judgments = Judgment.objects.filter(criterion__name=criterion).order_by("item")
    return [[highlight.quote for highlight in judgment.highlights.all()] for judgment in judgments]


# --- By keyboard alone --------------------------------------------------------------------------


def test_a_report_by_keyboard_alone(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    a_report_task(study)
    a_key_point_task(study)
    enrolled(ada, an_open_study(study))
    sign_in(page, ada)
    page.goto("/work/")
    page.get_by_role("button", name="Start").focus()
    press(page, "Enter")
    page.wait_for_selector("#assignment.live")

    press(page, "1")  # answerable …
    press(page, "t", "s", "Enter")  # … here is the sentence …
    press(page, "ArrowDown", "Shift+ArrowRight", "Shift+ArrowRight", "Enter", "Escape")  # … and here are three words
    press(page, "n", "0")
    press(page, "n", "t", "ArrowDown", "ArrowDown", "s", "Enter", "Escape")  # marking says "answerable"
    saved(page)
    press(page, "Control+Enter")
    page.wait_for_url(re.compile(r"/work/\d+/$"))
    page.wait_for_selector("[data-task-type=key_point].live")

    assert quotes() == [["Fact 0 of subject 0 is here.", "Fact 1 is"], [], ["And that is all of it."]]
    assert Assignment.objects.get(state="submitted").active_seconds > 0


def test_a_rating_by_keyboard_alone(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    a_rating_task(study, after=a_report_task(study))
    reading = in_hands_of(ada, study.tasks.all()[0])
    answer_report(reading, [1, 0, 0])
    sign_in(page, ada)
    open_assignment(page, reading)
    press(page, "Control+Enter")
    page.wait_for_selector("[data-task-type=rating].live")

    press(page, "4", "t", "Shift+ArrowRight", "Enter", "Escape", "n", "2")
    saved(page)
    press(page, "Control+Enter")
    page.get_by_role("heading", name="All done. Thank you!").wait_for()

    ratings = Judgment.objects.filter(criterion__name="rating")
    assert list(ratings.order_by("grade").values_list("grade", flat=True)) == [2, 4]
    assert ratings.get(grade=4).highlights.get().quote == "Passage 0"
    assert ratings.get(grade=4).highlights.get().purpose == "rationale"


def test_key_points_by_keyboard_alone(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_key_point_task(study))
    sign_in(page, ada)
    open_assignment(page, assignment)

    press(page, "4")  # not asked yet: nothing happens
    expect(page.get_by_text("Is it a key point for the question?").first).to_be_hidden()
    press(page, "1")
    expect(page.get_by_text("Is it a key point for the question?").first).to_be_visible()
    press(page, "4", "j", "2", "Enter", "0")
    saved(page)
    press(page, "Control+Enter")
    page.get_by_role("heading", name="All done. Thank you!").wait_for()

    judged = Judgment.objects.order_by("item", "criterion").values_list("criterion__name", "grade")
    assert list(judged) == [("grounded", 1), ("utility", 1), ("grounded", 0)]


def test_changing_grounded_to_no_takes_utility_back(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(page, ada)
    open_assignment(page, in_hands_of(ada, a_key_point_task(study)))

    press(page, "1", "4")
    saved(page)
    press(page, "0")
    saved(page)

    assert list(Judgment.objects.values_list("criterion__name", "grade")) == [("grounded", 0)]
    expect(page.get_by_text("Is it a key point for the question?").first).to_be_hidden()


def test_undo_and_removing_by_key(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(page, ada)
    open_assignment(page, in_hands_of(ada, a_report_task(study)))

    press(page, "t", "s", "Enter", "ArrowRight", "Enter", "Escape")
    press(page, "Backspace")
    saved(page)
    after_removing = quotes()
    press(page, "Control+z")
    saved(page)
    after_undo = quotes()
    press(page, "0", "u")
    saved(page)

    assert after_removing == [["Fact 0 of subject 0 is here."]]
    assert after_undo == [["Fact 0 of subject 0 is here.", "Fact"]]
    assert quotes() == after_undo


def test_asks_for_a_highlight_before_submitting(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(page, ada)
    open_assignment(page, in_hands_of(ada, a_report_task(study)))

    press(page, "0", "n", "0", "n", "1", "p", "p")
    saved(page)
    press(page, "Control+Enter")

    expect(page.locator("#says")).to_have_text("Question 3: Mark the words that answer it at least once.")
    expect(page.get_by_role("tab", name="3, not complete")).to_have_attribute("aria-selected", "true")
    assert Draft.objects.get().grade == 1
    assert Assignment.objects.get().state == Assignment.State.OPEN


def test_guidelines_and_keys_open_by_key(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(page, ada)
    open_assignment(page, in_hands_of(ada, a_report_task(study)))

    press(page, "g")
    expect(page.get_by_role("dialog", name="Guidelines")).to_contain_text("Read everything first.")
    check_accessibility(page)
    press(page, "Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    press(page, "?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    check_accessibility(page)
    press(page, "0")
    press(page, "Escape")

    expect(page.get_by_role("dialog")).to_have_count(0)
    assert not Judgment.objects.exists()  # keys do nothing behind a dialog


# --- Mouse and touch ----------------------------------------------------------------------------


def drag_over(page: Page, words: str) -> None:
    """Select words of the text with the mouse."""
    box = page.evaluate(
        """(words) => {
            const walker = document.createTreeWalker(document.getElementById("text"), NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const index = walker.currentNode.data.indexOf(words);
                if (index < 0) continue;
                const range = document.createRange();
                range.setStart(walker.currentNode, index);
                range.setEnd(walker.currentNode, index + words.length);
                const {left, right, top, height} = range.getBoundingClientRect();
                return {left, right, y: top + height / 2};
            }
        }""",
        words,
    )
    page.mouse.move(box["left"] + 0.5, box["y"])
    page.mouse.down()
    page.mouse.move(box["right"] - 0.5, box["y"], steps=5)
    page.mouse.up()


def test_the_mouse_marks_and_chips_remove(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(page, ada)
    open_assignment(page, in_hands_of(ada, a_report_task(study)))

    page.get_by_text("unanswerable").first.click()
    drag_over(page, "Fact 1 is here")
    expect(page.locator("#says")).to_have_text("To mark words, choose “answerable” first.")
    page.locator("label", has_text=re.compile(r"^\s*answerable")).first.click()
    drag_over(page, "Fact 1 is here")
    drag_over(page, "is here too.")
    saved(page)
    both = quotes()
    page.get_by_role("button", name="Remove “Fact 1 is here”").click()
    saved(page)

    assert both == [["Fact 1 is here", "is here too."]]
    assert quotes() == [["is here too."]]


def test_a_double_click_marks_the_word_and_a_third_the_paragraph(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    sign_in(page, ada)
    open_assignment(page, in_hands_of(ada, a_report_task(study, "Bridges stand.\nThey do.")))
    word = page.locator("#text p").first

    word.dblclick(position={"x": 10, "y": 10})
    saved(page)
    twice = quotes()
    word.click(position={"x": 120, "y": 10}, click_count=3)
    saved(page)

    assert twice == [["Bridges"]]
    assert quotes() == [["Bridges", "Bridges stand."]]


def test_a_finger_marks_with_the_button(phone: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(phone, ada)
    open_assignment(phone, in_hands_of(ada, a_report_task(study)))
    phone.locator("label", has_text=re.compile(r"^\s*answerable")).first.tap()
    button = phone.get_by_role("button", name="Mark", exact=True)
    expect(button).to_be_hidden()

    phone.evaluate(
        """() => {  // what a long press and its handles do
            const node = document.getElementById("text").firstChild.firstChild;
            getSelection().setBaseAndExtent(node, 0, node, 6);
        }"""
    )
    button.tap()
    saved(phone)

    assert quotes() == [["Fact 0"]]
    expect(button).to_be_hidden()


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_pages_are_accessible(open_page: object, sign_in: SignIn, study: Study, ada: User, color_scheme: str) -> None:
    report = a_report_task(study)
    a_rating_task(study, after=report)
    a_key_point_task(study)
    page: Page = open_page(color_scheme=color_scheme, viewport={"width": 1280, "height": 800})  # type: ignore[operator]
    sign_in(page, ada)
    reading = in_hands_of(ada, report)
    page.goto("/work/")
    check_accessibility(page)
    open_assignment(page, reading)

    press(page, "t", "s", "Enter", "Escape")
    check_accessibility(page)
    press(page, "n", "0", "n", "0")
    saved(page)
    for task_type in ("rating", "key_point"):
        press(page, "Control+Enter")
        page.wait_for_selector(f"[data-task-type={task_type}].live")
        check_accessibility(page)
        press(page, "1", "4", "n", "0")
        saved(page)
    press(page, "Control+Enter")
    page.get_by_role("heading", name="All done. Thank you!").wait_for()
    check_accessibility(page)


def test_fits_a_phone(phone: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    sign_in(phone, ada)

    for path in ("/work/", f"/work/{assignment.pk}/"):
        phone.goto(path)

        assert phone.evaluate("document.documentElement.scrollWidth") == 390
        check_accessibility(phone)


# --- Coming back --------------------------------------------------------------------------------


def test_resumes_at_the_same_question(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    sign_in(page, ada)
    open_assignment(page, assignment)
    press(page, "0", "n", "n", "1")
    saved(page)

    again = page.context.new_page()
    page.close()
    open_assignment(again, assignment)

    expect(again.get_by_role("tab", name="1, answered")).to_have_attribute("aria-selected", "false")
    expect(again.get_by_role("tab", name="3, not complete")).to_have_attribute("aria-selected", "true")
    expect(again.get_by_role("radio", name="answerable", exact=False).nth(1)).to_be_checked()


def test_goes_from_a_rating_to_the_report_and_back(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    a_rating_task(study, after=a_report_task(study))
    reading = in_hands_of(ada, study.tasks.all()[0])
    answer_report(reading, [0, 0, 1])
    sign_in(page, ada)
    open_assignment(page, reading)
    press(page, "Control+Enter")
    page.wait_for_selector("[data-task-type=rating].live")
    if page.get_by_text("you found this answerable").is_hidden():
        press(page, "n")

    page.get_by_role("link", name="Review").click()
    page.wait_for_selector("[data-task-type=answerability].live")
    expect(page.get_by_role("tab", name="3, answered")).to_have_attribute("aria-selected", "true")
    press(page, "t", "Home", "s", "Enter")
    saved(page)
    page.get_by_role("link", name="Back to the rating").click()

    expect(page.locator("blockquote").first).to_be_attached()
    expect(page.locator("blockquote")).to_have_text(["Fact", "Fact 0 of subject 0 is here."])


def test_works_without_javascript(open_page: object, sign_in: SignIn, study: Study, ada: User) -> None:
    page: Page = open_page(java_script_enabled=False)  # type: ignore[operator]
    sign_in(page, ada)
    page.goto(f"/work/{in_hands_of(ada, a_report_task(study)).pk}/")

    for n in range(3):
        page.get_by_role("radio", name=re.compile("unanswerable")).nth(n).check()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Submit").click()

    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    assert Judgment.objects.filter(grade=0).count() == 3
