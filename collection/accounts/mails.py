"""Mails about accounts: a link for whoever forgot their password, and one that confirms a new address.

Workers send them, so neither how long the answer takes nor what it says tells whether an address is known.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from celery import current_app
from django.conf import settings
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import EmailMessage
from django.core.signing import BadSignature, dumps, loads
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.encoding import force_bytes, force_str
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode
from django.utils.translation import gettext, gettext_lazy, override
from kombu.exceptions import OperationalError

from collection.models import User

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise

logger = logging.getLogger(__name__)

# For so long a link that confirms an address works, in seconds; that for a password as PASSWORD_RESET_TIMEOUT says.
CONFIRMS_FOR = 3 * 24 * 60 * 60
SALT = "collection.accounts.mails"


class NoMailsNow(Exception):
    """Nobody is there to send mails."""


def ask_for_mail(job: str, *args: Any) -> None:
    """Have a worker send a mail; without workers, send it now. Raises NoMailsNow."""
    try:
        if settings.WORK_AT_ONCE:
            jobs: dict[str, Callable[..., None]] = {
                "collection.mail_reset": mail_reset,
                "collection.mail_confirmation": mail_confirmation,
            }
            jobs[job](*args)
        else:
            current_app.send_task(job, args=args, retry=False)
    except (OSError, OperationalError) as error:
        logger.warning("A mail could not be sent.", exc_info=True)
        raise NoMailsNow(gettext("Mails cannot be sent at this moment. Please try again later.")) from error


# --- Forgotten passwords --------------------------------------------------------------------------


def mail_reset(address: str) -> None:
    """Mail each account with this address, that signs in by password, a link by which to choose another."""
    for user in resettable(address):
        uid = urlsafe_base64_encode(force_bytes(user.pk))
        path = reverse("password_reset", args=[uid, default_token_generator.make_token(user)])
        context = {"user": user, "link": f"{settings.SITE_URL}{path}"}
        _mail(user, gettext_lazy("Your password"), "account/password_reset_mail.txt", context, to=user.email)


def resettable(address: str) -> Iterator[User]:
    """Yield the accounts with this address that may sign in and have a password."""
    for user in PasswordResetForm().get_users(address):
        if isinstance(user, User) and user.may_sign_in and not user.is_demonstration:
            yield user


def user_to_reset(uid: str, token: str) -> User | None:
    """Return whose link this is, if it still works: until the password is changed, and for some days."""
    try:
        user = User.objects.filter(pk=int(force_str(urlsafe_base64_decode(uid)))).first()
    except ValueError:
        return None
    return user if user and user.may_sign_in and default_token_generator.check_token(user, token) else None


def _mail(user: User, subject: StrPromise, template: str, context: dict[str, Any], *, to: str) -> None:
    """Send the mail in the language of its receiver, which is not always that of whoever asked for it."""
    with override(user.language or settings.LANGUAGE_CODE):
        EmailMessage(str(subject), render_to_string(template, context), to=[to]).send()


# --- Addresses ------------------------------------------------------------------------------------


def mail_confirmation(user: int, address: str) -> None:
    """Mail a link to an address that somebody gave as theirs."""
    person = User.objects.get(pk=user)
    token = dumps({"user": person.pk, "address": address, "instead_of": person.email}, salt=SALT)
    context = {"user": person, "link": f"{settings.SITE_URL}{reverse('address_confirm', args=[token])}"}
    _mail(person, gettext_lazy("Your mail address"), "account/address_mail.txt", context, to=address)


def address_of_link(token: str) -> tuple[User, str] | None:
    """Return whose address a link confirms, and which; None where it no longer does."""
    try:
        told = loads(token, salt=SALT, max_age=CONFIRMS_FOR)
    except BadSignature:
        return None
    user = User.objects.filter(pk=told["user"], email=told["instead_of"], is_active=True).first()
    return (user, told["address"]) if user else None


@transaction.atomic
def confirm_address(token: str) -> User | None:
    """Let the address that a link confirms be its person's. Returns them; None where the link no longer works."""
    found = address_of_link(token)
    if found is None:
        return None
    user, address = found
    User.objects.filter(pk=user.pk).update(email=address)
    return user


def forget_address(user: User) -> None:
    """Remove the person's address. They get no mails any more."""
    User.objects.filter(pk=user.pk).update(email="", mails_notices=False)
