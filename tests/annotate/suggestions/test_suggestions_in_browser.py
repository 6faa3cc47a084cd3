"""The ways in which an assessor meets a judge's grade: by keyboard, on a phone, in the dark and without scripts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotate.models import Assignment
from annotate.suggestions.design import end_suggestions
from collection.models import Arm, Collection, EarlierJudgment, Judgment, Study, Suggestion, User
from tests.annotate.factories import a_key_point_task, a_rating_task, a_report_task
from tests.annotate.suggested import in_hands_with
from tests.annotate.work.test_assignment_in_browser import open_assignment, press
from tests.browser import SignIn, check_accessibility
from tests.factories import a_study

pytestmark = pytest.mark.browser
REASON = "The passage names the fact outright: “Fact 0 of subject 0”. So it is well covered."


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def opened(page: Page, user: User, arm: Arm, study: Study, *, task: str = "rating") -> Assignment:
    made = a_rating_task(study) if task == "rating" else a_report_task(study)
    grades = [4, 4, 4] if task == "rating" else [1, 1, 1]
    assignment = in_hands_with(arm, user, made, task if task == "rating" else "answerability", grades)
    text = made.passage or made.report
    assert text is not None
    words = "act 0 of subject 0"
    start = (text.text or "").index(words)
    spans = [{"start": start, "end": start + len(words), "quote": words}]
    Suggestion.objects.update(reason=REASON, spans=spans)
    Suggestion.objects.filter(arm=Arm.VERIFY).update(shown_at=assignment.opened_at)
    open_assignment(page, assignment)
    return assignment


def at_question(page: Page, number: int) -> None:
    expect(page.locator(f"#tabs [role=tab]:nth-child({number})")).to_have_attribute("aria-selected", "true")


def grades_of(assignment: Assignment) -> list[float | None]:
    labels: dict[Any, float | None] = dict(Judgment.objects.filter(rater=assignment.rater).values_list("item", "grade"))
    return [labels.get(row.item_id) for row in assignment.asked.order_by("position")]


def all_done(page: Page) -> None:
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()


def graded_alone(page: Page) -> None:
    """Rate two sub-questions without knowing what the judge said, and be shown it."""
    assert "automatic judge" not in page.content()
    assert REASON[:20] not in page.content()
    press(page, "1")
    at_question(page, 2)
    press(page, "2")
    expect(page.get_by_text("Now compare them with those of an automatic judge")).to_be_visible()
    expect(page.locator("#assignment.live")).to_be_visible()
    at_question(page, 1)


# --- After the own grade --------------------------------------------------------------------------


def test_a_judges_grades_come_after_the_own_are_filled_in_or_only_pointed_at(
    page: Page, sign_in: SignIn, collection: Collection, ada: User
) -> None:
    sign_in(page, ada)
    _decides_by_key(page, ada, a_study(collection, name="by-key"))
    _does_not_submit_before_every_answer_is_kept_or_changed(page, ada, a_study(collection, name="insists"))
    _takes_the_judges_words_over_where_a_mark_is_needed(page, ada, a_study(collection, name="marks"))
    _comes_before_the_next_task_although_that_was_fetched_ahead(page, ada, a_study(collection, name="ahead"))
    page.evaluate("sessionStorage.clear()")  # what was fetched ahead is not the next study's
    _confirms_what_is_filled_in(page, ada, a_study(collection, name="confirms"))
    _gives_another_answer_than_what_is_filled_in(page, ada, a_study(collection, name="differs"))
    _sees_dotted_words_and_no_grade(page, ada, a_study(collection, name="verify"))
    page.set_viewport_size({"width": 390, "height": 800})
    page.emulate_media(color_scheme="dark")
    _takes_over_on_a_phone_and_in_the_dark(page, ada, a_study(collection, name="phone"))


def _decides_by_key(page: Page, ada: User, study: Study) -> None:
    assignment = opened(page, ada, Arm.AFTER, study)
    graded_alone(page)
    panel = page.locator(".question:not([hidden]) .suggestion")
    expect(panel).to_contain_text("The judge’s answer")
    expect(panel).to_contain_text("So it is well covered.")
    check_accessibility(page)
    picture(page, "after-wide")

    press(page, "k")
    at_question(page, 2)
    press(page, "y")

    all_done(page)
    assert grades_of(assignment) == [1, 4]
    assert EarlierJudgment.objects.get().grade == 2
    rows = Suggestion.objects.filter(item__in=[row.item_id for row in assignment.asked.all()])
    assert set(rows.values_list("own_grade", flat=True)) == {1, 2}
    assert not rows.filter(decided_at=None).exists()
    assignment.refresh_from_db()
    assert assignment.state == "submitted"


def _does_not_submit_before_every_answer_is_kept_or_changed(page: Page, ada: User, study: Study) -> None:
    assignment = opened(page, ada, Arm.AFTER, study)
    graded_alone(page)

    press(page, "Control+Enter")

    expect(page.locator("#says")).to_contain_text("Keep your answer or take over the judge’s.")
    press(page, "5")  # another one
    at_question(page, 2)
    page.get_by_role("button", name="Keep mine").click()
    all_done(page)
    assert grades_of(assignment) == [5, 2]


def _takes_over_on_a_phone_and_in_the_dark(page: Page, ada: User, study: Study) -> None:
    opened(page, ada, Arm.AFTER, study)
    graded_alone(page)

    picture(page, "after-phone-dark")
    expect(page.get_by_role("button", name="Take over")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    check_accessibility(page)
    page.get_by_role("button", name="Take over").click()

    at_question(page, 2)


def _takes_the_judges_words_over_where_a_mark_is_needed(page: Page, ada: User, study: Study) -> None:
    assignment = opened(page, ada, Arm.AFTER, study, task="answerability")
    _says_no_to_all_three(page)

    press(page, "y")
    for number in (2, 3):
        at_question(page, number)
        press(page, "k")

    all_done(page)
    assert grades_of(assignment) == [1, 0, 0]
    (taken,) = Judgment.objects.filter(item__study=study, rater=assignment.rater, grade=1)
    assert [span.quote for span in taken.highlights.all()] == ["act 0 of subject 0"]


def _says_no_to_all_three(page: Page) -> None:
    for number in (1, 2, 3):
        at_question(page, number)
        press(page, "0")
    expect(page.get_by_text("Now compare them")).to_be_visible()
    expect(page.locator("#assignment.live")).to_be_visible()


def _comes_before_the_next_task_although_that_was_fetched_ahead(page: Page, ada: User, study: Study) -> None:
    assignment = opened(page, ada, Arm.AFTER, study, task="answerability")
    end_suggestions(study=study)
    a_rating_task(study)
    a_key_point_task(study)
    page.reload()
    expect(page.locator("#assignment.live")).to_be_visible()
    _says_no_to_all_three(page)
    for number in (1, 2, 3):
        at_question(page, number)
        press(page, "k")

    expect(page.locator("[data-task-type=rating].live")).to_be_visible()
    assignment.refresh_from_db()
    assert assignment.state == "submitted"
    assert grades_of(assignment) == [0, 0, 0]


def test_after_works_without_scripts(open_page: Callable[..., Page], sign_in: SignIn, study: Study, ada: User) -> None:
    page = open_page(java_script_enabled=False)
    made = a_rating_task(study)
    assignment = in_hands_with(Arm.AFTER, ada, made, "rating", [4, 4, 4])
    sign_in(page, ada)
    page.goto(f"/work/{assignment.pk}/")
    assert "automatic judge" not in page.content()
    for row in assignment.asked.all():
        page.locator(f"#question-{row.item_id} input[value='2']").check()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("Now compare them")).to_be_visible()
    expect(page.get_by_text("The judge’s answer").first).to_be_visible()
    first = assignment.asked.all()[0]
    page.locator(f"#question-{first.item_id} input[value='4']").check()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Submit").click()

    all_done(page)
    assert grades_of(assignment) == [4, 2]


# --- Filled in, or only pointed at ----------------------------------------------------------------


def _confirms_what_is_filled_in(page: Page, ada: User, study: Study) -> None:
    assignment = opened(page, ada, Arm.POST_EDIT, study)
    filled_in = page.locator(".question:not([hidden]) .choice.filled-in")
    expect(filled_in).to_have_count(1)
    expect(filled_in.locator("input")).to_be_checked()
    expect(page.locator("#progress")).to_have_text("0 of 2")
    check_accessibility(page)
    picture(page, "post-edit-wide")
    press(page, "Control+Enter")
    expect(page.locator("#says")).not_to_be_empty()
    assert not Judgment.objects.filter(item__study=study, rater=assignment.rater).exists()

    press(page, "y")
    at_question(page, 2)
    filled_in.click()  # the radio button that is filled in confirms it as well

    all_done(page)
    assert grades_of(assignment) == [4, 4]


def _gives_another_answer_than_what_is_filled_in(page: Page, ada: User, study: Study) -> None:
    assignment = opened(page, ada, Arm.POST_EDIT, study)

    press(page, "2")
    at_question(page, 2)
    press(page, "y")

    all_done(page)
    assert grades_of(assignment) == [2, 4]


def _sees_dotted_words_and_no_grade(page: Page, ada: User, study: Study) -> None:
    opened(page, ada, Arm.VERIFY, study)

    expect(page.locator(".question:not([hidden]) .suggestion")).to_contain_text("Dotted words in the text")
    assert page.evaluate("CSS.highlights.get('candidate')?.size") == 1
    assert 'suggestion": {"arm": "verify"' in (page.locator("#answers").text_content() or "")
    assert '"grade": 4' not in (page.locator("#answers").text_content() or "")
    assert page.locator(".choice.filled-in").count() == 0
    press(page, "c")
    assert page.evaluate("CSS.highlights.get('active')?.size") == 1
    picture(page, "verify-wide")
