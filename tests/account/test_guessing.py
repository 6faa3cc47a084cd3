"""Whoever guesses passwords is held back, and shuts out nobody but themselves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth import hashers
from django.core.management import call_command
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.utils.timezone import now
from pytest_django import Settings
from rest_framework.test import APIClient

from collection.accounts import sign_in
from collection.accounts.sign_in import HASHING_AT_ONCE, hashing
from collection.models import Study, User
from tests.annotate.crowd_factories import an_entry
from tests.annotate.factories import an_open_study
from tests.factories import PASSWORD, a_user

HERE, ELSEWHERE = "203.0.113.7", "198.51.100.9"
LIMIT = 5


def tried(password: str = "guessed", *, name: str = "ada", address: str = HERE, by: Client | None = None) -> Any:
    client = by or Client()
    return client.post("/sign-in/", {"username": name, "password": password}, REMOTE_ADDR=address)


def guess(n: int = LIMIT, **kwargs: Any) -> list[int]:
    return [tried(**kwargs).status_code for _ in range(n)]


def signed_in(response: HttpResponse) -> bool:
    return response.status_code == 302


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The passwords that were hashed."""
    passwords: list[str] = []
    encode = hashers.MD5PasswordHasher.encode

    def counted(hasher: Any, password: str, salt: str) -> str:
        passwords.append(password)
        return encode(hasher, password, salt)

    monkeypatch.setattr(hashers.MD5PasswordHasher, "encode", counted)
    return passwords


# --- One account from one address -----------------------------------------------------------------


def test_the_fifth_wrong_password_locks_the_account_from_there(ada: User) -> None:
    statuses = guess()

    locked = tried(PASSWORD)
    assert statuses == [422, 422, 422, 422, 429]
    assert locked.status_code == 429
    assert locked["Retry-After"] == "900"
    assert "Wait 15 minutes" in locked.content.decode()


def test_the_locked_out_cost_no_hash_and_no_write(
    ada: User, hashed: list[str], django_assert_max_num_queries: Any
) -> None:
    guess()
    hashed.clear()

    with django_assert_max_num_queries(1):
        tried(PASSWORD)

    assert hashed == []


def test_a_lock_ends_by_itself_however_often_somebody_tries_meanwhile(ada: User) -> None:
    guess()
    guess(20)
    AccessAttempt.objects.update(attempt_time=now() - timedelta(minutes=16))

    assert signed_in(tried(PASSWORD))


def test_a_name_that_does_not_exist_is_treated_alike(ada: User, hashed: list[str]) -> None:
    there, nowhere = guess(6, name="ada"), guess(6, name="nobody")

    assert there == nowhere
    assert len(hashed) == 10  # five each
    pages = {name: tried(name=name, address=ELSEWHERE).content.decode().replace(name, "") for name in ("ada", "nobody")}
    pages = {name: page.split("csrfmiddlewaretoken")[1][100:] for name, page in pages.items()}
    assert pages["ada"] == pages["nobody"]


def test_a_right_password_begins_the_count_anew(ada: User) -> None:
    guess(4)
    assert signed_in(tried(PASSWORD))

    assert guess(4) == [422] * 4


def test_an_attacker_elsewhere_shuts_nobody_out(ada: User) -> None:
    guess(10, address=ELSEWHERE)

    assert signed_in(tried(PASSWORD))


def test_the_administrators_site_has_the_same_door(client: Client, db: None) -> None:
    page = client.get("/admin/", follow=True)

    assert page.redirect_chain[-1][0] == "/sign-in/?next=/admin/"
    assert client.post("/admin/login/", {"username": "olga", "password": "x"}).status_code == 302
    assert not AccessAttempt.objects.exists()


def test_the_site_tells_an_assessor_nothing_of_an_administrators_site(client: Client, ada: User) -> None:
    client.force_login(ada)

    assert client.get("/admin/", follow=True).status_code == 404


def test_guessing_the_old_password_in_an_open_browser_is_held_back(client: Client, ada: User) -> None:
    client.force_login(ada)
    new = {"new_password1": "a long new password", "new_password2": "a long new password"}

    statuses = [client.post("/account/password/", {"old_password": "x", **new}).status_code for _ in range(LIMIT)]

    assert statuses == [422, 422, 422, 422, 429]
    assert client.post("/account/password/", {"old_password": PASSWORD, **new}).status_code == 429


