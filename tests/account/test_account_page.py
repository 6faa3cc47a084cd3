from __future__ import annotations

import pytest
from django.core import mail
from django.test import Client
from playwright.sync_api import Page, expect
from pytest_django import DjangoAssertNumQueries, Settings

from collection.models import ApiToken, User
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.factories import PASSWORD


@pytest.mark.parametrize("path", ["/account/", "/account/password/"])
def test_a_stranger_signs_in_first(client: Client, db: None, path: str) -> None:
    response = client.get(path)

    assert response["Location"] == f"/sign-in/?next={path}"


@pytest.mark.parametrize("path", ["/account/token/", "/account/token/revoke/"])
def test_a_token_is_made_and_revoked_by_post_alone(client: Client, ada: User, path: str) -> None:
    client.force_login(ada)

    response = client.get(path)

    assert response.status_code == 405


def test_shows_the_account_with_few_queries(
    client: Client, ada: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(ada)

    with django_assert_num_queries(3):  # session, user, token
        response = client.get("/account/")

    assert "Signed in as ada, an assessor" in response.content.decode()


def test_saves_the_name(client: Client, ada: User) -> None:
    client.force_login(ada)

    response = client.post("/account/", {"first_name": "Ada", "last_name": "L."}, follow=True)

    ada.refresh_from_db()
    assert ada.get_full_name() == "Ada L."
    assert "Your name is saved" in response.content.decode()


def test_changes_nothing_but_the_name(client: Client, ada: User) -> None:
    client.force_login(ada)

    client.post(
        "/account/",
        {"first_name": "Ada", "is_researcher": "on", "is_staff": "on", "username": "rosa", "email": "x@example.org"},
    )

    ada.refresh_from_db()
    assert (ada.username, ada.is_researcher, ada.is_staff, ada.email) == ("ada", False, False, "")


def test_an_address_that_is_none_is_refused(client: Client, ada: User) -> None:
    client.force_login(ada)

    response = client.post("/account/address/", {"email": "at home", "address_password": PASSWORD})

    assert response.status_code == 422
    assert "Enter a valid email address" in response.text
    assert mail.outbox == []


def test_changes_the_password_and_stays_signed_in(client: Client, ada: User) -> None:
    client.force_login(ada)

    response = client.post(
        "/account/password/",
        {"old_password": PASSWORD, "new_password1": "horse battery staple", "new_password2": "horse battery staple"},
        follow=True,
    )

    ada.refresh_from_db()
    assert ada.check_password("horse battery staple")
    assert "Your password is changed" in response.content.decode()


def test_a_wrong_old_password_changes_nothing(client: Client, ada: User) -> None:
    client.force_login(ada)

    response = client.post(
        "/account/password/",
        {"old_password": "guessed", "new_password1": "horse battery staple", "new_password2": "horse battery staple"},
    )

    ada.refresh_from_db()
    assert response.status_code == 422
    assert ada.check_password(PASSWORD)


# --- In the browser -------------------------------------------------------------------------------


@pytest.mark.browser
def test_all_of_an_account_is_done_by_keyboard_and_accessible_on_a_phone(
    page: Page, phone: Page, sign_in: SignIn, ada: User, settings: Settings
) -> None:
    _signs_in_and_out_by_keyboard(page)

    settings.DEMONSTRATION = True
    _signs_in_with_a_wrong_password(phone)
    settings.DEMONSTRATION = False

    sign_in(phone, ada)
    for path in ("/account/password/", "/account/"):
        phone.goto(path)
        check_accessibility(phone)
        check_no_sideways_scroll(phone)
    _makes_and_revokes_a_token_by_keyboard(phone)


def _signs_in_and_out_by_keyboard(page: Page) -> None:
    page.goto("/account/")

    expect(page.get_by_label("Username")).to_be_focused()
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Account", exact=True)).to_be_visible()

    page.locator(".menu summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def _signs_in_with_a_wrong_password(phone: Page) -> None:
    phone.goto("/sign-in/")
    check_accessibility(phone)

    phone.fill("[name=username]", "mallory")
    phone.fill("[name=password]", "guessed")
    phone.get_by_role("button", name="Sign in").click()

    expect(phone.get_by_role("alert")).to_be_visible()
    check_accessibility(phone)
    check_no_sideways_scroll(phone)


def _makes_and_revokes_a_token_by_keyboard(phone: Page) -> None:
    phone.locator("#id_name").focus()
    phone.keyboard.type("export script")
    phone.keyboard.press("Enter")
    expect(phone.get_by_text("it is shown only this once")).to_be_visible()
    check_accessibility(phone)
    check_no_sideways_scroll(phone)

    phone.get_by_role("button", name="Revoke export script").focus()
    phone.keyboard.press("Enter")

    expect(phone.get_by_text("The token no longer works.")).to_be_visible()
    assert not ApiToken.objects.exists()
