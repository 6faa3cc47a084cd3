"""Notices by mail, for those who asked for it: what came together goes in one mail, which names studies and no more.

A notice is marked as mailed before the mail goes out, and not any more if it could not or must wait: nobody gets one
twice, and one whose worker dies at that moment stands on *My work* alone.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from celery import current_app
from django.conf import settings
from django.core.mail import EmailMessage
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.db.models import F, Max, Q
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext, override
from kombu.exceptions import OperationalError

from annotate.models import Notice
from collection.accounts.mails import deliver
from collection.models import User

logger = logging.getLogger(__name__)

# Notices of these minutes go in one mail; and between two mails to one person lie at least so many.
GATHERED_FOR = timedelta(minutes=5)
BETWEEN_MAILS = timedelta(minutes=30)

_signer = Signer(salt="annotate.notices.mails")


def ask_for_mails(users: Iterable[int]) -> None:
    """Have a worker mail what waits, in a while, to those of these people who want mails."""
    want = User.objects.filter(pk__in=users, is_active=True, mails_notices=True).exclude(email="")
    try:
        for pk in want.values_list("pk", flat=True):
            wait = int(GATHERED_FOR.total_seconds())
            current_app.send_task("annotate.mail_notices", args=[pk], countdown=wait, retry=False)
    except OperationalError:
        logger.warning("The broker does not answer; notices are shown and not mailed.", exc_info=True)


def mail_notices(*, user: User, at: datetime) -> timedelta | None:
    """Mail the person what they were not mailed. Returns how long to wait where the last mail is too recent, or the
    day's mails to their address are spent, which is asked again every half hour.

    Raises what the mail server's connection raises (OSError; SMTPException is one); then the notices wait again.
    """
    if not user.mails_notices or not user.email or not user.may_sign_in:
        return None
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        last: datetime | None = user.notices.aggregate(last=Max("mailed_at"))["last"]
        if last is not None and last + BETWEEN_MAILS > at:
            return last + BETWEEN_MAILS - at
        waiting = Q(mailed_at=None) | Q(mailed_at__lt=F("made_at"))
        notices = list(user.notices.filter(waiting, dismissed_at=None).select_related("study"))
        before = {notice.pk: notice.mailed_at for notice in notices}
        Notice.objects.filter(pk__in=before).update(mailed_at=at)
    if not notices:
        return None
    try:
        wait = deliver(mail_of(user, notices), about=user, at=at)
    except OSError:
        _take_back(before, at=at)
        raise
    if wait is None:
        return None
    _take_back(before, at=at)
    return min(wait, BETWEEN_MAILS)


def _take_back(before: Mapping[int, datetime | None], *, at: datetime) -> None:
    """Let the notices wait again, each with when it was mailed before."""
    for pk, mailed_at in before.items():
        Notice.objects.filter(pk=pk, mailed_at=at).update(mailed_at=mailed_at)


def mail_of(user: User, notices: Iterable[Notice]) -> EmailMessage:
    """Return the mail, in the person's language: what happened in which study, where, and what ends such mails."""
    site = settings.SITE_URL
    unsubscribe = f"{site}{reverse('annotate:notices_unsubscribe', args=[token_of(user)])}"
    context = {
        "notices": notices,
        "work": f"{site}{reverse('annotate:queue')}",
        "unsubscribe": unsubscribe,
    }
    with override(user.language or settings.LANGUAGE_CODE):
        return EmailMessage(
            subject=gettext("News about your studies"),
            body=render_to_string("annotate/notices_mail.txt", context),
            to=[user.email],
            headers={"List-Unsubscribe": f"<{unsubscribe}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
        )


def token_of(user: User) -> str:
    """Return what the link that ends this person's mails is made of."""
    return _signer.sign(str(user.pk))


def end_mails(token: str) -> User | None:
    """Send the person of this link no more notices. Returns them; None where nobody has such a link."""
    user = user_of(token)
    if user:
        User.objects.filter(pk=user.pk).update(mails_notices=False)
    return user


def user_of(token: str) -> User | None:
    try:
        return User.objects.filter(pk=int(_signer.unsign(token))).first()
    except (BadSignature, ValueError):
        return None