# --- Many names, many addresses -------------------------------------------------------------------


def test_an_address_that_tries_many_names_is_locked(monkeypatch: pytest.MonkeyPatch, ada: User) -> None:
    monkeypatch.setattr(sign_in, "MOST_FROM_AN_ADDRESS", 8)
    for number in range(8):
        tried(name=f"somebody{number}")

    assert tried(PASSWORD).status_code == 429
    assert signed_in(tried(PASSWORD, address=ELSEWHERE))


def test_an_account_that_many_addresses_guess_at_gets_one_try_from_each(
    monkeypatch: pytest.MonkeyPatch, ada: User
) -> None:
    monkeypatch.setattr(sign_in, "MOST_FOR_AN_ACCOUNT", 8)
    for number in range(8):
        tried(address=f"192.0.2.{number}")

    assert guess(2, address=ELSEWHERE) == [429, 429]
    assert AccessAttempt.objects.count() == 9
    assert signed_in(tried(PASSWORD))


def test_one_subscriber_of_ipv6_is_one_address(ada: User) -> None:
    for number in range(LIMIT):
        tried(address=f"2001:db8:1:2::{number}")

    assert tried(PASSWORD, address="2001:db8:1:2:ffff::1").status_code == 429
    assert signed_in(tried(PASSWORD, address="2001:db8:1:3::1"))


def test_behind_a_proxy_the_address_is_the_one_that_it_saw(ada: User, settings: Settings) -> None:
    settings.PROXIES = 1

    def tried_via(forwarded: str, password: str = "guessed") -> int:
        form = {"username": "ada", "password": password}
        return Client().post("/sign-in/", form, headers={"X-Forwarded-For": forwarded}).status_code

    statuses = [tried_via(f"10.9.8.{number}, {HERE}") for number in range(LIMIT)]  # the first is anybody's invention

    assert statuses[-1] == 429
    assert tried_via(HERE, PASSWORD) == 429
    assert tried_via(ELSEWHERE, PASSWORD) == 302


def test_without_a_proxy_nobody_chooses_their_address(ada: User) -> None:
    for number in range(LIMIT):
        form = {"username": "ada", "password": "guessed"}
        Client().post("/sign-in/", form, headers={"X-Forwarded-For": f"10.0.0.{number}"}, REMOTE_ADDR=HERE)

    assert tried(PASSWORD).status_code == 429


def test_a_browser_that_was_signed_in_before_is_not_shut_out_by_its_neighbours(
    monkeypatch: pytest.MonkeyPatch, ada: User
) -> None:
    monkeypatch.setattr(sign_in, "MOST_FROM_AN_ADDRESS", 8)
    monkeypatch.setattr(sign_in, "MOST_FOR_AN_ACCOUNT", 8)
    adas = Client()
    tried(PASSWORD, by=adas)
    adas.post("/sign-out/")
    guess(10)

    tried("mistyped", by=adas)

    assert signed_in(tried(PASSWORD, by=adas))


def test_a_browser_is_known_for_its_own_account_alone(ada: User, ben: User) -> None:
    bens = Client()
    tried(PASSWORD, name="ben", by=bens)
    bens.post("/sign-out/")
    guess()

    assert tried(PASSWORD, by=bens).status_code == 429


def test_a_worker_from_a_crowd_site_comes_in_whatever_the_address_did(
    monkeypatch: pytest.MonkeyPatch, study: Study
) -> None:
    monkeypatch.setattr(sign_in, "MOST_FROM_AN_ADDRESS", 3)
    entry = an_entry(an_open_study(study))
    guess(3, name="nobody")
    worker = Client(REMOTE_ADDR=HERE)
    page = worker.get(f"/p/{entry.token}/?PROLIFIC_PID=worker01&STUDY_ID=cohort01&SESSION_ID=session01")

    response = worker.post(f"/p/{entry.token}/", {"arrival": page.context["arrival"]})

    assert response.status_code == 302
    assert "_auth_user_id" in worker.session


