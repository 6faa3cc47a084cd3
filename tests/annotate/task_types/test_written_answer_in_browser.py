"""Written answers from start to finish in Chromium: with the mouse, on a phone, by keyboard alone, without scripts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from annotate.models import Assignment, Draft
from collection.models import AnswerToRevise, ChangedPage, Judgment, Study, User
from tests.annotate.work.test_highlights_in_browser import CHANGE, TRANSLATED
from tests.annotate.writers import ANSWER, COMPLETE, a_study_of_writing, answered, next_of, save
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.factories import rater_of

pytestmark = [pytest.mark.browser, pytest.mark.by_hand, pytest.mark.django_db(transaction=True)]


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


def ready(page: Page) -> None:
    expect(page.get_by_role("button", name="Undo")).to_be_visible()  # by then the page listens to keys


def start(page: Page) -> None:
    page.goto("/work/")
    page.get_by_role("button", name="Start").click()
    ready(page)


def saved(page: Page) -> None:
    expect(page.locator("#saving")).to_have_text("Saved")


def choose(page: Page, outcome: str) -> None:
    page.get_by_role("radio", name=outcome).check()


def tick(page: Page, name: str | re.Pattern[str]) -> None:
    page.get_by_role("checkbox", name=name).check()


def confirm_all(page: Page) -> None:
    for words in CONFIRMED:
        tick(page, words)


def confirm_all_by_keyboard(page: Page) -> None:
    page.keyboard.press("c")
    expect(page.get_by_role("checkbox", name="All that the answer says")).to_be_focused()
    for _ in CONFIRMED:
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")


def confirm_all_by_touch(phone: Page) -> None:
    for words in CONFIRMED:
        phone.get_by_text(words).locator("visible=true").tap()


def submit_before_another(page: Page) -> None:
    """Submit, and wait for the task that comes next."""
    this = page.locator("#assignment").get_attribute("data-assignment")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(f"#assignment:not([data-assignment='{this}'])")).to_be_visible()
    ready(page)


def all_done(page: Page) -> None:
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()


def answer_on(page: Page) -> Locator:
    return page.get_by_role("textbox", name="The answer")


# --- Round 1 --------------------------------------------------------------------------------------


def test_ada_writes_with_the_mouse_and_nothing_she_wrote_is_lost(
    page: Page, sign_in: SignIn, rosa: User, ada: User
) -> None:
    a_study_of_writing(owner=rosa, people=[ada], n=3)
    sign_in(page, ada)
    start(page)

    _everything_is_in_view_on_a_small_laptop(page)
    _writes_an_answer(page)
    _is_told_what_is_missing(page)
    _keeps_what_was_typed_offline_or_last(page)
    _ticks_a_sentence_that_was_translated(page)
    _skips_a_question_and_loses_no_text(page)


def _everything_is_in_view_on_a_small_laptop(page: Page) -> None:
    """At 1280 × 800, without scrolling, from the outcome to the last key."""
    picture(page, "round-1-start")
    check_accessibility(page)
    expect(page.locator("#answer")).to_be_in_viewport(ratio=1)
    expect(page.locator("#submit-button")).to_be_in_viewport(ratio=1)

    choose(page, "complete answer")
    tick(page, "The old bridge")
    tick(page, "The town then asked")

    for part in ("#outcomes", "#chosen", "#answer", "#confirmations", "#submit-button"):
        expect(page.locator(part), part).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") == 0
    expect(page.get_by_role("button", name="Meaning of each grade")).to_contain_text(
        "The passage answers the whole question."
    )
    saved(page)
    page.emulate_media(color_scheme="dark")
    page.reload()  # what is changing its colour has no contrast to speak of
    ready(page)
    check_accessibility(page)
    picture(page, "dark")
    page.emulate_media(color_scheme="light")
    page.reload()
    ready(page)


def _writes_an_answer(page: Page) -> None:
    page.get_by_role("button", name="Insert: The old bridge").click()
    page.get_by_role("button", name="Insert: The town then asked").click()
    answer = answer_on(page)
    expect(answer).to_have_value(
        "The old bridge was built of oak in 1752. The town then asked a mason, Dr. Ray, for a stone one."
    )
    answer.fill("The first bridge was made of oak")
    confirm_all(page)
    answer.press_sequentially(ANSWER.removeprefix("The first bridge was made of oak"))
    expect(page.get_by_role("checkbox", name="All that the answer says")).not_to_be_checked()
    expect(page.locator("#tells")).to_have_text("The answer has changed: confirm it again.")
    confirm_all(page)
    saved(page)
    picture(page, "round-1-done")
    check_accessibility(page)
    submit_before_another(page)

    judgment = Judgment.objects.get()
    assert judgment.answer.text == ANSWER
    assert [highlight.start for highlight in judgment.highlights.all()] == [0, 79]
    assert AnswerToRevise.objects.count() == 1


def _is_told_what_is_missing(page: Page) -> None:
    submit = page.get_by_role("button", name="Submit")
    says = page.locator("#says")

    submit.click()
    expect(says).to_have_text("Choose an outcome.")
    choose(page, "partial answer")
    submit.click()
    expect(says).to_have_text("Tick at least one sentence that the answer is based on.")
    tick(page, "The old bridge")
    submit.click()
    expect(says).to_have_text("Write the answer.")
    expect(answer_on(page)).to_be_focused()
    page.keyboard.type("Of oak.")
    submit.click()
    expect(says).to_have_text("Confirm all points.")

    confirm_all(page)
    submit_before_another(page)


def _keeps_what_was_typed_offline_or_last(page: Page) -> None:
    answer = answer_on(page)
    page.context.set_offline(True)
    answer.press_sequentially("Typed in a tunnel")
    expect(page.locator("#saving")).to_contain_text("Offline")
    page.context.set_offline(False)
    saved(page)
    assert Draft.objects.get().answer == "Typed in a tunnel"
    page.reload()
    expect(answer).to_have_value("Typed in a tunnel")
    ready(page)

    answer.press("Control+End")
    answer.press_sequentially(". No time to s")
    page.reload()

    expect(answer).to_have_value("Typed in a tunnel. No time to s")
    saved(page)
    assert Draft.objects.get().answer == "Typed in a tunnel. No time to s"


def _ticks_a_sentence_that_was_translated(page: Page) -> None:
    """What is ticked is stored as it stands in the passage."""
    page.evaluate(CHANGE, [".sentence-text", TRANSLATED])
    box = page.locator("#sentences input").last
    for _ in range(2):
        box.click()
        saved(page)
    expect(page.locator("#page-changed")).to_have_count(1)

    draft = Draft.objects.get()
    text = draft.item.judged_text.text or ""
    assert all(text[span["start"] : span["end"]] == span["quote"] for span in draft.spans if span["end"])
    assert ChangedPage.objects.get().item == draft.item
    page.reload()
    ready(page)
    expect(page.locator("#page-changed")).to_have_count(0)


def _skips_a_question_and_loses_no_text(page: Page) -> None:
    answer = answer_on(page)
    answer.fill("I thought I knew")

    choose(page, "too difficult")

    expect(answer).to_be_hidden()
    saved(page)
    page.reload()
    expect(page.get_by_role("radio", name="too difficult")).to_be_checked()
    choose(page, "complete answer")
    expect(answer).to_have_value("I thought I knew")
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Submit").click()
    all_done(page)
    assert list(Judgment.objects.order_by("pk").values_list("grade", flat=True)) == [5, 4, 3]


def test_ada_does_it_all_by_keyboard(page: Page, sign_in: SignIn, rosa: User, ada: User) -> None:
    a_study_of_writing(owner=rosa, people=[ada], n=2)
    sign_in(page, ada)
    start(page)

    _undoes_by_keyboard_and_looks_at_what_there_is(page)
    _writes_by_keyboard(page)
    page.keyboard.press("x")
    dialog = page.get_by_role("dialog", name="Skip this task")
    expect(dialog).to_be_visible()
    dialog.get_by_role("radio").first.check()
    dialog.get_by_role("button", name="Skip it").click()

    expect(dialog).to_be_hidden()
    page.wait_for_url(lambda url: "/work/" in url and not url.endswith("#skip"))
    expect(page.get_by_role("heading", name="what were the bridges")).to_be_hidden()


def _undoes_by_keyboard_and_looks_at_what_there_is(page: Page) -> None:
    page.keyboard.press("s")
    page.keyboard.press("i")
    expect(answer_on(page)).to_have_value("The old bridge was built of oak in 1752.")

    page.keyboard.press("u")
    expect(answer_on(page)).to_have_value("")
    page.keyboard.press("u")
    expect(page.get_by_role("checkbox", name="The old bridge")).not_to_be_checked()
    page.keyboard.press("g")
    expect(page.get_by_role("dialog", name="Guidelines")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    picture(page, "keys")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def _writes_by_keyboard(page: Page) -> None:
    page.reload()  # or the answer would be where the cursor was
    ready(page)
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
    expect(answer_on(page)).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type(" So 5 words more?")
    page.keyboard.press("Escape")
    confirm_all_by_keyboard(page)
    saved(page)
    before = page.url
    page.keyboard.press("Control+Enter")
    expect(page).not_to_have_url(before)
    ready(page)

    judgment = Judgment.objects.get()
    assert judgment.answer.text == "The town then asked a mason, Dr. Ray, for a stone one. So 5 words more?"
    assert judgment.highlights.count() == 3


def test_ada_writes_without_javascript(open_page: Callable[..., Page], sign_in: SignIn, rosa: User, ada: User) -> None:
    assignment = next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))
    save(assignment, COMPLETE, sentences=[0])
    plain = open_page(java_script_enabled=False)
    sign_in(plain, ada)
    plain.goto(f"/work/{assignment.pk}/")

    answer_on(plain).fill("Oak.")
    plain.get_by_role("button", name="Submit").click()
    expect(plain.get_by_text("Confirm all points")).to_be_visible()
    expect(answer_on(plain)).to_have_value("Oak.")
    picture(plain, "without-javascript")
    confirm_all(plain)
    plain.get_by_role("button", name="Submit").click()

    all_done(plain)
    assert Judgment.objects.get().answer.text == "Oak."


# --- Both rounds on a phone -----------------------------------------------------------------------


def test_ada_writes_on_a_phone_and_ben_revises_on_it(
    phone: Page, sign_in: SignIn, rosa: User, ada: User, ben: User
) -> None:
    a_study_of_writing(owner=rosa, people=[ada, ben])
    sign_in(phone, ada)
    phone.goto("/work/")
    phone.get_by_role("button", name="Start").tap()
    ready(phone)
    picture(phone, "phone-start")
    check_accessibility(phone)
    check_no_sideways_scroll(phone)

    phone.get_by_text("The old bridge was built").first.tap()
    phone.get_by_text("He finished it").first.tap()
    phone.get_by_text("partial answer").tap()
    phone.get_by_role("button", name="Insert: He finished it").tap()
    answer_on(phone).press("Control+End")
    answer_on(phone).press_sequentially(" It stands.")
    confirm_all_by_touch(phone)
    saved(phone)
    picture(phone, "phone-done")
    check_no_sideways_scroll(phone)
    phone.get_by_role("button", name="Submit").tap()

    all_done(phone)
    assert Judgment.objects.get().answer.text == "He finished it in 1809. It stands."
    sign_in(phone, ben)
    _revises_by_touch(phone)


def _revises_by_touch(phone: Page) -> None:
    phone.goto("/work/")
    phone.get_by_role("button", name="Start").tap()
    ready(phone)

    phone.get_by_text("changed", exact=True).tap()
    phone.get_by_role("textbox", name="The corrected answer").fill("Oak, then stone.")
    confirm_all_by_touch(phone)
    picture(phone, "phone-round-2")
    phone.evaluate("scrollTo(0, 0)")  # else the bar lies over a choice, and axe measures what is left of it
    check_no_sideways_scroll(phone)
    check_accessibility(phone)
    phone.get_by_role("button", name="Submit").tap()

    all_done(phone)
    assert Judgment.objects.get(criterion__name="revision").answer.text == "Oak, then stone."


# --- Round 2 --------------------------------------------------------------------------------------


def test_ben_keeps_one_of_adas_answers_and_changes_another(
    page: Page, sign_in: SignIn, rosa: User, ada: User, ben: User
) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben], n=2)
    scale = study.criteria.get(name="revision").scale
    scale.points[-1]["name"] = "rewritten"
    scale.save()
    for _ in range(2):
        answered(ada, study)
    sign_in(page, rosa)
    _rosa_tries_previews_and_nothing_is_kept(page, study)
    held = next_of(ben, study)
    sign_in(page, ada)
    _ada_sees_that_another_reads_her_answer(
        page, Assignment.objects.get(rater=rater_of(ada), task__topic=held.task.topic)
    )

    sign_in(page, ben)
    page.goto(f"/work/{held.pk}/")
    _keeps_an_answer_with_the_mouse(page, ben)
    _changes_an_answer_by_keyboard(page)


def _rosa_tries_previews_and_nothing_is_kept(page: Page, study: Study) -> None:
    page.goto(f"/studies/{study.name}/preview/written_answer/")
    expect(page.get_by_text("This is a preview.")).to_be_visible()

    choose(page, "complete answer")
    tick(page, "The old bridge")
    answer_on(page).fill("Oak.")
    confirm_all(page)
    saved(page)
    page.get_by_role("button", name="Submit").click()

    page.wait_for_url(f"**/studies/{study.name}/*")
    assert Judgment.objects.count() == 2  # Ada's
    assert not Draft.objects.exists()
    page.goto(f"/studies/{study.name}/preview/answer_revision/")
    expect(page.get_by_role("heading", name="The first answer")).to_be_visible()


def _ada_sees_that_another_reads_her_answer(page: Page, assignment: Assignment) -> None:
    page.goto(f"/work/{assignment.pk}/")

    expect(page.get_by_text("Another assessor is reading your answer")).to_be_visible()
    expect(page.get_by_role("checkbox", name="The old bridge")).to_be_disabled()
    expect(page.get_by_role("button", name="Submit")).to_have_count(0)
    check_accessibility(page)
    picture(page, "locked")


def _keeps_an_answer_with_the_mouse(page: Page, ben: User) -> None:
    ready(page)
    expect(page.get_by_role("heading", name="The first answer")).to_be_visible()
    expect(page.get_by_role("textbox", name="The corrected answer")).to_be_hidden()
    picture(page, "round-2-start")
    check_accessibility(page)

    choose(page, "kept")
    confirm_all(page)
    submit_before_another(page)

    judgment = Judgment.objects.get(criterion__name="revision")
    assert judgment.answer.text == ANSWER
    assert judgment.rater == rater_of(ben)


def _changes_an_answer_by_keyboard(page: Page) -> None:
    expect(page.get_by_role("heading", name="The first answer")).to_be_visible()

    for key in "sa":
        page.keyboard.press(key)
        expect(page.locator("#says")).to_contain_text("“rewritten”")
    page.keyboard.press("3")
    expect(page.get_by_role("radio", name="rewritten")).to_be_checked()
    confirm_all_by_keyboard(page)
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
    confirm_all_by_keyboard(page)
    saved(page)
    picture(page, "round-2-changed")
    check_accessibility(page)
    page.keyboard.press("Control+Enter")

    all_done(page)
    judgment = Judgment.objects.filter(criterion__name="revision").order_by("pk").last()
    assert judgment is not None
    assert judgment.answer.text == f"{ANSWER} It is from 1809."
    assert judgment.highlights.count() == 3
