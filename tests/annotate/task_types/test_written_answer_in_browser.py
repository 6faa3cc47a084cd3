"""Written answers from start to finish in Chromium: with the mouse, on a phone, by keyboard alone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotate.models import Assignment, Draft
from collection.models import AnswerToRevise, Judgment, Study, User
from tests.annotate.writers import ANSWER, a_study_of_writing, answered, next_of
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.factories import rater_of

pytestmark = [pytest.mark.browser, pytest.mark.by_hand, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def study(rosa: User, ada: User, ben: User) -> Study:
    return a_study_of_writing(owner=rosa, people=[ada, ben])


@pytest.fixture
def round_2(study: Study, ada: User) -> Study:
    """The study after Ada's answer of scattered sentences went to its second reader."""
    answered(ada, study)
    return study


def picture(page: Page, name: str) -> None:
    """Keep a screenshot where SCREENSHOTS says."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


# How much of the question an answer must answer depends on the outcome, and on the round.
CONFIRMED = (
    "All that the answer says",
    re.compile("It answers (the question|as much)"),
    "It reads well",
    "Its grammar",
)


def start(page: Page) -> None:
    page.goto("/work/")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()  # by then the page listens to keys


def tick(page: Page, name: str | re.Pattern[str]) -> None:
    page.get_by_role("checkbox", name=name).check()


def confirm_all(page: Page) -> None:
    for words in CONFIRMED:
        tick(page, words)


def test_ada_writes_an_answer_with_the_mouse(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(page, ada)
    start(page)
    picture(page, "round-1-start")
    check_accessibility(page)

    page.get_by_role("radio", name="complete answer").check()
    tick(page, "The old bridge")
    tick(page, "The town then asked")
    page.get_by_role("button", name="Insert: The old bridge").click()
    page.get_by_role("button", name="Insert: The town then asked").click()
    answer = page.get_by_role("textbox", name="The answer")
    expect(answer).to_have_value(
        "The old bridge was built of oak in 1752. The town then asked a mason, Dr. Ray, for a stone one."
    )
    answer.fill(ANSWER)
    confirm_all(page)
    expect(page.locator("#saving")).to_have_text("Saved")
    picture(page, "round-1-done")
    check_accessibility(page)
    page.get_by_role("button", name="Submit").click()

    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    judgment = Judgment.objects.get()
    assert judgment.answer.text == ANSWER
    assert [highlight.start for highlight in judgment.highlights.all()] == [0, 79]
    assert AnswerToRevise.objects.count() == 1


def test_all_of_it_is_in_view_on_a_small_laptop(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    """At 1280 × 800, without scrolling, from the outcome to the last key."""
    sign_in(page, ada)
    start(page)
    expect(page.locator("#answer")).to_be_in_viewport(ratio=1)
    expect(page.locator("#submit-button")).to_be_in_viewport(ratio=1)

    page.get_by_role("radio", name="complete answer").check()
    tick(page, "The old bridge")
    tick(page, "The town then asked")

    for part in ("#outcomes", "#chosen", "#answer", "#confirmations", "#submit-button"):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") == 0
    expect(page.get_by_role("button", name="Meaning of each grade")).to_contain_text(
        "The passage answers the whole question."
    )


def test_ada_is_told_what_is_missing(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(page, ada)
    start(page)
    submit = page.get_by_role("button", name="Submit")
    says = page.locator("#says")

    submit.click()
    expect(says).to_have_text("Choose an outcome.")
    page.get_by_role("radio", name="partial answer").check()
    submit.click()
    expect(says).to_have_text("Tick at least one sentence that the answer is based on.")
    tick(page, "The old bridge")
    submit.click()
    expect(says).to_have_text("Write the answer.")
    expect(page.get_by_role("textbox", name="The answer")).to_be_focused()
    page.keyboard.type("Of oak.")
    submit.click()
    expect(says).to_have_text("Confirm all points.")

    confirm_all(page)
    submit.click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()


def test_a_change_must_be_confirmed_again(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(page, ada)
    start(page)
    page.get_by_role("radio", name="complete answer").check()
    tick(page, "The old bridge")
    answer = page.get_by_role("textbox", name="The answer")
    answer.fill("Oak.")
    confirm_all(page)

    answer.press_sequentially(" And stone.")

    expect(page.get_by_role("checkbox", name="All that the answer says")).not_to_be_checked()
    expect(page.locator("#tells")).to_have_text("The answer has changed: confirm it again.")


def test_a_skipped_question_asks_no_more_and_loses_no_text(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    sign_in(page, ada)
    start(page)
    answer = page.get_by_role("textbox", name="The answer")
    answer.fill("I thought I knew")

    page.get_by_role("radio", name="too difficult").check()

    expect(answer).to_be_hidden()
    expect(page.locator("#saving")).to_have_text("Saved")
    page.reload()
    expect(page.get_by_role("radio", name="too difficult")).to_be_checked()
    page.get_by_role("radio", name="complete answer").check()
    expect(answer).to_have_value("I thought I knew")
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert Judgment.objects.get().grade == 3


def test_ada_does_it_all_by_keyboard(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(page, ada)
    start(page)

    page.keyboard.press("5")
    expect(page.get_by_role("radio", name="complete answer")).to_be_checked()
    page.keyboard.press("s")
    expect(page.get_by_role("checkbox", name="The old bridge")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("checkbox", name="He finished it")).to_be_checked()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("i")
    expect(page.get_by_role("checkbox", name="The town then asked")).to_be_checked()
    page.keyboard.press("a")
    answer = page.get_by_role("textbox", name="The answer")
    expect(answer).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type(" So 5 words more?")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.get_by_role("checkbox", name="All that the answer says")).to_be_focused()
    for _ in CONFIRMED:
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
    expect(page.locator("#saving")).to_have_text("Saved")
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    judgment = Judgment.objects.get()
    assert judgment.answer.text == "The town then asked a mason, Dr. Ray, for a stone one. So 5 words more?"
    assert judgment.highlights.count() == 3


def test_keys_undo_and_show_the_guidelines(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(page, ada)
    start(page)
    page.keyboard.press("s")
    page.keyboard.press("i")
    answer = page.get_by_role("textbox", name="The answer")
    expect(answer).to_have_value("The old bridge was built of oak in 1752.")

    page.keyboard.press("u")
    expect(answer).to_have_value("")
    page.keyboard.press("u")
    expect(page.get_by_role("checkbox", name="The old bridge")).not_to_be_checked()
    page.keyboard.press("g")
    expect(page.get_by_role("dialog", name="Guidelines")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    picture(page, "keys")


def test_ada_skips_a_task_by_keyboard(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(page, ada)
    start(page)

    page.keyboard.press("x")
    dialog = page.get_by_role("dialog", name="Skip this task")
    expect(dialog).to_be_visible()
    dialog.get_by_role("radio").first.check()
    dialog.get_by_role("button", name="Skip it").click()

    expect(dialog).to_be_hidden()
    page.wait_for_url(lambda url: "/work/" in url and not url.endswith("#skip"))
    expect(page.get_by_role("heading", name="what were the bridges")).to_be_hidden()


def test_rosa_tries_a_preview_and_nothing_is_kept(page: Page, sign_in: SignIn, round_2: Study, rosa: User) -> None:
    sign_in(page, rosa)
    page.goto(f"/studies/{round_2.name}/preview/written_answer/")
    expect(page.get_by_text("This is a preview.")).to_be_visible()

    page.get_by_role("radio", name="complete answer").check()
    tick(page, "The old bridge")
    page.get_by_role("textbox", name="The answer").fill("Oak.")
    confirm_all(page)
    expect(page.locator("#saving")).to_have_text("Saved")
    page.get_by_role("button", name="Submit").click()

    page.wait_for_url(f"**/studies/{round_2.name}/*")
    assert Judgment.objects.count() == 1  # Ada's
    assert not Draft.objects.exists()
    page.goto(f"/studies/{round_2.name}/preview/answer_revision/")
    expect(page.get_by_role("heading", name="The first answer")).to_be_visible()


def test_ada_writes_on_her_phone(phone: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(phone, ada)
    phone.goto("/work/")
    phone.get_by_role("button", name="Start").tap()
    expect(phone.get_by_role("button", name="Undo")).to_be_visible()
    picture(phone, "phone-start")
    check_accessibility(phone)
    check_no_sideways_scroll(phone)

    phone.get_by_text("The old bridge was built").first.tap()
    phone.get_by_text("He finished it").first.tap()
    phone.get_by_text("partial answer").tap()
    phone.get_by_role("button", name="Insert: He finished it").tap()
    answer = phone.get_by_role("textbox", name="The answer")
    answer.press("Control+End")
    answer.press_sequentially(" It stands.")
    for words in CONFIRMED:
        phone.get_by_text(words).locator("visible=true").tap()
    expect(phone.locator("#saving")).to_have_text("Saved")
    picture(phone, "phone-done")
    check_no_sideways_scroll(phone)
    phone.get_by_role("button", name="Submit").tap()

    expect(phone.get_by_role("heading", name="Thank you")).to_be_visible()
    assert Judgment.objects.get().answer.text == "He finished it in 1809. It stands."


def test_what_is_typed_offline_is_sent_later(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(page, ada)
    start(page)
    page.context.set_offline(True)
    answer = page.get_by_role("textbox", name="The answer")

    answer.press_sequentially("Typed in a tunnel")
    expect(page.locator("#saving")).to_contain_text("Offline")
    page.context.set_offline(False)
    expect(page.locator("#saving")).to_have_text("Saved")

    assert Draft.objects.get().answer == "Typed in a tunnel"
    page.reload()
    expect(answer).to_have_value("Typed in a tunnel")


def test_what_was_typed_last_survives_a_reload_at_once(page: Page, sign_in: SignIn, study: Study, ada: User) -> None:
    sign_in(page, ada)
    start(page)
    answer = page.get_by_role("textbox", name="The answer")
    answer.press_sequentially("No time to s")

    page.reload()

    expect(answer).to_have_value("No time to s")
    expect(page.locator("#saving")).to_have_text("Saved")
    assert Draft.objects.get().answer == "No time to s"


def test_ben_keeps_adas_answer(page: Page, sign_in: SignIn, round_2: Study, ben: User) -> None:
    sign_in(page, ben)
    page.goto("/work/")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    expect(page.get_by_role("heading", name="The first answer")).to_be_visible()
    expect(page.get_by_role("textbox", name="The corrected answer")).to_be_hidden()
    picture(page, "round-2-start")
    check_accessibility(page)

    page.get_by_role("radio", name="kept").check()
    confirm_all(page)
    page.get_by_role("button", name="Submit").click()

    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    judgment = Judgment.objects.get(criterion__name="revision")
    assert judgment.answer.text == ANSWER
    assert judgment.rater == rater_of(ben)


def test_ben_changes_adas_answer_by_keyboard(page: Page, sign_in: SignIn, round_2: Study, ben: User) -> None:
    sign_in(page, ben)
    page.goto("/work/")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    expect(page.get_by_role("heading", name="The first answer")).to_be_visible()

    page.keyboard.press("3")
    expect(page.get_by_role("radio", name="changed")).to_be_checked()
    page.keyboard.press("c")
    for _ in CONFIRMED:
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#says")).to_contain_text("Nothing is changed yet")
    answer = page.get_by_role("textbox", name="The corrected answer")
    expect(answer).to_be_focused()
    expect(answer).to_have_value(ANSWER)
    page.keyboard.press("Control+End")
    page.keyboard.type(" It is from 1809.")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    expect(page.get_by_role("checkbox", name="He finished it")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("c")
    for _ in CONFIRMED:
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
    expect(page.locator("#saving")).to_have_text("Saved")
    picture(page, "round-2-changed")
    check_accessibility(page)
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    judgment = Judgment.objects.get(criterion__name="revision")
    assert judgment.answer.text == f"{ANSWER} It is from 1809."
    assert judgment.highlights.count() == 3


def test_ben_revises_on_his_phone(phone: Page, sign_in: SignIn, round_2: Study, ben: User) -> None:
    sign_in(phone, ben)
    phone.goto("/work/")
    phone.get_by_role("button", name="Start").tap()
    expect(phone.get_by_role("button", name="Undo")).to_be_visible()

    phone.get_by_text("changed", exact=True).tap()
    answer = phone.get_by_role("textbox", name="The corrected answer")
    answer.fill("Oak, then stone.")
    for words in CONFIRMED:
        phone.get_by_text(words).locator("visible=true").tap()
    picture(phone, "phone-round-2")
    phone.evaluate("scrollTo(0, 0)")  # else the bar lies over a choice, and axe measures what is left of it
    check_no_sideways_scroll(phone)
    check_accessibility(phone)
    phone.get_by_role("button", name="Submit").tap()

    expect(phone.get_by_role("heading", name="Thank you")).to_be_visible()
    assert Judgment.objects.get(criterion__name="revision").answer.text == "Oak, then stone."


def test_ada_sees_that_her_answer_is_with_its_second_reader(
    page: Page, sign_in: SignIn, round_2: Study, ada: User, ben: User
) -> None:
    next_of(ben, round_2)
    sign_in(page, ada)

    page.goto(f"/work/{Assignment.objects.get(rater=rater_of(ada)).pk}/")

    expect(page.get_by_text("Another assessor is reading your answer")).to_be_visible()
    expect(page.get_by_role("checkbox", name="The old bridge")).to_be_disabled()
    expect(page.get_by_role("button", name="Submit")).to_have_count(0)
    check_accessibility(page)
    picture(page, "locked")


def test_dark_and_without_javascript(
    open_page: Callable[..., Page], sign_in: SignIn, study: Study, ada: User, **_: Any
) -> None:
    dark = open_page(color_scheme="dark", viewport={"width": 1280, "height": 800})
    sign_in(dark, ada)
    start(dark)
    dark.get_by_role("radio", name="complete answer").check()
    tick(dark, "The old bridge")
    check_accessibility(dark)
    picture(dark, "dark")
    expect(dark.locator("#saving")).to_have_text("Saved")

    plain = open_page(java_script_enabled=False)
    sign_in(plain, ada)
    plain.goto(dark.url)
    plain.get_by_role("textbox", name="The answer").fill("Oak.")
    plain.get_by_role("button", name="Submit").click()
    expect(plain.get_by_text("Confirm all points")).to_be_visible()
    expect(plain.get_by_role("textbox", name="The answer")).to_have_value("Oak.")
    picture(plain, "without-javascript")
    for words in CONFIRMED:
        tick(plain, words)
    plain.get_by_role("button", name="Submit").click()

    expect(plain.get_by_role("heading", name="Thank you")).to_be_visible()
    assert Judgment.objects.get().answer.text == "Oak."
