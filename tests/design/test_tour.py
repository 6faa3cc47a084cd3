"""The tour of five steps: at a researcher's first visit, by keyboard, and not again once it is ended."""

from __future__ import annotations

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from collection.models import Study, User
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll


def test_only_researchers_get_it(client: Client, ada: User, rosa: User, study: Study) -> None:
    client.force_login(ada)
    assert 'id="tour"' not in client.get("/work/").content.decode()

    client.force_login(rosa)
    assert 'data-begins="true"' in client.get("/studies/").content.decode()
    page = client.get(f"/studies/{study.name}/").content.decode()
    assert 'id="tour"' in page
    assert "data-begins" not in page


@pytest.mark.browser
def test_rosa_walks_it_by_keyboard_and_on_a_phone_escape_ends_it_and_the_menu_opens_it_again(
    page: Page, phone: Page, sign_in: SignIn, rosa: User, study: Study
) -> None:
    sign_in(page, rosa)
    page.goto("/studies/")
    tour = page.get_by_role("complementary", name="Tour")
    expect(tour).to_contain_text("1 of 5")
    check_accessibility(page)

    page.get_by_role("button", name="Next").focus()
    for step in (2, 3):
        page.keyboard.press("Enter")
        expect(tour).to_contain_text(f"{step} of 5")
    page.get_by_role("link", name="Meet them").press("Enter")
    page.wait_for_url("**/judges/")
    expect(tour).to_contain_text("3 of 5")  # it goes along

    page.get_by_role("button", name="Next").press("Enter")
    page.get_by_role("button", name="Next").press("Enter")
    page.get_by_role("button", name="Finish").press("Enter")
    expect(tour).to_be_hidden()
    page.goto("/studies/")
    expect(page.locator("#tour-open")).to_have_count(1)
    expect(tour).to_be_hidden()

    sign_in(phone, rosa)
    _ends_it_with_escape_and_opens_it_again(phone)


def _ends_it_with_escape_and_opens_it_again(phone: Page) -> None:
    phone.goto("/studies/")
    tour = phone.get_by_role("complementary", name="Tour")
    expect(tour).to_be_visible()
    check_no_sideways_scroll(phone)

    phone.get_by_role("button", name="Next").focus()
    phone.keyboard.press("Escape")
    expect(tour).to_be_hidden()

    phone.locator(".site-tools summary").last.click()
    phone.get_by_role("button", name="Tour").click()
    expect(tour).to_contain_text("1 of 5")
    expect(phone.get_by_role("button", name="Next")).to_be_focused()
