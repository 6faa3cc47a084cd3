from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path
from playwright.sync_api import Page

from collection.models import User
from tests.browser import check_accessibility


def nonsense(request: HttpRequest) -> HttpResponse:
    raise SuspiciousOperation


def forbidden(request: HttpRequest) -> HttpResponse:
    raise PermissionDenied


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("of our making")


urlpatterns = [
    path("nonsense/", nonsense),
    path("forbidden/", forbidden),
    path("broken/", broken),
    path("", include("config.urls")),
]

PAGES = [
    ("/nonsense/", 400, "The request cannot be read"),
    ("/forbidden/", 403, "You are not allowed to do that"),
    ("/nowhere/", 404, "Page not found"),
    ("/broken/", 500, "Server error"),
]


@pytest.mark.urls(__name__)
@pytest.mark.parametrize(("path", "status", "heading"), PAGES)
def test_an_error_has_its_page(path: str, status: int, heading: str, rosa: User) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(rosa)

    response = client.get(path)

    assert response.status_code == status
    assert f"<h1>{heading}</h1>" in response.content.decode()
    assert "of our making" not in response.content.decode()


def test_a_form_without_its_csrf_token_says_what_to_do(ada: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)

    response = client.post("/account/", {"first_name": "Mallory"})

    assert response.status_code == 403
    assert "reload the page and send it again" in response.content.decode()


def test_robots_stay_out(client: Client) -> None:
    response = client.get("/robots.txt")

    assert response["Content-Type"].startswith("text/plain")
    assert response.content == b"User-agent: *\nDisallow: /\n"


@pytest.mark.browser
@pytest.mark.urls(__name__)
def test_error_pages_are_accessible_and_styled(page: Page, expected_console_errors: list[str]) -> None:
    expected_console_errors += [f"status of {status}" for _, status, _ in PAGES]

    for address, *_ in PAGES:
        page.goto(address)

        check_accessibility(page)
        assert page.locator("h1").evaluate("(h1) => getComputedStyle(h1).textWrap") == "balance", address
