"""Who forgot their password gets a link by mail, if their account has an address; nobody learns whether it has."""

from __future__ import annotations

import re
from typing import Any

import pytest
from celery import current_app
from django.core import mail
from django.test import Client
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext, override
from kombu.exceptions import OperationalError
from playwright.sync_api import Page, expect
from pytest_django import Settings

from collection.accounts.mails import mail_confirmation
from collection.models import User
from tests.browser import check_accessibility, check_no_sideways_scroll
from tests.factories import PASSWORD, a_token, a_user

NEW = "horse battery staple"


@pytest.fixture
def reachable(ada: User) -> User:
    ada.email = "ada@example.org"
    ada.save()
    return ada


def ask(address: str, *, by: Client | None = None, sender: str = "203.0.113.7") -> Any:
    return (by or Client()).post("/password/forgotten/", {"email": address}, REMOTE_ADDR=sender)


def the_link() -> str:
    (sent,) = mail.outbox
    (link,) = re.findall(r"http://localhost:8000(/password/reset/\S+)", str(sent.body))
    return str(link)


def choose(client: Client, link: str, password: str = NEW) -> Any:
    return client.post(link, {"new_password1": password, "new_password2": password}, follow=True)


def test_the_link_lets_her_choose_another_password_once(client: Client, reachable: User) -> None:
    ask("Ada@Example.org")
    link = the_link()

    page = client.get(link)
    changed = choose(client, link)
    again = choose(client, link, "something else entirely")

    reachable.refresh_from_db()
    assert mail.outbox[0].to == ["ada@example.org"]
    assert "ada" in page.text
    assert "Your password is changed" in changed.text
    assert reachable.check_password(NEW)
    assert again.status_code == 410
    assert "used already" in again.text


def test_mails_about_an_account_speak_its_language(reachable: User) -> None:
    User.objects.filter(pk=reachable.pk).update(language="fr")

    ask("ada@example.org")
    mail_confirmation(reachable.pk, "new@example.org")

    with override("fr"):
        assert [sent.subject for sent in mail.outbox] == [gettext("Your password"), gettext("Your mail address")]
        assert gettext("If it was not you, ignore this mail: nothing was changed.") in mail.outbox[1].body
    assert "nothing was changed" not in "".join(str(sent.body) for sent in mail.outbox)


def test_sessions_and_tokens_end_with_the_old_password(client: Client, reachable: User) -> None:
    client.force_login(reachable)
    token = a_token(reachable)
    ask("ada@example.org")

    choose(Client(), the_link())

    assert client.get("/account/").status_code == 302
    assert Client().get("/api/v1/studies/", headers={"Authorization": f"Token {token}"}).status_code == 401


def test_the_answer_is_the_same_whether_the_address_is_known(reachable: User) -> None:
    known, unknown = (
        re.sub(r'"csrf[^>]*>|X-CSRFToken": "\w+', "", ask(a).text) for a in ("ada@example.org", "x@x.org")
    )

    assert known == unknown
    assert len(mail.outbox) == 1


@pytest.mark.parametrize("field", [{"is_active": False}, {"is_demonstration": True}, {"password": "!none"}])
def test_nobody_who_does_not_sign_in_by_password_gets_one(reachable: User, field: dict[str, Any]) -> None:
    User.objects.filter(pk=reachable.pk).update(**field)

    ask("ada@example.org")

    assert mail.outbox == []


def test_no_address_means_no_account_without_one(ada: User) -> None:
    response = ask("")

    assert response.status_code == 422
    assert mail.outbox == []


def test_asking_often_is_held_back_whoever_is_asked_about(reachable: User) -> None:
    known = [ask("ada@example.org").status_code for _ in range(6)]
    unknown = [ask("x@x.org").status_code for _ in range(6)]
    elsewhere = ask("ada@example.org", sender="198.51.100.9").status_code

    assert known == unknown == [200, 200, 200, 200, 429, 429]
    assert elsewhere == 200
    assert len(mail.outbox) == 5


def test_being_held_back_shuts_nobody_out_of_signing_in(client: Client, reachable: User) -> None:
    for _ in range(6):
        ask("ada@example.org")

    response = client.post("/sign-in/", {"username": "ada", "password": PASSWORD}, REMOTE_ADDR="203.0.113.7")

    assert response.status_code == 302


