from __future__ import annotations

from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from collection.models import User
from tests.factories import PASSWORD


def test_signs_in_and_goes_home(client: Client, ada: User) -> None:
    response = client.post("/sign-in/", {"username": "ada", "password": PASSWORD})

    assert response.status_code == 302
    assert response["Location"] == "/"
    assert client.session["_auth_user_id"] == str(ada.pk)


def test_goes_on_to_the_page_that_was_asked_for(client: Client, ada: User) -> None:
    response = client.post("/sign-in/", {"username": "ada", "password": PASSWORD, "next": "/account/"})

    assert response["Location"] == "/account/"


def test_never_goes_on_to_another_host(client: Client, ada: User) -> None:
    response = client.post(
        "/sign-in/", {"username": "ada", "password": PASSWORD, "next": "https://mallory.example.org/"}
    )

    assert response["Location"] == "/"


def test_a_wrong_password_signs_nobody_in(client: Client, ada: User) -> None:
    response = client.post("/sign-in/", {"username": "ada", "password": "guessed"})

    assert response.status_code == 422
    assert "Please enter a correct username and password" in response.content.decode()
    assert "_auth_user_id" not in client.session


def test_whoever_is_signed_in_goes_home(client: Client, ada: User) -> None:
    client.force_login(ada)

    response = client.get("/sign-in/")

    assert response["Location"] == "/"


def test_htmx_reloads_the_page_whose_session_ran_out(client: Client, db: None) -> None:
    response = client.get("/account/", headers={"HX-Request": "true"}, follow=True)

    assert response["HX-Refresh"] == "true"
    assert response.content == b""


def test_the_demonstrations_log_ins_are_shown_on_a_demonstration_only(
    client: Client, db: None, settings: Settings
) -> None:
    assert "assize-demo" not in client.get("/sign-in/").content.decode()

    settings.DEMONSTRATION = True

    assert "assize-demo" in client.get("/sign-in/").content.decode()


def test_signs_out_by_post_alone(client: Client, ada: User) -> None:
    client.force_login(ada)

    assert client.get("/sign-out/").status_code == 405
    response = client.post("/sign-out/")

    assert response["Location"] == "/sign-in/"
    assert "_auth_user_id" not in client.session


def test_home_sends_a_stranger_to_the_sign_in_page(client: Client, db: None) -> None:
    response = client.get("/")

    assert response["Location"] == "/sign-in/?next=/"


def test_home_sends_a_researcher_to_the_studies(client: Client, rosa: User) -> None:
    client.force_login(rosa)

    response = client.get("/")

    assert response["Location"] == reverse("annotate:studies")


def test_home_sends_an_assessor_to_their_work(client: Client, ada: User) -> None:
    client.force_login(ada)

    response = client.get("/")

    assert response["Location"] == reverse("annotate:queue")
