"""A report, a passage and key points from start to finish, by touch alone at 390 px; what is seen at one time there."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from collection.models import Judgment, Passage, RubricElement, Study, User
from tests.annotate.factories import (
    a_key_point_task,
    a_rating_task,
    a_report_task,
    a_topic_of,
    an_open_study,
    enrolled,
    in_hands_of,
)
from tests.annotate.work.test_assignment_in_browser import in_hands_together, open_assignment, quotes, saved
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll

pytestmark = [pytest.mark.browser, pytest.mark.by_hand]


def start(phone: Page) -> None:
    phone.goto("/work/")
    phone.get_by_role("button", name="Start").tap()
    expect(phone.locator("#assignment.live")).to_be_visible()


def choose(phone: Page, name: str) -> None:
    phone.locator(".question:visible label.choice:visible", has_text=re.compile(rf"^\s*{name}")).first.tap()


def go_on(phone: Page) -> None:
    phone.get_by_role("button", name=re.compile("^Next")).tap()


def submit(phone: Page) -> None:
    saved(phone)
    check_no_sideways_scroll(phone)
    phone.locator("#submit-button").tap()


def test_all_three_by_touch(phone: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    a_rating_task(study, after=a_report_task(study))
    a_key_point_task(study)
    enrolled(ada, an_open_study(study))
    sign_in(phone, ada)
    start(phone)

    choose(phone, "answerable")
    phone.evaluate(
        """() => {  // what a long press and its handles do
            const node = document.getElementById("text").firstChild.firstChild;
            getSelection().setBaseAndExtent(node, 0, node, 6);
        }"""
    )
    phone.get_by_role("button", name="Mark", exact=True).tap()
    for _ in range(2):
        go_on(phone)
        choose(phone, "unanswerable")
    submit(phone)
    expect(phone.locator("[data-task-type=rating].live")).to_be_visible()
    choose(phone, "fully")
    go_on(phone)
    choose(phone, "none")
    submit(phone)
    expect(phone.locator("[data-task-type=key_point].live")).to_be_visible()
    choose(phone, "yes")
    choose(phone, "agree")
    go_on(phone)
    choose(phone, "no")
    submit(phone)
    expect(phone.get_by_role("heading", name="All done. Thank you!")).to_be_visible()

    assert quotes() == [["Fact 0"], [], []]
    grades = Judgment.objects.order_by("criterion__position", "grade").values_list("criterion__name", "grade")
    assert list(grades) == [
        *[("answerability", 0), ("answerability", 0), ("answerability", 1)],
        *[("rating", 0), ("rating", 5)],
        *[("grounded", 0), ("grounded", 1)],
        ("utility", 1),
    ]


# --- What is seen at one time ---------------------------------------------------------------------


def bottom(part: Locator) -> float:
    box = part.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def _sees_all_grades_below_the_text(phone: Page) -> None:
    grades = phone.locator(".question:visible .choice:visible")
    expect(grades).to_have_count(6)

    for grade in grades.all():
        expect(grade).to_be_in_viewport(ratio=1)
        box = grade.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
    panel = phone.locator("#questions").bounding_box()
    assert panel is not None
    assert panel["y"] - bottom(phone.locator(".task-bar")) > 844 / 3
    assert phone.evaluate(
        "document.getElementById('panel').scrollHeight <= document.getElementById('panel').clientHeight"
    )


def _scrolls_the_text_to_its_end(phone: Page) -> None:
    phone.evaluate("scrollTo(0, document.documentElement.scrollHeight)")

    panel = phone.locator("#questions").bounding_box()
    assert panel is not None
    assert bottom(phone.locator("#text")) <= panel["y"]


def _hides_and_shows_the_question(phone: Page) -> None:
    phone.get_by_role("button", name="Hide the question").tap()
    expect(phone.locator("#panel")).to_be_hidden()

    phone.get_by_role("button", name="Show the question").tap()

    expect(phone.locator("#panel")).to_be_visible()


def _reads_what_grades_mean(phone: Page) -> None:
    question = phone.locator(".question:visible")
    question.get_by_role("button", name="Meaning of each grade").tap()
    dialog = phone.get_by_role("dialog", name="How well does the passage answer this question?")
    expect(dialog).to_contain_text("Answers all of it, exactly.")
    check_accessibility(phone)
    dialog.get_by_role("button", name="Close").tap()
    expect(dialog).to_have_count(0)

    choose(phone, "fully")

    expect(question.get_by_role("button", name="Meaning of each grade")).to_contain_text("Answers all of it, exactly.")


def a_long_rating_and_a_report_of_many_questions(study: Study) -> None:
    a_rating_task(study)
    Passage.objects.update(text="All of it says little of fact 0, and more of fact 1.\n" * 60)
    topic = a_topic_of(study)
    for number in range(3, 15):
        RubricElement.objects.create(
            topic=topic,
            kind=RubricElement.Kind.SUB_QUESTION,
            element_id=f"q{number}",
            position=number,
            text=f"What is fact {number}?",
        )
    a_report_task(study)


def test_the_text_its_grades_and_the_tab_of_the_question_are_in_view(
    phone: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    a_long_rating_and_a_report_of_many_questions(study)
    _, report = in_hands_together(ada, study)
    sign_in(phone, ada)
    phone.goto("/work/")
    phone.get_by_role("link", name="Continue").tap()
    expect(phone.locator("[data-task-type=rating].live")).to_be_visible()

    _sees_all_grades_below_the_text(phone)
    _scrolls_the_text_to_its_end(phone)
    _hides_and_shows_the_question(phone)
    _reads_what_grades_mean(phone)

    open_assignment(phone, report)
    for _ in range(11):
        go_on(phone)
    expect(phone.get_by_role("tab", name="12, not answered")).to_be_in_viewport(ratio=1)


def test_zoomed_in_far_the_questions_follow_the_text(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    """A window of 1280 × 800 at 200 %, and one of 1280 × 1024 at 400 %."""
    assignment = in_hands_of(ada, a_rating_task(study))
    sign_in(page, ada)

    for width, height in [(640, 400), (320, 256)]:
        page.set_viewport_size({"width": width, "height": height})
        open_assignment(page, assignment)

        position = page.evaluate("getComputedStyle(document.getElementById('questions')).position")
        assert position == "static", width
        check_no_sideways_scroll(page)