@pytest.mark.parametrize("link", ["/password/reset/x/y/", "/password/reset/MQ/set-password/", "/password/reset/é/x/"])
def test_a_made_up_link_opens_nothing(client: Client, ada: User, link: str) -> None:
    assert client.get(link).status_code == 410
    assert choose(client, link).status_code == 410


def test_a_link_of_somebody_else_opens_nothing(client: Client, reachable: User) -> None:
    ben = a_user("ben")
    ask("ada@example.org")
    _, _, _, uid, token, _ = the_link().split("/")
    of_ben = urlsafe_base64_encode(force_bytes(ben.pk))

    assert uid != of_ben
    assert choose(client, f"/password/reset/{of_ben}/{token}/").status_code == 410


def test_a_weak_password_is_refused(client: Client, reachable: User) -> None:
    ask("ada@example.org")

    assert choose(client, the_link(), "short").status_code == 422
    reachable.refresh_from_db()
    assert reachable.check_password(PASSWORD)


def test_where_no_mail_can_be_sent_it_says_so_of_every_address(
    reachable: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("Gone.")

    settings.WORK_AT_ONCE = False
    monkeypatch.setattr(current_app, "send_task", fail)

    answers = [ask(address) for address in ("ada@example.org", "x@x.org")]

    assert [answer.status_code for answer in answers] == [503, 503]
    assert "Please try again later" in answers[0].text


# --- One's own address ------------------------------------------------------------------------------


def give(client: Client, address: str, password: str = PASSWORD) -> Any:
    return client.post("/account/address/", {"email": address, "address_password": password}, follow=True)


def test_an_address_is_hers_once_she_opens_the_link_that_was_mailed_to_it(client: Client, ada: User) -> None:
    client.force_login(ada)

    said = give(client, "ada@example.org").text
    ada.refresh_from_db()
    before = ada.email
    (link,) = re.findall(r"http://localhost:8000(/account/address/\S+)", str(mail.outbox[0].body))
    looked = Client().get(link)
    ada.refresh_from_db()
    after_looking = ada.email
    Client().post(link)

    ada.refresh_from_db()
    assert "We sent a link to ada@example.org" in said
    assert "Is ada@example.org the address" in looked.text
    assert (before, after_looking, ada.email) == ("", "", "ada@example.org")
    assert Client().post(link).status_code == 404


def test_the_address_needs_the_password(client: Client, ada: User) -> None:
    client.force_login(ada)

    statuses = [give(client, "ada@example.org", "guessed").status_code for _ in range(5)]

    assert statuses == [422, 422, 422, 422, 429]
    assert mail.outbox == []


def test_removing_the_address_ends_mails(client: Client, reachable: User) -> None:
    client.force_login(reachable)
    client.post("/account/notices/", {"mails_notices": "on"})
    reachable.refresh_from_db()
    wanted = reachable.mails_notices

    give(client, "")

    reachable.refresh_from_db()
    assert wanted
    assert (reachable.email, reachable.mails_notices) == ("", False)


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_made_up_address_link_confirms_nothing(client: Client, ada: User, method: str) -> None:
    assert getattr(client, method)("/account/address/x:y:z/").status_code == 404


@pytest.mark.browser
def test_the_whole_way_in_the_browser(page: Page, phone: Page, reachable: User) -> None:
    page.goto("/sign-in/")
    page.get_by_role("link", name="Forgotten password?").click()
    check_accessibility(page)
    page.get_by_label("Mail address").fill("ada@example.org")
    page.get_by_role("button", name="Mail me a link").click()
    expect(page.get_by_text("a mail is on its way")).to_be_visible()
    check_accessibility(page)

    phone.goto(the_link())
    check_accessibility(phone)
    check_no_sideways_scroll(phone)
    phone.get_by_label("New password", exact=True).fill(NEW)
    phone.get_by_label("New password confirmation").fill(NEW)
    phone.get_by_role("button", name="Change the password").click()
    phone.get_by_label("Username").fill("ada")
    phone.get_by_label("Password").fill(NEW)
    phone.get_by_role("button", name="Sign in").click()

    expect(phone.get_by_role("heading", name="My work")).to_be_visible()
