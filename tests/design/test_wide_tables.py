"""A table that is wider than its place keeps its first column, shows that it goes on, and takes the window's width."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from collection.models import User
from tests.browser import SignIn, check_no_sideways_scroll

LEFT_EDGES = "table => [...table.querySelectorAll('tbody tr:first-child > *')].map(c => c.getBoundingClientRect().left)"


@pytest.mark.browser
def test_the_first_column_stays_where_others_scroll_and_a_table_of_many_takes_the_windows_width_and_no_more(
    page: Page, phone: Page, sign_in: SignIn, rosa: User
) -> None:
    sign_in(phone, rosa)
    phone.goto("/styleguide/")
    region = phone.locator(".table-scroll").first
    before = region.locator("table").evaluate(LEFT_EDGES)

    region.focus()
    phone.keyboard.press("ArrowRight")
    region.evaluate("region => { region.scrollLeft = region.scrollWidth }")
    after = region.locator("table").evaluate(LEFT_EDGES)

    assert after[0] == before[0]
    assert after[-1] < before[-1] - 40

    sign_in(page, rosa)
    page.set_viewport_size({"width": 1366, "height": 768})
    page.goto("/styleguide/")

    widths = page.evaluate(
        """() => {
            const wide = document.querySelector('.table-scroll').cloneNode(true)
            for (const row of wide.querySelectorAll('tr'))
                for (let n = 0; n < 30; n++) row.append(row.lastElementChild.cloneNode(true))
            const narrow = document.querySelector('.table-scroll').cloneNode(true)
            document.querySelector('main').append(wide, narrow)
            return [wide.offsetWidth, narrow.offsetWidth, wide.getBoundingClientRect().left]
        }"""
    )

    assert 1200 < widths[0] < 1366
    assert widths[1] < widths[0]
    assert widths[2] >= 0
    check_no_sideways_scroll(page)
