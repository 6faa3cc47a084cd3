"""What a small window has room for: a laptop's without the browser's own bars, and a phone's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from annotate.models import Assignment
from collection.models import Study, User
from collection.models.studies import TaskType
from tests.annotate.evaluated_answers import a_study_of_answers, in_hands, rows_of, say, see_the_passages
from tests.annotate.work.test_grades_in_view import (
    UNSEEN,
    Work,
    answer_evaluation,
    answer_revision,
    battle,
    citation_support,
    in_studies_of_their_own,
    lists_of_grades,
    open_at,
    pair_of_answers,
    picture,
    question_fit,
    rating,
    relevance,
    sentence_nugget,
    written_answer,
)
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.looks import show_in

pytestmark = pytest.mark.browser

LOW_LAPTOPS = [(1366, 577), (1280, 577)]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 664}, "has_touch": True, "is_mobile": True}
# What is seen where this part ends.
AT_ITS_END = "part => document.elementFromPoint(innerWidth / 2, part.getBoundingClientRect().bottom - 8).id"
# What scrolls by itself in this part of the page.
SCROLLERS = """(part) => [part, ...part.querySelectorAll("*")].filter((one) =>
    one.scrollHeight > one.clientHeight + 1 && ["auto", "scroll"].includes(getComputedStyle(one).overflowY)
).map((one) => one.id || one.className)"""


def an_answer_and_its_passages(study: Study, ada: User) -> Assignment:
    """The passages were retrieved; which of them help Ada has said."""
    assignment = in_hands(ada, a_study_of_answers(study.collection.owner, retrieved=True))
    see_the_passages(assignment)
    for row in rows_of(assignment, TaskType.QUESTION_PASSAGE):
        say(assignment, row, passage_for_question=0)
    return assignment


def shown_in_light_and_dark(page: Page, name: str) -> None:
    for scheme in ("dark", "light"):
        show_in(page, scheme)
        picture(page, f"{name}-{scheme}")


def test_answers_compared_show_all_that_is_asked_in_a_low_window(
    page: Page, sign_in: SignIn, rosa: User, ada: User
) -> None:
    n_asked: dict[Work, int] = {answer_evaluation: 4, an_answer_and_its_passages: 2, pair_of_answers: 1, battle: 1}
    assignments = in_studies_of_their_own(list(n_asked), rosa, ada)
    sign_in(page, ada)
    for width, height in LOW_LAPTOPS:
        page.set_viewport_size({"width": width, "height": height})
        for work, assignment in zip(n_asked, assignments, strict=True):
            open_at(page, assignment)
            name = f"{work.__name__}-{width}x{height}"
            shown_in_light_and_dark(page, name)

            asked = page.locator(".choices:visible")
            assert asked.evaluate_all(UNSEEN) == [], name
            assert asked.count() == n_asked[work], name
            assert page.evaluate("scrollY") == 0, name
            check_accessibility(page)
            check_no_sideways_scroll(page)


def box_of(part: Locator) -> FloatRect:
    box = part.bounding_box()
    assert box is not None
    return box


def _keeps_the_outcomes_in_reach(phone: Page, assignment: Assignment, name: str) -> None:
    open_at(phone, assignment)
    shown_in_light_and_dark(phone, name)
    check_accessibility(phone)
    for scrolled_by in (0, 400):
        phone.mouse.wheel(0, scrolled_by)
        phone.wait_for_function("(by) => scrollY === by", arg=scrolled_by)
        assert lists_of_grades(phone).evaluate_all(UNSEEN) == [], name
    assert box_of(phone.locator("#outcomes"))["y"] >= 664 / 2, name

    outcome = phone.locator("#outcomes label.choice").first
    outcome.tap()

    expect(outcome.locator("input")).to_be_checked()
    answer = phone.locator("#answer")
    answer.tap()
    assert answer.evaluate(AT_ITS_END) == "answer", name
    check_no_sideways_scroll(phone)


def test_the_outcomes_of_a_written_answer_stay_in_reach_on_a_phone(
    open_page: Callable[..., Page], sign_in: SignIn, rosa: User, ada: User
) -> None:
    works: list[Work] = [written_answer, answer_revision]
    phone = open_page(**PHONE)
    sign_in(phone, ada)
    for work, assignment in zip(works, in_studies_of_their_own(works, rosa, ada), strict=True):
        _keeps_the_outcomes_in_reach(phone, assignment, f"{work.__name__}-phone")


def test_a_report_and_what_it_cites_are_one_scroll_on_a_phone(
    open_page: Callable[..., Page], sign_in: SignIn, rosa: User, ada: User
) -> None:
    works: list[Work] = [citation_support, sentence_nugget]
    phone = open_page(**PHONE)
    sign_in(phone, ada)
    for work, assignment in zip(works, in_studies_of_their_own(works, rosa, ada), strict=True):
        open_at(phone, assignment)
        name = f"{work.__name__}-phone"
        expect(phone.locator(".report-sentence.at-hand")).to_have_count(1)
        shown_in_light_and_dark(phone, name)

        assert phone.locator(".assignment-text").evaluate(SCROLLERS) == [], name
        text, panel = box_of(phone.locator("#text")), box_of(phone.locator("#questions"))
        assert 0 < text["y"] < panel["y"] / 2 or text["y"] + text["height"] <= panel["y"], name
        expect(phone.locator(".question-text:visible")).to_be_in_viewport(ratio=1)
        for citation in phone.locator("a.cite").all():
            box = box_of(citation)
            assert min(box["width"], box["height"]) >= 24, name


def _offers_later_beside_skip(page: Page) -> None:
    later, skip = page.locator("button[form=later]"), page.locator("#open-skip")
    expect(later).to_have_count(1)
    assert later.evaluate("one => one.closest('dialog')") is None
    for control in (later, skip):
        expect(control).to_be_in_viewport(ratio=1)
        box = box_of(control)
        assert min(box["width"], box["height"]) >= 24


def _says_nothing_of_what_is_not_answered(page: Page, n_questions: int) -> None:
    """How much is answered stands where there are several questions; what takes an answer back, beside one."""
    expect(page.locator("#progress:visible")).to_have_count(int(n_questions > 1))
    question = page.locator(".question:visible fieldset").first
    clear = question.locator(".clear")
    expect(clear).not_to_be_visible()

    question.locator(".choice:visible").first.click()

    expect(clear).to_have_text("-")
    expect(clear).to_be_visible()
    clear.click()
    expect(clear).not_to_be_visible()
    expect(question.locator(":checked")).to_have_count(0)


@pytest.mark.by_hand
@pytest.mark.parametrize("options", [{"viewport": {"width": 1366, "height": 768}}, PHONE], ids=["laptop", "phone"])
def test_what_stands_beside_the_grades_says_no_more_than_it_must(
    open_page: Callable[..., Page], sign_in: SignIn, rosa: User, ada: User, options: dict[str, Any]
) -> None:
    works: list[Work] = [question_fit, rating]
    page = open_page(**options)
    sign_in(page, ada)
    for assignment in in_studies_of_their_own(works, rosa, ada):
        open_at(page, assignment)
        check_accessibility(page)

        _offers_later_beside_skip(page)
        _says_nothing_of_what_is_not_answered(page, assignment.asked.count())
        page.locator("#text").focus()
        grades = page.locator(".question:visible .choice:not(.none) input")
        while not page.evaluate("document.activeElement.matches('.question input[type=radio]')"):
            page.keyboard.press("Tab")
        expect(grades.first).to_be_focused()


@pytest.mark.by_hand
def test_arrow_keys_stay_among_the_grades_and_the_focus_stays_where_an_answer_is_cleared(
    open_page: Callable[..., Page], sign_in: SignIn, rosa: User, ada: User
) -> None:
    works: list[Work] = [relevance, citation_support, sentence_nugget]
    page = open_page(viewport={"width": 1366, "height": 768})
    sign_in(page, ada)
    for assignment in in_studies_of_their_own(works, rosa, ada):
        open_at(page, assignment)
        question = page.locator(".question:visible fieldset").first
        grades = question.locator(".choice:not(.none) input")
        grades.first.focus()
        for nth in [*range(1, grades.count()), 0, 1]:
            page.keyboard.press("ArrowDown")
            expect(grades.nth(nth)).to_be_focused()
            expect(grades.nth(nth)).to_be_checked()
        for key in ("Space", "-", "Control+z"):  # what takes the answer away while its button has the focus
            grades.last.check()
            question.locator(".clear").focus()
            page.keyboard.press(key)
            expect(question.locator(".clear")).not_to_be_visible()
            expect(grades.first).to_be_focused()
            expect(question.locator(":checked")).to_have_count(0)


# Whether the part that has the focus is seen in the middle of its first line.
IS_FOCUS_SEEN = """() => {
    const label = document.activeElement.closest("label");
    const { left, top } = document.activeElement.getBoundingClientRect();
    return label.contains(document.elementFromPoint(left + 4, top + 4));
}"""


def test_the_outcomes_hide_no_sentence_that_has_the_focus_and_leave_a_low_window_to_the_text(
    open_page: Callable[..., Page], sign_in: SignIn, rosa: User, ada: User
) -> None:
    page = open_page(viewport={"width": 390, "height": 664})
    sign_in(page, ada)
    (assignment,) = in_studies_of_their_own([written_answer], rosa, ada)
    for width, height in ((390, 664), (640, 520)):
        page.set_viewport_size({"width": width, "height": height})
        open_at(page, assignment)
        boxes = page.locator(".sentence input")
        page.evaluate("scrollTo(0, 0)")
        boxes.first.focus()
        for box in boxes.all():
            expect(box).to_be_focused()
            page.wait_for_function(IS_FOCUS_SEEN)
            page.keyboard.press("Tab")

    page.set_viewport_size({"width": 640, "height": 288})
    open_at(page, assignment)
    page.evaluate("scrollTo(0, 0)")
    assert page.evaluate("document.elementFromPoint(innerWidth / 2, innerHeight - 8).closest('#outcomes')") is None
