"""Keys act by place where the layout has none of the characters, can be chosen anew, and can be switched off."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from collection.models import Study, User
from tests.annotate.factories import a_report_task, in_hands_of
from tests.annotate.work.test_assignment_in_browser import open_assignment, press
from tests.annotate.writers import a_study_of_writing, next_of
from tests.browser import SignIn, check_accessibility

pytestmark = [pytest.mark.browser, pytest.mark.by_hand]

MOMENT = 300  # ms

# What keyboards of other layouts send at the place of a key.
NEXT = {"Russian": "т", "Hebrew": "מ", "Arabic": "ى", "Greek": "ν", "Korean": "ㅜ", "Dvorak": "n"}
ONE = {"AZERTY": "&", "Arabic": "١", "Devanagari": "१", "Czech": "+", "English": "1"}


@pytest.fixture
def reading(page: Page, sign_in: SignIn, study: Study, ada: User) -> Page:
    """Ada's page with a report of three questions."""
    assignment = in_hands_of(ada, a_report_task(study))
    sign_in(page, ada)
    open_assignment(page, assignment)
    return page


def send(page: Page, key: str, code: str, **held: bool) -> None:
    """Press a key as a keyboard of another layout does."""
    page.evaluate(
        """([key, code, held]) => (document.activeElement ?? document.body).dispatchEvent(
            new KeyboardEvent("keydown", { key, code, bubbles: true, cancelable: true, ...held }))""",
        [key, code, held],
    )


def at_question(page: Page, number: int) -> None:
    expect(page.locator(f"#tabs [role=tab]:nth-child({number})")).to_have_attribute("aria-selected", "true")


def chosen(page: Page) -> str:
    return page.locator(".question:visible input:checked").input_value()


@pytest.mark.parametrize("layout", NEXT)
def test_letters_act_in_every_script(reading: Page, layout: str) -> None:
    code = "KeyL" if layout == "Dvorak" else "KeyN"
    send(reading, NEXT[layout], code)

    at_question(reading, 2)


def test_latin_letters_act_by_what_they_say(reading: Page) -> None:
    send(reading, "b", "KeyN")  # on Dvorak

    at_question(reading, 1)


@pytest.mark.parametrize("layout", ONE)
def test_digits_are_chosen_without_shift(reading: Page, layout: str) -> None:
    send(reading, ONE[layout], "Digit1")

    assert chosen(reading) == "1"


def test_signs_with_shift_are_no_digits(reading: Page) -> None:
    send(reading, "!", "Digit1", shiftKey=True)

    assert chosen(reading) == ""


def test_signs_act_where_they_stand(reading: Page) -> None:
    for key, code in [("-", "Slash"), (")", "Minus"), ("-", "NumpadSubtract")]:  # German, AZERTY, any
        send(reading, "1", "Digit1")
        assert chosen(reading) == "1"
        send(reading, key, code)
        assert chosen(reading) == ""
    send(reading, "-", "Digit6")  # AZERTY's six

    assert chosen(reading) == ""


def test_ctrl_and_the_caret_act_in_every_script(reading: Page) -> None:
    send(reading, "1", "Digit1")
    send(reading, "я", "KeyZ", ctrlKey=True)
    assert chosen(reading) == ""
    send(reading, "е", "KeyT")
    expect(reading.locator("#text")).to_be_focused()
    send(reading, "ы", "KeyS")
    press(reading, "Enter")

    expect(reading.locator(".question:visible .chip")).to_have_text("Fact 0 of subject 0 is here.×")


def test_keys_are_chosen_refused_and_set_back(reading: Page) -> None:
    press(reading, "?")
    keys = reading.get_by_role("dialog", name="Keys")
    keys.get_by_role("button", name="Change keys").click()
    check_accessibility(reading)
    keys.get_by_role("button", name="G: guidelines").click()
    press(reading, "u")
    expect(keys.get_by_role("status")).to_contain_text("U is the key of “undo")
    keys.get_by_role("button", name="G: guidelines").click()
    press(reading, "7")
    expect(keys.get_by_role("status")).to_contain_text("Only a letter or a sign")
    keys.get_by_role("button", name="J: jump to a number").click()
    press(reading, "v")
    expect(keys.get_by_role("status")).to_contain_text("V now means “jump to a number”.")
    press(reading, "Escape")
    expect(keys).to_be_hidden()

    reading.reload()
    expect(reading.locator("#assignment.live")).to_be_visible()
    expect(reading.locator("#jump kbd")).to_have_text("V")
    press(reading, "j")
    expect(reading.locator("#jump-to")).not_to_be_focused()
    press(reading, "v")
    expect(reading.locator("#jump-to")).to_be_focused()
    press(reading, "Escape", "?")
    expect(keys.locator("kbd", has_text="V")).to_have_count(1)
    keys.get_by_role("button", name="Reset keys").click()
    expect(keys.locator("kbd", has_text="V")).to_have_count(0)
    press(reading, "Escape", "j")

    expect(reading.locator("#jump-to")).to_be_focused()


def test_single_keys_are_switched_off(reading: Page) -> None:
    press(reading, "?")
    reading.get_by_role("checkbox", name="Single keys act").uncheck()
    press(reading, "Escape")
    reading.reload()
    expect(reading.locator("#assignment.live")).to_be_visible()
    expect(reading.locator("#next kbd")).to_be_hidden()

    press(reading, "1", "n", "w", "g", "/")
    reading.wait_for_timeout(MOMENT)

    assert chosen(reading) == ""
    at_question(reading, 1)
    expect(reading.locator("dialog[open]")).to_have_count(0)
    press(reading, "ArrowRight")
    at_question(reading, 2)
    press(reading, "Control+Enter")
    expect(reading.locator("#says")).to_contain_text("is not answered yet")


def test_written_answers_have_their_own_keys(page: Page, sign_in: SignIn, rosa: User, ada: User) -> None:
    assignment = next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))
    sign_in(page, ada)
    page.goto(f"/work/{assignment.pk}/")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    send(page, "ç", "Digit9")
    send(page, "ы", "KeyS")

    expect(page.locator(".sentence input").nth(1)).to_be_focused()  # the title stands before them
