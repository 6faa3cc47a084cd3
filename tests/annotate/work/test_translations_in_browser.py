"""A passage beside its translation: side by side where there is room, marked in the original alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from collection.models import Highlight, Passage, Study, User
from tests.annotate.factories import a_key_point_task, in_hands_of
from tests.annotate.work.test_assignment_in_browser import open_assignment
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll

pytestmark = pytest.mark.browser

SAID = {"text": "Die Brücke ist aus Eiche. <b>x</b>", "language": "de", "by": "Opus <i>MT</i>", "kind": "model"}


def _stands_beside_the_original(page: Page, tmp_path: Path) -> None:
    aside = page.get_by_role("complementary", name="Translation")

    expect(aside).to_contain_text("Translated by a machine: Opus <i>MT</i>. Mark words in the original.")
    expect(aside).to_contain_text("Die Brücke ist aus Eiche. <b>x</b>")
    expect(page.locator("#text")).to_be_visible()
    expect(page.get_by_role("button", name="Show the translation")).to_be_hidden()
    original, translated = page.locator("#text").bounding_box(), aside.bounding_box()
    assert original
    assert translated
    assert original["x"] + original["width"] <= translated["x"] + 1
    assert abs(original["y"] - translated["y"]) < 40
    page.evaluate("getSelection().selectAllChildren(document.querySelector('#translation .verbatim'))")
    page.keyboard.press("Enter")
    assert not Highlight.objects.exists()
    check_no_sideways_scroll(page)
    check_accessibility(page)
    page.screenshot(path=tmp_path / "beside.png")


def _is_shown_instead_of_the_original_on_a_phone(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.emulate_media(color_scheme="dark")
    page.reload()
    expect(page.locator("#assignment.live")).to_be_visible()
    aside, button = page.locator("#translation"), page.get_by_role("button", name="Show the translation")

    expect(button).to_have_attribute("aria-pressed", "false")
    expect(aside).to_be_hidden()
    page.screenshot(path=tmp_path / "original.png")
    button.click()
    expect(aside).to_be_visible()
    expect(page.locator("#text")).to_be_hidden()
    check_no_sideways_scroll(page)
    check_accessibility(page)
    page.screenshot(path=tmp_path / "translation.png")
    button.click()

    expect(page.locator("#text")).to_be_visible()


def test_a_translation_stands_beside_the_original_and_behind_a_button_on_a_phone(
    page: Page, sign_in: SignIn, study: Study, ada: User, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    assignment = in_hands_of(ada, a_key_point_task(study))
    assert assignment.task.passage_id
    of_it = Passage.objects.filter(pk=assignment.task.passage_id)
    of_it.update(translation=SAID)
    Study.objects.filter(pk=study.pk).update(terms="fact\nsays")
    sign_in(page, ada)
    open_assignment(page, assignment)

    _stands_beside_the_original(page, tmp_path)
    _is_shown_instead_of_the_original_on_a_phone(page, tmp_path)

    of_it.update(translation={})
    open_assignment(page, assignment)
    expect(page.locator("#translation")).to_have_count(0)
