"""The demonstration's accounts have a password that everybody knows: they open nothing where it is off."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings

from collection.models import User
from config.demonstration.loading import PASSWORD, make_people
from tests.factories import a_token

pytestmark = pytest.mark.django_db
NAMES = ["rosa", "ada", "ben", "cleo"]


@pytest.fixture
def people(settings: Settings) -> list[User]:
    """The accounts of a demonstration that was on, and is off now."""
    settings.DEMONSTRATION = True
    people = make_people()
    settings.DEMONSTRATION = False
    return people


@pytest.mark.parametrize("name", NAMES)
def test_its_password_signs_nobody_in(client: Client, people: list[User], name: str) -> None:
    response = client.post("/sign-in/", {"username": name, "password": PASSWORD})

    assert response.status_code == 422
    assert "_auth_user_id" not in client.session


def test_its_password_signs_in_while_it_is_on(client: Client, people: list[User], settings: Settings) -> None:
    settings.DEMONSTRATION = True

    response = client.post("/sign-in/", {"username": "rosa", "password": PASSWORD})

    assert response.status_code == 302


def test_an_open_session_ends(client: Client, people: list[User], settings: Settings) -> None:
    settings.DEMONSTRATION = True
    client.force_login(people[0])
    before = client.get("/studies/").status_code

    settings.DEMONSTRATION = False

    assert (before, client.get("/studies/").status_code) == (200, 302)


def test_a_token_ends(client: Client, people: list[User], settings: Settings) -> None:
    headers = {"Authorization": f"Token {a_token(people[0])}"}
    settings.DEMONSTRATION = True
    before = client.get("/api/v1/studies/", headers=headers).status_code

    settings.DEMONSTRATION = False

    assert (before, client.get("/api/v1/studies/", headers=headers).status_code) == (200, 401)


def test_others_of_the_same_name_sign_in(client: Client, settings: Settings) -> None:
    rosa = User.objects.create_user("rosa", password="her own words", is_researcher=True)
    settings.DEMONSTRATION = True
    make_people()
    settings.DEMONSTRATION = False

    assert client.post("/sign-in/", {"username": "rosa", "password": "her own words"}).status_code == 302
    rosa.refresh_from_db()
    assert not rosa.is_demonstration
