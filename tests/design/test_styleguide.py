from __future__ import annotations

import pytest
from django.test import Client
from playwright.sync_api import Page
from pytest_django import Settings

from collection.models import User
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll


def test_researchers_may_see_it_and_assessors_and_strangers_may_not(client: Client, rosa: User, ada: User) -> None:
    client.force_login(rosa)
    assert client.get("/styleguide/").status_code == 200

    client.force_login(ada)
    assert client.get("/styleguide/").status_code == 404

    client.logout()
    assert client.get("/styleguide/").status_code == 404


def test_everyone_may_see_it_on_a_demonstration(client: Client, db: None, settings: Settings) -> None:
    settings.DEMONSTRATION = True

    response = client.get("/styleguide/")

    assert response.status_code == 200


@pytest.mark.browser
def test_is_accessible_on_a_laptop_and_on_a_phone_and_nothing_moves_for_those_who_asked_for_it(
    page: Page, phone: Page, sign_in: SignIn, rosa: User
) -> None:
    for shown in (phone, page):
        sign_in(shown, rosa)
        shown.goto("/styleguide/")
        check_accessibility(shown)
        check_no_sideways_scroll(shown)

    page.emulate_media(reduced_motion="reduce")
    duration = page.locator(".saving[data-state=saving]").first.evaluate(
        "(saving) => getComputedStyle(saving, '::before').animationDuration"
    )
    assert duration == "0.001s"
