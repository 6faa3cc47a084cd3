"""What every page inherits: theme, skip link, menu, navigation, and what htmx does with bad answers."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path
from playwright.sync_api import Page, expect

from collection.models import User
from tests.browser import SignIn


def refused(request: HttpRequest) -> HttpResponse:
    return HttpResponse("<p>The grade is missing.</p>", status=422)


def broken(request: HttpRequest) -> HttpResponse:
    return HttpResponse("<p>A page of the server's own.</p>", status=500)


urlpatterns = [path("refused/", refused), path("broken/", broken), path("", include("config.urls"))]


def ask(page: Page, path: str) -> None:
    page.evaluate("(path) => htmx.ajax('GET', path, '#main h1').catch(() => null)", path)


@pytest.mark.parametrize(
    ("cookie", "attribute"), [("dark", ' data-theme="dark"'), ("light", ' data-theme="light"'), ('"><b>', "")]
)
def test_the_server_writes_the_chosen_theme_into_the_page(
    cookie: str, attribute: str, client: Client, db: None
) -> None:
    client.cookies["theme"] = cookie

    response = client.get("/sign-in/")

    assert f'<html lang="en"{attribute}>' in response.content.decode()


def test_an_assessor_sees_no_way_to_the_studies(client: Client, ada: User) -> None:
    client.force_login(ada)

    text = client.get("/account/").content.decode()

    assert ">My work</a>" in text
    assert ">Studies</a>" not in text
    assert ">Judges</a>" not in text


def test_a_researcher_sees_the_way_to_everything(client: Client, rosa: User) -> None:
    client.force_login(rosa)

    text = client.get("/account/").content.decode()

    for name in ("Collections", "Studies", "Judges", "My work"):
        assert f">{name}</a>" in text


@pytest.mark.browser
def test_the_theme_follows_the_system_until_the_switch_is_used(open_page: Callable[..., Page], db: None) -> None:
    page = open_page(color_scheme="dark")
    page.goto("/sign-in/")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")

    page.get_by_role("button", name="Dark or light").click()
    page.reload()

    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == "rgb(25, 24, 22)"
    assert light == "rgb(250, 248, 244)"


@pytest.mark.browser
@pytest.mark.urls(__name__)
def test_keys_lead_through_every_page_and_htmx_says_what_went_wrong(
    page: Page, sign_in: SignIn, ada: User, complaints: list[str], expected_console_errors: list[str]
) -> None:
    sign_in(page, ada)
    page.goto("/account/")
    _the_first_tab_skips_to_the_content(page)
    _escape_closes_the_menu_and_keeps_the_place(page)

    ask(page, "/refused/")
    expect(page.get_by_text("The grade is missing.")).to_be_visible()
    page.goto("/account/")
    page.context.clear_cookies()
    ask(page, "/account/password/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/sign-in/\?next=/account/$"))
    assert [text for text in complaints if "status of 422" not in text] == []

    expected_console_errors += ["status of 500", "Response Status Error Code 500"]
    expected_console_errors += ["htmx:sendError", "htmx:afterRequest"]
    sign_in(page, ada)
    page.goto("/account/")
    _a_server_that_broke_is_told_and_the_page_kept(page)
    page.reload()
    _a_server_that_cannot_be_reached_is_told_until_it_can(page)


def _the_first_tab_skips_to_the_content(page: Page) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("First name")).to_be_focused()


def _escape_closes_the_menu_and_keeps_the_place(page: Page) -> None:
    page.locator(".menu summary").click()
    page.get_by_role("link", name="Account").focus()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Account")).to_be_hidden()
    expect(page.locator(".menu summary")).to_be_focused()


def _a_server_that_broke_is_told_and_the_page_kept(page: Page) -> None:
    ask(page, "/broken/")
    expect(page.get_by_text("the server answered 500")).to_be_visible()
    expect(page.get_by_role("heading", name="Account", exact=True)).to_be_visible()


def _a_server_that_cannot_be_reached_is_told_until_it_can(page: Page) -> None:
    page.context.set_offline(True)
    ask(page, "/refused/")
    expect(page.get_by_text("cannot be reached")).to_be_visible()
    page.context.set_offline(False)
    ask(page, "/robots.txt")
    expect(page.get_by_text("cannot be reached")).to_be_hidden()
