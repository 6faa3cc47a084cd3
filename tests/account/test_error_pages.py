from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import psycopg
import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path
from playwright.sync_api import Page
from rest_framework.views import APIView

from collection.models import Comment, User
from config import urls
from config.sessions import SessionStore
from tests.annotate.factories import a_report_task, an_open_study, in_hands_of
from tests.browser import check_accessibility
from tests.factories import a_collection, a_study


def nonsense(request: HttpRequest) -> HttpResponse:
    raise SuspiciousOperation


def forbidden(request: HttpRequest) -> HttpResponse:
    raise PermissionDenied


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("of our making")


def raises(failure: Exception) -> Callable[..., None]:
    def broken(*_: object) -> None:
        raise failure

    return broken


class Failing(APIView):
    """Raises what the database's wrapper raises, from what the driver said."""

    failure: Exception
    authentication_classes = permission_classes = ()

    def get(self, request: object) -> HttpResponse:
        if isinstance(self.failure, OSError):
            raise self.failure
        raise OperationalError(str(self.failure)) from self.failure


handler400, handler403 = urls.handler400, urls.handler403
handler404, handler500 = urls.handler404, urls.handler500
urlpatterns = [
    path("nonsense/", nonsense),
    path("forbidden/", forbidden),
    path("broken/", broken),
    path("failing/", lambda request: Failing().get(request)),
    path("api/failing/", lambda request: Failing().get(request)),
    path("api/v1/failing/", Failing.as_view()),
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


def of_sqlite(hindrance: str) -> Exception:
    """What SQLite says of a database that another connection holds, that has no room, or that lacks a table."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        one, other = (
            stack.enter_context(closing(sqlite3.connect(f"{folder}/x", timeout=0, isolation_level=None)))
            for _ in range(2)
        )
        one.execute("PRAGMA max_page_count = 3")
        if hindrance != "no table":
            one.execute("CREATE TABLE x (y)")
        if hindrance == "held":
            other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError) as raised:
            one.execute("INSERT INTO x VALUES (?)", ["y" * 100_000])
        return raised.value


FAILURES = [
    (of_sqlite("held"), 503),
    (of_sqlite("full"), 507),
    (psycopg.errors.QueryCanceled(), 503),
    (psycopg.errors.AdminShutdown(), 503),
    (psycopg.OperationalError(), 503),
    (psycopg.errors.DiskFull(), 507),
    (psycopg.errors.UndefinedTable(), 500),
    (of_sqlite("no table"), 500),
    (OSError(errno.ENOSPC, "No space left on device"), 507),
    (OSError(errno.ENOENT, "No such file or directory"), 500),
]


@pytest.mark.urls(__name__)
@pytest.mark.parametrize("path", ["/failing/", "/api/failing/", "/api/v1/failing/"])
def test_what_the_database_or_the_disk_keeps_from_being_done_is_said(path: str, rosa: User) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(rosa)

    for failure, status in FAILURES:
        Failing.failure = failure
        response = client.get(path)

        assert response.status_code == status, failure
        assert ("Retry-After" in response) is (status != 500)
        assert response["Content-Type"].startswith("application/json" if "api" in path else "text/html")


@pytest.mark.django_db
def test_a_database_that_is_away_is_said_before_anybody_is_known(monkeypatch: pytest.MonkeyPatch, rosa: User) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(rosa)
    monkeypatch.setattr(SessionStore, "load", raises(OperationalError("connection refused")))

    assert client.get("/account/").status_code == 503


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "status"), [("/api/v1/nowhere/", 404), ("/api/v1/%ff/", 404)])
def test_programs_get_json_where_nothing_is(path: str, status: int, client: Client) -> None:
    response = client.get(path)

    assert (response.status_code, list(response.json())) == (status, ["detail"])


@pytest.mark.django_db(transaction=True)
def test_what_a_full_database_refuses_is_stored_once_there_is_room(ada: User, rosa: User) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("a server's disk is not ours to fill")
    assignment = in_hands_of(ada, a_report_task(an_open_study(a_study(a_collection(owner=rosa)))))
    client = Client(raise_request_exception=False)
    client.force_login(ada)
    path, item = f"/work/{assignment.pk}/comment/", assignment.asked.all()[0].item_id

    def post(n: int) -> int:
        return client.post(path, {"item": item, "text": f"{n} {'y' * 1900}"}).status_code

    with connection.cursor() as cursor:
        n_pages = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {n_pages}")
        statuses = [post(n) for n in range(100)]
        cursor.execute("PRAGMA max_page_count = 1000000")

    assert Comment.objects.count() == statuses.count(302)
    assert statuses.count(507) == 100 - statuses.count(302) > 0
    assert post(100) == 302
    assert Comment.objects.count() == statuses.count(302) + 1


@pytest.mark.parametrize(("mb_free", "warned"), [(199, True), (201, False)])
def test_administrators_are_warned_before_the_disk_is_full(
    mb_free: int, warned: bool, rosa: User, admin_user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=mb_free * 1024**2))

    for user in (rosa, admin_user):
        client = Client()
        client.force_login(user)
        shown = "data-mb-free" in client.get("/account/").content.decode()
        assert shown is (warned and user == admin_user)


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
