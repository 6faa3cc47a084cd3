"""Notices by mail: for those who asked, a few in one, without end for nobody."""

from __future__ import annotations

from datetime import datetime, timedelta
from email.utils import parseaddr
from smtplib import SMTPServerDisconnected
from typing import Any

import pytest
from celery import current_app
from celery.exceptions import Retry
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client
from django.utils.translation import gettext, override
from kombu.exceptions import OperationalError
from pytest_django import DjangoCaptureOnCommitCallbacks

from annotate import celery_tasks
from annotate.notices.mails import BETWEEN_MAILS, mail_notices, token_of
from annotate.notices.notices import Kind, dismiss, notify
from collection.accounts.mails import A_DAY, MOST_TO_AN_ADDRESS
from collection.models import Study, User
from tests.annotate.factories import NOON
from tests.factories import a_study


@pytest.fixture
def subscriber(ada: User) -> User:
    ada.email, ada.mails_notices = "ada@example.org", True
    ada.save()
    return ada


def later(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def test_what_came_together_is_one_mail(study: Study, subscriber: User) -> None:
    study.title = "Bridges"
    study.save()
    notify([subscriber.pk], study=study, kind=Kind.GUIDELINES, at=NOON)
    notify([subscriber.pk], study=a_study(study.collection, name="second"), kind=Kind.NEW_WORK, at=NOON)

    mail_notices(user=subscriber, at=later(1))
    mail_notices(user=subscriber, at=later(60))

    (sent,) = mail.outbox
    assert sent.to == ["ada@example.org"]
    assert parseaddr(sent.from_email)[1] == "assize@localhost"
    assert "Bridges: The guidelines were revised." in sent.body
    assert "second: There is new work for you." in sent.body
    assert "http://localhost:8000/work/" in sent.body


def test_a_mail_speaks_its_readers_language(study: Study, subscriber: User) -> None:
    User.objects.filter(pk=subscriber.pk).update(language="de")
    notify([subscriber.pk], study=study, kind=Kind.CLOSED, at=NOON)
    subscriber.refresh_from_db()

    mail_notices(user=subscriber, at=later(1))

    (sent,) = mail.outbox
    with override("de"):
        assert sent.subject == gettext("News about your studies") != "News about your studies"
        assert gettext("The study is closed. Thank you!") in sent.body
    assert "Thank you" not in sent.body


@pytest.mark.parametrize("field", [{"mails_notices": False}, {"email": ""}, {"is_active": False}])
def test_nobody_else_gets_mail(study: Study, subscriber: User, field: dict[str, Any]) -> None:
    for name, value in field.items():
        setattr(subscriber, name, value)
    subscriber.save()
    notify([subscriber.pk], study=study, kind=Kind.GUIDELINES, at=NOON)

    mail_notices(user=subscriber, at=later(1))

    assert mail.outbox == []


def test_between_two_mails_lies_some_time(study: Study, subscriber: User) -> None:
    notify([subscriber.pk], study=study, kind=Kind.GUIDELINES, at=NOON)
    mail_notices(user=subscriber, at=later(1))
    notify([subscriber.pk], study=study, kind=Kind.GUIDELINES, at=later(2))

    wait = mail_notices(user=subscriber, at=later(11))
    too_early = len(mail.outbox)
    mail_notices(user=subscriber, at=later(31))

    assert wait == BETWEEN_MAILS - timedelta(minutes=10)
    assert (too_early, len(mail.outbox)) == (1, 2)


def test_what_was_dismissed_is_not_mailed(study: Study, subscriber: User) -> None:
    notify([subscriber.pk], study=study, kind=Kind.GUIDELINES, at=NOON)
    dismiss(user=subscriber, at=later(1))

    mail_notices(user=subscriber, at=later(2))

    assert mail.outbox == []


def test_what_is_over_the_days_limit_waits_and_is_not_lost(study: Study, subscriber: User) -> None:
    minutes = [*range(0, 40 * MOST_TO_AN_ADDRESS, 40)]
    for minute in minutes:
        notify([subscriber.pk], study=study, kind=Kind.GUIDELINES, at=later(minute))
        mail_notices(user=subscriber, at=later(minute + 1))
    notify([subscriber.pk], study=study, kind=Kind.CLOSED, at=later(minutes[-1] + 40))

    wait = mail_notices(user=subscriber, at=later(minutes[-1] + 41))
    on_the_day = len(mail.outbox)
    on_the_next = mail_notices(user=subscriber, at=later(2) + A_DAY)

    assert (wait, on_the_next) == (BETWEEN_MAILS, None)
    assert (on_the_day, len(mail.outbox)) == (MOST_TO_AN_ADDRESS, MOST_TO_AN_ADDRESS + 1)
    assert not subscriber.notices.filter(mailed_at=None).exists()


def test_a_mail_server_that_fails_gets_it_again(
    study: Study, subscriber: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> int:
        raise SMTPServerDisconnected("Gone.")

    notify([subscriber.pk], study=study, kind=Kind.GUIDELINES, at=NOON)
    with monkeypatch.context() as broken:
        broken.setattr(EmailBackend, "send_messages", fail)
        with pytest.raises(SMTPServerDisconnected):
            mail_notices(user=subscriber, at=later(1))

    mail_notices(user=subscriber, at=later(2))

    assert len(mail.outbox) == 1


def test_the_job_tries_so_often_and_no_more(study: Study, subscriber: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> int:
        raise SMTPServerDisconnected("Gone.")

    monkeypatch.setattr(EmailBackend, "send_messages", fail)
    notify([subscriber.pk], study=study, kind=Kind.GUIDELINES, at=NOON)

    with pytest.raises(Retry):
        celery_tasks.mail_notices.apply(args=(subscriber.pk,), retries=celery_tasks.MOST_TRIES - 1, throw=True)
    with pytest.raises(SMTPServerDisconnected):
        celery_tasks.mail_notices.apply(args=(subscriber.pk,), retries=celery_tasks.MOST_TRIES, throw=True)


def test_a_worker_is_asked_after_the_commit_for_those_who_want_mails(
    study: Study,
    subscriber: User,
    ben: User,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    asked: list[tuple[str, list[int]]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **_: asked.append((name, args)))

    with django_capture_on_commit_callbacks(execute=True):
        notify([subscriber.pk, ben.pk], study=study, kind=Kind.CLOSED, at=NOON)
        before = list(asked)

    assert before == []
    assert asked == [("annotate.mail_notices", [subscriber.pk])]


def test_a_broker_that_is_down_stops_nothing(
    study: Study,
    subscriber: User,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("Gone.")

    monkeypatch.setattr(current_app, "send_task", fail)

    with django_capture_on_commit_callbacks(execute=True):
        notify([subscriber.pk], study=study, kind=Kind.CLOSED, at=NOON)

    assert subscriber.notices.count() == 1


# --- The end of mails -------------------------------------------------------------------------------


def test_the_link_in_a_mail_ends_mails_with_one_click_and_without_signing_in(study: Study, subscriber: User) -> None:
    notify([subscriber.pk], study=study, kind=Kind.CLOSED, at=NOON)
    mail_notices(user=subscriber, at=later(1))
    message = mail.outbox[0].message()
    link = message["List-Unsubscribe"].strip("<>").removeprefix("http://localhost:8000")
    program = Client(enforce_csrf_checks=True)

    looked = program.get(link)
    subscriber.refresh_from_db()
    still_on = subscriber.mails_notices
    done = program.post(link, {"List-Unsubscribe": "One-Click"})

    subscriber.refresh_from_db()
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert "End the mails" in looked.text
    assert still_on
    assert "no more mails" in done.text
    assert not subscriber.mails_notices


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_made_up_link_ends_nobodys(client: Client, subscriber: User, method: str) -> None:
    token = token_of(subscriber).replace(":", "x:")

    assert getattr(client, method)(f"/notices/unsubscribe/{token}/").status_code == 404
    assert getattr(client, method)(f"/notices/unsubscribe/{subscriber.pk}/").status_code == 404
    subscriber.refresh_from_db()
    assert subscriber.mails_notices
