"""Pages that come with Django and the API live under our Content-Security-Policy too."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from collection.models import User
from tests.browser import SignIn

pytestmark = pytest.mark.browser


def test_the_api_page_lists_the_api_and_the_administration_works(page: Page, sign_in: SignIn, rosa: User) -> None:
    sign_in(page, rosa)
    page.goto("/api/")
    expect(page.get_by_role("heading", name="Assize")).to_be_visible()

    User.objects.filter(pk=rosa.pk).update(is_staff=True, is_superuser=True)
    page.goto("/admin/")
    page.get_by_role("link", name="Users").click()
    page.get_by_role("link", name="rosa", exact=True).click()
    page.get_by_label("First name").fill("Rosa")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_text("was changed successfully")).to_be_visible()
