"""To addresses that nobody has confirmed the site writes a few times a day, whichever of its doors is used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.test import Client
from django.utils.timezone import now

from annotate.crowd.invitations import accept_invitation, make_invitation
from annotate.crowd.privacy import close_account
from annotate.notices.mails import BETWEEN_MAILS, mail_notices
from annotate.notices.notices import Kind, notify
from collection.accounts.mails import A_DAY, MOST_OF_AN_ACCOUNT, MOST_TO_AN_ADDRESS, deliver, mail_confirmation
from collection.models import Study, UnconfirmedMail, User
from tests.annotate.factories import an_open_study
from tests.attacks.world import a_world, addresses, path_of
from tests.factories import PASSWORD, a_user

pytestmark = pytest.mark.django_db


def give(client: Client, address: str, at: str = "/account/address/") -> int:
    """Give a stranger's address wherever a form may ask for one."""
    names = ("email", "address", "contact", "username")
    fields = dict.fromkeys(names, address) | {"name": "x", "address_password": PASSWORD}
    return client.post(at, fields).status_code


def strangers() -> Iterator[str]:
    return (f"stranger-{number}@example.org" for number in range(10_000))


def test_sixty_posts_reach_five_strangers(client: Client, ada: User) -> None:
    client.force_login(ada)
    unknown = strangers()

    said = [give(client, next(unknown)) for _ in range(60)]

    assert said == [302] * MOST_OF_AN_ACCOUNT + [429] * 55
    assert len(mail.outbox) == MOST_OF_AN_ACCOUNT


def test_many_accounts_reach_a_stranger_three_times(db: None) -> None:
    said = []
    for number in range(6):
        client = Client()
        client.force_login(a_user(f"many-{number}"))
        said.append(give(client, f"{'Stranger' if number % 2 else 'stranger'}@example.org"))

    assert said == [302] * MOST_TO_AN_ADDRESS + [429] * 3
    assert len(mail.outbox) == MOST_TO_AN_ADDRESS


def test_on_the_next_day_a_mail_may_go_again(ada: User) -> None:
    def send(minutes: int) -> None:
        message = EmailMessage("x", "x", to=["stranger@example.org"])
        deliver(message, about=ada, at=now() + timedelta(minutes=minutes))

    for minutes in (*range(5), A_DAY // timedelta(minutes=1) + 1):
        send(minutes)

    assert len(mail.outbox) == MOST_TO_AN_ADDRESS + 1
    assert UnconfirmedMail.objects.count() == 2  # those of yesterday's first minutes are forgotten


def test_what_the_mail_server_did_not_take_does_not_count(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError("no server")

    monkeypatch.setattr(EmailMessage, "send", fail)

    with pytest.raises(OSError, match="no server"):
        mail_confirmation(ada.pk, "stranger@example.org")

    assert not UnconfirmedMail.objects.exists()


@pytest.mark.parametrize(("confirmed", "n"), [(False, MOST_TO_AN_ADDRESS), (True, 6)])
def test_notices_to_an_address_that_was_typed_on_joining_are_as_few(
    study: Study, rosa: User, client: Client, confirmed: bool, n: int
) -> None:
    an_open_study(study)
    until = now() + timedelta(days=9)
    link = make_invitation(study=study, note="", most_uses=1, expires_at=until, by=rosa)
    joined, _ = accept_invitation(invitation=link, name="x", email="stranger@example.org", at=now())
    if confirmed:
        mail_confirmation(joined.user.pk, "stranger@example.org")
        (path,) = re.findall(r"http://localhost:8000(/account/address/\S+)", str(mail.outbox.pop().body))
        client.post(path)
    User.objects.filter(pk=joined.user.pk).update(mails_notices=True)
    user = User.objects.get(pk=joined.user.pk)

    for number in range(6):
        at = now() + number * (BETWEEN_MAILS + timedelta(minutes=1))
        notify([user.pk], study=study, kind=Kind.GUIDELINES, at=at)
        mail_notices(user=user, at=at + timedelta(seconds=1))

    assert len(mail.outbox) == n


def confirmed(user: User) -> str:
    """Let the person confirm an address, and return its keyed hash."""
    mail_confirmation(user.pk, "ada@example.org")
    (path,) = re.findall(r"http://localhost:8000(/account/address/\S+)", str(mail.outbox.pop().body))
    Client().post(path)
    return User.objects.get(pk=user.pk).confirmed_address


def test_an_address_that_is_removed_leaves_no_hash_and_the_days_limit_stays(client: Client, ada: User) -> None:
    before = confirmed(ada)
    client.force_login(User.objects.get(pk=ada.pk))

    client.post("/account/address/", {"email": "", "address_password": PASSWORD})

    after = User.objects.get(pk=ada.pk)
    assert (bool(before), after.email, after.confirmed_address) == (True, "", "")
    assert UnconfirmedMail.objects.count() == 1


def test_a_closed_account_keeps_no_hash_of_an_address(ada: User) -> None:
    before = confirmed(ada)

    close_account(user=ada, at=now())

    assert before
    assert User.objects.get(pk=ada.pk).confirmed_address == ""


@pytest.mark.slow
def test_no_address_of_the_site_writes_to_more_strangers() -> None:
    world, unknown = a_world(), strangers()
    people = [role for role, user in world.people.items() if role in {"anonymous", "ada", "rosa"}]
    for role in people:
        for address in addresses():
            for _ in range(1 + MOST_OF_AN_ACCOUNT):
                client, n_sent = Client(raise_request_exception=False), len(mail.outbox)
                if user := world.people[role]:
                    client.force_login(user)
                give(client, next(unknown), path_of(address, world))
                if len(mail.outbox) == n_sent:
                    break

    assert len(mail.outbox) == 2 * MOST_OF_AN_ACCOUNT
