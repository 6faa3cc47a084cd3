"""The watchdogs of tests/browser.py bark."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser import check_accessibility, check_no_sideways_scroll

pytestmark = pytest.mark.browser


def test_a_field_without_a_label_grey_on_grey_and_a_page_wider_than_its_window_are_found(
    page: Page, phone: Page
) -> None:
    page.goto("/sign-in/")
    page.evaluate("document.querySelector('label').remove()")
    with pytest.raises(AssertionError, match="Form elements must have labels") as found:
        check_accessibility(page)
    assert "color-contrast" not in str(found.value)

    page.reload()
    page.evaluate("document.querySelector('h1').style.color = '#ddd'")
    with pytest.raises(AssertionError, match="color-contrast"):
        check_accessibility(page)

    phone.goto("/sign-in/")
    phone.evaluate("document.querySelector('h1').style.width = '500px'")
    with pytest.raises(AssertionError, match="px wider than its window"):
        check_no_sideways_scroll(phone)


def test_an_inline_script_another_host_and_an_error_in_a_script_are_noticed(page: Page, complaints: list[str]) -> None:
    page.goto("/sign-in/")

    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = true'}))"
    )
    assert page.evaluate("window.ran") is None
    assert "Content Security Policy" in complaints.pop()
    assert complaints == []

    page.evaluate(
        "new Promise((done) => {"
        "  const image = new Image();"
        "  image.onerror = done;"
        "  image.src = 'http://localhost:9/x.png';"
        "})"
    )
    assert any("asked another host for http://localhost:9/x.png" in complaint for complaint in complaints)
    complaints.clear()

    page.goto("/sign-in/")
    complaints.clear()
    page.evaluate("setTimeout(() => { throw new Error('of our making') })")
    page.wait_for_timeout(100)
    assert "of our making" in complaints.pop()
    assert complaints == []