def test_neither_names_nor_addresses_nor_browsers_are_stored(ada: User) -> None:
    Client(headers={"User-Agent": "Netscape"}).post(
        "/sign-in/?next=/account/", {"username": "ada-or-perhaps-a-password", "password": "guessed"}, REMOTE_ADDR=HERE
    )

    [stored] = AccessAttempt.objects.values()
    text = str(stored)
    assert not [part for part in ("ada", HERE, "Netscape", "guessed") if part in text]


# --- Hashing --------------------------------------------------------------------------------------


@pytest.fixture
def all_seats_are_taken() -> Iterator[None]:
    with ExitStack() as seats:
        for _ in range(HASHING_AT_ONCE):
            seats.enter_context(hashing())
        yield


def test_nobody_waits_for_a_seat(all_seats_are_taken: None, ada: User, hashed: list[str]) -> None:
    response = tried(PASSWORD)

    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert "Many people are signing in" in response.content.decode()
    assert hashed == []
    assert not AccessAttempt.objects.exists()


def test_other_pages_are_served_meanwhile(all_seats_are_taken: None, client: Client, ada: User) -> None:
    client.force_login(ada)

    assert client.get("/work/").status_code == 200


def test_accounts_are_made_all_or_none_when_a_seat_is_free(
    all_seats_are_taken: None, client: Client, study: Study, rosa: User
) -> None:
    client.force_login(rosa)
    api = APIClient()
    api.force_authenticate(rosa)

    page = client.post(f"/studies/{study.name}/people/", {"usernames": "carla dan"})
    answer = api.post(f"/api/v1/studies/{study.name}/enrolments/", {"usernames": ["carla"]}, format="json")

    assert (page.status_code, answer.status_code) == (503, 503)
    assert answer.json()["detail"].startswith("Many people")
    assert not User.objects.filter(username__in=["carla", "dan"]).exists()


def test_a_seat_is_free_again_after_a_fault() -> None:
    for _ in range(HASHING_AT_ONCE + 1):
        with pytest.raises(ZeroDivisionError), hashing():
            raise ZeroDivisionError


@pytest.mark.django_db(transaction=True)
def test_eight_at_once_leave_threads_to_others(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    a_user("ada")
    statuses: list[int] = []

    def come_in() -> None:
        statuses.append(tried(PASSWORD).status_code)
        connection.close()

    threads = [threading.Thread(target=come_in) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(statuses) <= {302, 503}
    assert statuses.count(503) >= 1


# --- Passwords ------------------------------------------------------------------------------------


def changed(user: User, password: str) -> int:
    client = Client()
    client.force_login(user)
    form = {"old_password": PASSWORD, "new_password1": password, "new_password2": password}
    return client.post("/account/password/", form).status_code


@pytest.mark.parametrize("password", ["8361940275836194", " " * 12, "  \t   \u00a0      ", "  short1 ", "password1"])
def test_blank_numeric_and_common_passwords_are_refused(ada: User, password: str) -> None:
    assert changed(ada, password) == 422


def test_a_researchers_password_has_twelve_characters(ada: User, rosa: User) -> None:
    assert changed(ada, "quince-9") == 302
    assert changed(rosa, "quince-pie9") == 422
    assert changed(rosa, "quince-pie-9") == 302


def test_an_administrator_gives_no_shorter_one(client: Client, db: None) -> None:
    client.force_login(a_user("olga", is_staff=True, is_superuser=True))
    form = {"username": "carla", "password1": "quince-pie9", "password2": "quince-pie9", "usable_password": "true"}

    response = client.post("/admin/collection/user/add/", form)

    assert "it needs 12 characters" in response.content.decode()
    assert not User.objects.filter(username="carla").exists()


def test_a_researcher_with_a_weaker_one_is_asked_for_another(client: Client, db: None) -> None:
    User.objects.create_user("rosa", password="quince-9", is_researcher=True)

    response = client.post("/sign-in/", {"username": "rosa", "password": "quince-9"}, follow=True)

    assert response.redirect_chain == [("/account/password/", 302)]
    assert "too weak for a researcher" in response.content.decode()


def test_the_first_administrator_is_a_researcher(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "quince-pie-9")

    call_command("createsuperuser", "--no-input", "--username", "olga", "--email", "olga@example.org", verbosity=0)

    olga = User.objects.get()
    assert (olga.is_superuser, olga.is_researcher) == (True, True)
