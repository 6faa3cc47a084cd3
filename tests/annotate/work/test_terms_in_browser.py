"""Terms to scan for are highlighted as whole words of every script, apart from marks, and can be switched off."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from collection.models import Highlight, Study, User
from tests.annotate.factories import a_report_task, in_hands_of
from tests.annotate.work.test_assignment_in_browser import open_assignment, press, saved
from tests.annotate.work.test_highlights_in_browser import SELECT, drawn, utf16
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll

pytestmark = pytest.mark.browser

TEXT = (
    "🌉 The OAK bridge, of oak. Oaken beams; no soak. Une cafe\u0301. ΟΔΟΣ and οδός. בית הספר. بُني الجسر هنا. "
    "大学の橋。 Мост стоит. </p><b>x</b>"
)
TERMS = "oak\nbridge, of\ncafe\nмост\nالجسر\n大学\n</p><b>"


def _sees_terms_word_by_word(page: Page) -> None:
    assert sorted(drawn(page, "term")) == sorted(["OAK", "oak", "bridge, of", "الجسر", "大学", "Мост", "</p><b>"])
    assert page.evaluate("document.getElementById('text').textContent") == TEXT
    expect(page.locator("#terms-legend")).to_contain_text("Terms to scan for")
    check_accessibility(page)


def _marks_characters_as_without_terms(page: Page) -> None:
    start = TEXT.index("of oak")
    page.evaluate(SELECT, [utf16(TEXT[:start]), utf16(TEXT[: start + 6])])
    press(page, "Enter")
    saved(page)

    highlight = Highlight.objects.get()
    assert (highlight.start, highlight.quote) == (start, "of oak")
    assert "oak" in drawn(page, "term")


def _switches_terms_off_and_on(page: Page) -> None:
    button = page.get_by_role("button", name="Terms to scan for")
    expect(button).to_have_attribute("aria-pressed", "true")

    button.click()
    assert drawn(page, "term") == []
    page.reload()
    expect(page.locator("#terms-found")).to_have_text("7")
    expect(button).to_have_attribute("aria-pressed", "false")
    assert drawn(page, "term") == []
    button.click()

    assert len(drawn(page, "term")) == 7


def _sees_terms_on_a_phone_in_the_dark(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.emulate_media(color_scheme="dark")
    page.reload()
    expect(page.locator("#terms-found")).to_have_text("7")

    assert len(drawn(page, "term")) == 7
    check_no_sideways_scroll(page)
    check_accessibility(page)


def test_terms_are_highlighted_apart_from_marks_and_can_be_switched_off(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    assignment = in_hands_of(ada, a_report_task(study, TEXT))
    Study.objects.filter(pk=study.pk).update(terms=TERMS)
    sign_in(page, ada)
    open_assignment(page, assignment)
    expect(page.locator("#terms-found")).to_have_text("7")

    _sees_terms_word_by_word(page)
    _marks_characters_as_without_terms(page)
    _switches_terms_off_and_on(page)
    _sees_terms_on_a_phone_in_the_dark(page)

    Study.objects.filter(pk=study.pk).update(terms="")
    open_assignment(page, assignment)
    expect(page.locator("#terms-legend")).to_be_hidden()
