"""The three interfaces used like a person: by keyboard alone, with the mouse, on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from django.db.models import QuerySet
from playwright.sync_api import Page, expect

from annotate.assignments.assignments import claim
from annotate.models import Assignment, Draft
from collection.models import Judgment, Study, User
from tests.annotate.factories import (
    NOON,
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


FACTS = "Fact 0 of subject 0 is here. 🌉 Fact 1 is here too.\nAnd that is all of it."


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


def in_hands_together(user: User, study: Study) -> list[Assignment]:
    """Enrol the person in the open study and put all of its tasks into their hands, in their order."""
    rater = enrolled(user, an_open_study(study))
    mine = claim(study=study, rater=rater, at=NOON, ahead=study.tasks.count() - 1)
    assert [one.task for one in mine] == list(study.tasks.order_by("position"))
    return mine


def reports_in_hand(user: User, study: Study, texts: Iterable[str]) -> list[Assignment]:
    """Put a report of each of these texts into the person's hands."""
    for text in texts:
        a_report_task(study, text)
    return in_hands_together(user, study)


# --- By keyboard alone --------------------------------------------------------------------------


def _marks_a_report(page: Page) -> None:
    page.goto("/work/")
    page.get_by_role("button", name="Start").focus()
    press(page, "Enter")
    page.wait_for_selector("[data-task-type=answerability].live")
    press(page, "1")  # answerable …
    press(page, "t", "s", "Enter")  # … here is the sentence …
    press(page, "ArrowDown", "Shift+ArrowRight", "Shift+ArrowRight", "Enter", "Escape")  # … and here are three words
    press(page, "n", "0")
    press(page, "n", "t", "ArrowDown", "ArrowDown", "s", "Enter", "Escape")  # marking says "answerable"
    saved(page)
    press(page, "Control+Enter")
    page.wait_for_url(re.compile(r"/work/\d+/$"))
    page.wait_for_selector("[data-task-type=rating].live")

    assert quotes() == [["Fact 0 of subject 0 is here.", "Fact 1 is"], [], ["And that is all of it."]]
    assert Assignment.objects.get(state="submitted").active_seconds > 0


def _rates_a_passage(page: Page) -> None:
    press(page, "4", "t", "Shift+ArrowRight", "Enter", "Escape", "n", "2")
    saved(page)
    press(page, "Control+Enter")
    page.wait_for_selector("[data-task-type=key_point].live")

    ratings = Judgment.objects.filter(criterion__name="rating")
    assert list(ratings.order_by("grade").values_list("grade", flat=True)) == [2, 4]
    assert ratings.get(grade=4).highlights.get().quote == "Passage 0"
    assert ratings.get(grade=4).highlights.get().purpose == "rationale"


def _judges_key_points(page: Page) -> None:
    asked_next = page.get_by_text("Is it a key point for the question?").first
    press(page, "4")  # not asked yet: nothing happens
    expect(asked_next).to_be_hidden()
    press(page, "1")
    expect(asked_next).to_be_visible()
    press(page, "4")
    saved(page)
    press(page, "0")  # which takes the second grade back
    saved(page)
    assert list(key_points().values_list("criterion__name", "grade")) == [("grounded", 0)]
    expect(asked_next).to_be_hidden()

    press(page, "1", "4", "j", "2", "Enter", "0")
    saved(page)
    press(page, "Control+Enter")
    page.get_by_role("heading", name="All done. Thank you!").wait_for()

    judged = key_points().order_by("item", "criterion").values_list("criterion__name", "grade")
    assert list(judged) == [("grounded", 1), ("utility", 1), ("grounded", 0)]


def key_points() -> QuerySet[Judgment]:
    return Judgment.objects.filter(criterion__task_type="key_point")


