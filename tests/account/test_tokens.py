"""API tokens: kept as hashes, with a name and a last day, and ended by whatever ends the trust in them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import is_valid_path
from django.utils.timezone import now

from collection.accounts.account import MOST_TOKENS
from collection.models import ApiToken, Study, User
from tests.attacks.world import PARAMETER, addresses
from tests.factories import PASSWORD, a_token

ENDPOINT = "/api/v1/studies/"


def status(key: str) -> int:
    return Client().get(ENDPOINT, headers={"Authorization": f"Token {key}"}).status_code


@pytest.fixture
def as_ada(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


# --- Made and shown -------------------------------------------------------------------------------


def test_a_new_token_is_shown_once_and_opens_the_api(as_ada: Client, ada: User) -> None:
    made = as_ada.post("/account/token/", {"name": "export script", "days": 30})

    key = made.context["new_token"]
    assert key in made.content.decode()
    assert "no-store" in made["Cache-Control"]
    assert key not in as_ada.get("/account/").content.decode()
    assert status(key) == 200


def test_a_token_is_stored_as_its_hash_alone(ada: User) -> None:
    key = a_token(ada)

    assert key not in str(ApiToken.objects.values())
    assert ApiToken.objects.get().token_key == key[:15]  # what finds the row; 49 characters stay unknown


def test_the_page_lists_name_last_use_and_last_day(as_ada: Client, ada: User) -> None:
    a_token(ada, name="never used")
    used = a_token(ada, name="export script", days=365)
    status(used)

    page = as_ada.get("/account/").content.decode()

    rows = {row.split("</th>")[0]: row for row in page.split('<th scope="row">')[1:]}
    assert "<td>never</td>" in rows["never used"]
    assert "<td>never</td>" not in rows["export script"]
    assert f"{now() + timedelta(days=365):%Y-%m-%d}" in rows["export script"]


@pytest.mark.parametrize("form", [{"name": "", "days": 30}, {"name": "x", "days": 9999}, {"name": "x" * 61, "days": 7}])
def test_a_token_has_a_name_and_a_last_day(as_ada: Client, form: dict[str, Any]) -> None:
    response = as_ada.post("/account/token/", form)

    assert response.status_code == 422
    assert not ApiToken.objects.exists()


def test_nobody_heaps_up_tokens(as_ada: Client, ada: User) -> None:
    for _ in range(MOST_TOKENS):
        a_token(ada)

    response = as_ada.post("/account/token/", {"name": "one more", "days": 7})

    assert response.status_code == 422
    assert "Revoke one that you no longer need" in response.content.decode()


def test_the_last_use_is_noted_seldom(ada: User, django_assert_num_queries: Any) -> None:
    key = a_token(ada)
    status(key)
    client = Client(headers={"Authorization": f"Token {key}"})

    with django_assert_num_queries(1):  # the token with its user; an assessor has no studies
        client.get(ENDPOINT)


# --- What they open -------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_that_reads_changes_nothing_wherever_it_is_sent(as_ada: Client, ada: User) -> None:
    key = as_ada.post("/account/token/", {"name": "reader", "days": 7, "read_only": "on"}).context["new_token"]
    client = Client(headers={"Authorization": f"Token {key}"})
    paths = {PARAMETER.sub("1", address) for address in addresses() if address.startswith("/api/v1/")}
    known = sorted(path for path in paths if is_valid_path(path))

    assert client.get(ENDPOINT).status_code == 200
    assert len(known) > 80
    for path in known:
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            assert client.generic(method, path).status_code == 403, f"{method} {path}"


def test_an_account_that_a_link_made_has_none(client: Client, study: Study) -> None:
    user = User.objects.create_user("brisk-otter", password=None, made_for=study.collection)
    client.force_login(user)
    older = ApiToken.objects.create(user, password_stamp=user.get_session_auth_hash())[1]

    assert client.post("/account/token/", {"name": "script", "days": 7}).status_code == 422
    assert 'id="tokens"' not in client.get("/account/").content.decode()
    assert status(older) == 401


# --- What ends them -------------------------------------------------------------------------------


def test_it_ends_on_its_day(ada: User) -> None:
    key = a_token(ada)
    ApiToken.objects.update(expiry=now())

    assert status(key) == 401


def test_revoking_leaves_the_others_and_those_of_others(as_ada: Client, ada: User, ben: User) -> None:
    first, second, bens = a_token(ada), a_token(ada), a_token(ben)

    as_ada.post("/account/token/revoke/", {"token": ApiToken.objects.get(token_key=first[:15]).digest})
    as_ada.post("/account/token/revoke/", {"token": ApiToken.objects.get(token_key=bens[:15]).digest})

    assert [status(key) for key in (first, second, bens)] == [401, 200, 200]


def test_a_changed_password_ends_them(as_ada: Client, ada: User, ben: User) -> None:
    key, bens = a_token(ada), a_token(ben)
    new = "horse battery staple"

    said = as_ada.post(
        "/account/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new}, follow=True
    )

    assert (status(key), status(bens)) == (401, 200)
    assert "Your API tokens no longer work." in said.content.decode()


def test_a_password_that_somebody_else_set_ends_them_too(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    key = a_token(ada)
    monkeypatch.setattr("getpass.getpass", lambda **_: "horse battery staple")

    call_command("changepassword", "ada")

    assert status(key) == 401


def test_a_closed_account_has_none(ada: User) -> None:
    key = a_token(ada)
    User.objects.update(is_active=False)

    assert status(key) == 401


@pytest.mark.parametrize("sent", ["Token", "Token a b", "Token \xff\xfe", "Bearer x" * 500, "Token " + "0" * 64])
def test_nonsense_is_refused(db: None, sent: str) -> None:
    response = Client().get(ENDPOINT, headers={"Authorization": sent})

    assert response.status_code == 401
