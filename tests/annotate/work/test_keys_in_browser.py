"""Keys act by place where the layout has none of the characters, can be chosen anew, and can be switched off."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from collection.models import Study, User
from tests.annotate.factories import a_report_task, in_hands_of
from tests.annotate.work.test_assignment_in_browser import open_assignment, press
from tests.annotate.writers import a_study_of_writing, next_of
from tests.browser import SignIn, check_accessibility

pytestmark = [pytest.mark.browser, pytest.mark.by_hand, pytest.mark.in_real_time]

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


def at_question(page: Page, number: int, why: str = "") -> None:
    expect(page.locator(f"#tabs [role=tab]:nth-child({number})"), why).to_have_attribute("aria-selected", "true")


def chosen(page: Page) -> str:
    """Return the grade that is chosen; nothing where none is."""
    return "".join(one.input_value() for one in page.locator(".question:visible input:checked").all())


def _acts_by_letters_of_every_script(page: Page) -> None:
    send(page, "b", "KeyN")  # Latin letters act by what they say: on Dvorak this is no N
    at_question(page, 1)
    for layout, letter in NEXT.items():
        send(page, letter, "KeyL" if layout == "Dvorak" else "KeyN")
        at_question(page, 2, layout)
        press(page, "p")
        at_question(page, 1)


def _chooses_by_digits_of_every_layout(page: Page) -> None:
    send(page, "!", "Digit1", shiftKey=True)  # a sign is no digit
    assert chosen(page) == ""
    for layout, digit in ONE.items():
        send(page, digit, "Digit1")
        assert chosen(page) == "1", layout
        press(page, "-")
        assert chosen(page) == "", layout


def _acts_by_signs_where_they_stand(page: Page) -> None:
    for key, code in [("-", "Slash"), (")", "Minus"), ("-", "NumpadSubtract")]:  # German, AZERTY, any
        send(page, "1", "Digit1")
        assert chosen(page) == "1", code
        send(page, key, code)
        assert chosen(page) == "", code
    send(page, "-", "Digit6")  # AZERTY's six
    assert chosen(page) == ""


def _undoes_and_marks_in_another_script(page: Page) -> None:
    send(page, "1", "Digit1")
    send(page, "я", "KeyZ", ctrlKey=True)
    assert chosen(page) == ""
    send(page, "е", "KeyT")
    expect(page.locator("#text")).to_be_focused()
    send(page, "ы", "KeyS")
    press(page, "Enter")

    expect(page.locator(".question:visible .chip")).to_have_text("Fact 0 of subject 0 is here.×")


def test_keys_act_in_every_layout(reading: Page, rosa: User, ada: User) -> None:
    _acts_by_letters_of_every_script(reading)
    _chooses_by_digits_of_every_layout(reading)
    _acts_by_signs_where_they_stand(reading)
    _undoes_and_marks_in_another_script(reading)

    assignment = next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))  # which has keys of its own
    reading.goto(f"/work/{assignment.pk}/")
    expect(reading.get_by_role("button", name="Undo")).to_be_visible()
    send(reading, "ç", "Digit9")
    send(reading, "ы", "KeyS")

    expect(reading.locator(".sentence input").nth(1)).to_be_focused()  # the title stands before them


def _chooses_keys(page: Page) -> None:
    press(page, "?")
    keys = page.get_by_role("dialog", name="Keys")
    keys.get_by_role("button", name="Change keys").click()
    check_accessibility(page)
    keys.get_by_role("button", name="G: guidelines").click()
    press(page, "u")
    expect(keys.get_by_role("status")).to_contain_text("U is the key of “undo")
    keys.get_by_role("button", name="G: guidelines").click()
    press(page, "7")
    expect(keys.get_by_role("status")).to_contain_text("Only a letter or a sign")
    keys.get_by_role("button", name="J: jump to a number").click()
    press(page, "v")
    expect(keys.get_by_role("status")).to_contain_text("V now means “jump to a number”.")
    press(page, "Escape")
    expect(keys).to_be_hidden()


def _sets_keys_back(page: Page) -> None:
    keys = page.get_by_role("dialog", name="Keys")
    page.reload()
    expect(page.locator("#assignment.live")).to_be_visible()
    expect(page.locator("#jump kbd")).to_have_text("V")
    press(page, "j")
    expect(page.locator("#jump-to")).not_to_be_focused()
    press(page, "v")
    expect(page.locator("#jump-to")).to_be_focused()
    press(page, "Escape", "?")
    expect(keys.locator("kbd", has_text="V")).to_have_count(1)
    keys.get_by_role("button", name="Reset keys").click()
    expect(keys.locator("kbd", has_text="V")).to_have_count(0)
    press(page, "Escape", "j")

    expect(page.locator("#jump-to")).to_be_focused()


def _switches_single_keys_off(page: Page) -> None:
    press(page, "Escape", "?")
    page.get_by_role("checkbox", name="Single keys act").uncheck()
    press(page, "Escape")
    page.reload()
    expect(page.locator("#assignment.live")).to_be_visible()
    expect(page.locator("#next kbd")).to_be_hidden()

    press(page, "1", "n", "w", "g", "/")
    page.wait_for_timeout(MOMENT)

    assert chosen(page) == ""
    at_question(page, 1)
    expect(page.locator("dialog[open]")).to_have_count(0)
    press(page, "ArrowRight")
    at_question(page, 2)
    press(page, "Control+Enter")
    expect(page.locator("#says")).to_contain_text("is not answered yet")


def test_keys_are_chosen_refused_set_back_and_switched_off(reading: Page) -> None:
    _chooses_keys(reading)
    _sets_keys_back(reading)
    _switches_single_keys_off(reading)