def test_a_report_a_rating_and_key_points_by_keyboard_alone(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    a_rating_task(study, after=a_report_task(study))
    a_key_point_task(study)
    enrolled(ada, an_open_study(study))
    sign_in(page, ada)

    _marks_a_report(page)
    _rates_a_passage(page)
    _judges_key_points(page)


def _undoes_and_removes(page: Page) -> None:
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


def _opens_guidelines_and_keys(page: Page) -> None:
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


def _is_asked_for_a_mark_before_submitting(page: Page, assignment: Assignment) -> None:
    open_assignment(page, assignment)
    press(page, "0", "n", "0", "n", "1", "p", "p")
    saved(page)
    press(page, "Control+Enter")

    expect(page.locator("#says")).to_have_text("Question 3: Mark the words that answer it at least once.")
    expect(page.get_by_role("tab", name="3, not complete")).to_have_attribute("aria-selected", "true")
    assert Draft.objects.get().grade == 1
    assert set(Assignment.objects.values_list("state", flat=True)) == {Assignment.State.OPEN}


def _resumes_at_the_same_question(page: Page, assignment: Assignment) -> None:
    press(page, "p", "-", "n")
    saved(page)
    again = page.context.new_page()
    page.close()
    open_assignment(again, assignment)

    expect(again.get_by_role("tab", name="1, answered")).to_have_attribute("aria-selected", "false")
    expect(again.get_by_role("tab", name="3, not complete")).to_have_attribute("aria-selected", "true")
    expect(again.get_by_role("radio", name="answerable", exact=False).nth(1)).to_be_checked()


def test_keys_undo_ask_for_marks_and_open_dialogs_and_a_task_is_resumed(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    first, second = reports_in_hand(ada, study, [FACTS, FACTS])
    sign_in(page, ada)
    open_assignment(page, first)

    _opens_guidelines_and_keys(page)
    _undoes_and_removes(page)
    _is_asked_for_a_mark_before_submitting(page, second)
    _resumes_at_the_same_question(page, second)


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


def test_the_mouse_marks_words_and_paragraphs_and_chips_remove(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    first, second = reports_in_hand(ada, study, [FACTS, "Bridges stand.\nThey do."])
    sign_in(page, ada)
    open_assignment(page, first)

    page.get_by_text("unanswerable").first.click()
    drag_over(page, "Fact 1 is here")
    expect(page.locator("#says")).to_have_text("To mark words, choose “answerable” first.")
    page.locator("label", has_text=re.compile(r"^\s*answerable")).first.click()
    drag_over(page, "Fact 1 is here")
    drag_over(page, "is here too.")
    saved(page)
    assert quotes() == [["Fact 1 is here", "is here too."]]
    page.get_by_role("button", name="Remove “Fact 1 is here”").click()
    saved(page)
    assert quotes() == [["is here too."]]

    open_assignment(page, second)
    word = page.locator("#text p").first
    word.dblclick(position={"x": 10, "y": 10})
    saved(page)
    assert quotes()[1:] == [["Bridges"]]
    word.click(position={"x": 120, "y": 10}, click_count=3)
    saved(page)
    assert quotes()[1:] == [["Bridges", "Bridges stand."]]


def test_a_finger_marks_with_the_button_and_pages_fit_a_phone(
    phone: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    sign_in(phone, ada)

    for path in ("/work/", f"/work/{assignment.pk}/"):
        phone.goto(path)

        assert phone.evaluate("document.documentElement.scrollWidth") == 390, path
        check_accessibility(phone)

    expect(phone.locator("#assignment.live")).to_be_visible()
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


def check_both_themes(page: Page) -> None:
    for color_scheme in ("light", "dark"):
        page.emulate_media(color_scheme=color_scheme)
        page.evaluate("Promise.allSettled(document.getAnimations().map((one) => one.finished))")  # of the colours
        check_accessibility(page)


def test_pages_are_accessible_in_the_light_and_in_the_dark(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    report = a_report_task(study)
    a_rating_task(study, after=report)
    a_key_point_task(study)
    sign_in(page, ada)
    reading = in_hands_of(ada, report)
    page.goto("/work/")
    check_both_themes(page)
    open_assignment(page, reading)

    press(page, "t", "s", "Enter", "Escape")
    check_both_themes(page)
    press(page, "n", "0", "n", "0")
    saved(page)
    for task_type in ("rating", "key_point"):
        press(page, "Control+Enter")
        page.wait_for_selector(f"[data-task-type={task_type}].live")
        check_both_themes(page)
        press(page, "1", "4", "n", "0")
        saved(page)
    press(page, "Control+Enter")
    page.get_by_role("heading", name="All done. Thank you!").wait_for()
    check_both_themes(page)


# --- Coming back --------------------------------------------------------------------------------


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
    expect(page.locator(".clear:visible")).to_have_count(0)  # a script's; here a radio button takes the answer back
    page.get_by_role("button", name="Save").click()
    page.locator(".choice.none input").first.check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".choice.none :checked")).to_have_count(1)
    page.get_by_role("radio", name=re.compile("unanswerable")).first.check()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Submit").click()

    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    assert Judgment.objects.filter(grade=0).count() == 3
