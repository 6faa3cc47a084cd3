"""Mails: each goes through `deliver`; and those about accounts, which bring a link to choose a password or confirm an
address.

Workers send them, so neither how long the answer takes nor what it says tells whether an address is known.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
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
from django.utils.crypto import salted_hmac
from django.utils.encoding import force_bytes, force_str
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode
from django.utils.timezone import now
from django.utils.translation import gettext, gettext_lazy, override
from kombu.exceptions import OperationalError

from collection.models import UnconfirmedMail, User

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise

logger = logging.getLogger(__name__)

# For so long a link that confirms an address works, in seconds; that for a password as PASSWORD_RESET_TIMEOUT says.
CONFIRMS_FOR = 3 * 24 * 60 * 60
SALT = "collection.accounts.mails"
# To addresses that nobody has confirmed goes no more in a day, or an account could have the site write to strangers.
MOST_OF_AN_ACCOUNT = 5
MOST_TO_AN_ADDRESS = 3
A_DAY = timedelta(days=1)


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


# --- How often ------------------------------------------------------------------------------------


def deliver(message: EmailMessage, *, about: User, at: datetime, limited: bool = True) -> timedelta | None:
    """Send a mail about an account to one address. Returns how long it has to wait, and does not send it, where the
    day's mails to unconfirmed ones are spent.

    Not `limited` is what has a limit of its own. Raises what the mail server's connection raises (OSError;
    SMTPException is one).
    """
    (address,) = message.to
    if not limited or _hash_of(address) == about.confirmed_address:
        message.send()
        return None
    with transaction.atomic():
        User.objects.select_for_update().get(pk=about.pk)
        UnconfirmedMail.objects.filter(at__lte=at - A_DAY).delete()
        if wait := wait_for_mail(about, address, at=at):
            logger.warning("A mail to an address that is not confirmed is left out: there were too many in a day.")
            return wait
        counted = UnconfirmedMail.objects.create(account=about, address=_hash_of(address), at=at)
    try:
        message.send()
    except OSError:
        counted.delete()
        raise
    return None


def wait_for_mail(about: User, address: str, *, at: datetime) -> timedelta | None:
    """Return how long no mail goes to this address, unconfirmed, about the account; None where one may go now."""
    recent = UnconfirmedMail.objects.filter(at__gt=at - A_DAY).order_by("-at")
    limits = (
        (recent.filter(account=about), MOST_OF_AN_ACCOUNT),
        (recent.filter(address=_hash_of(address)), MOST_TO_AN_ADDRESS),
    )
    full = [times[-1] for rows, most in limits if len(times := list(rows.values_list("at", flat=True)[:most])) == most]
    return max(full) + A_DAY - at if full else None


def _hash_of(address: str) -> str:
    return salted_hmac("collection.accounts.mails.address", address.lower(), algorithm="sha256").hexdigest()


# --- Forgotten passwords --------------------------------------------------------------------------


def mail_reset(address: str) -> None:
    """Mail each account with this address, that signs in by password, a link by which to choose another."""
    for user in resettable(address):
        uid = urlsafe_base64_encode(force_bytes(user.pk))
        path = reverse("password_reset", args=[uid, default_token_generator.make_token(user)])
        context = {"user": user, "link": f"{settings.SITE_URL}{path}"}
        # Who asks is limited (`mail_views.may_ask`), and an address that somebody typed on joining has no password.
        message = _mail(user, gettext_lazy("Your password"), "account/password_reset_mail.txt", context, to=user.email)
        deliver(message, about=user, at=now(), limited=False)


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


def _mail(user: User, subject: StrPromise, template: str, context: dict[str, Any], *, to: str) -> EmailMessage:
    """Return the mail in the language of its receiver, which is not always that of whoever asked for it."""
    with override(user.language or settings.LANGUAGE_CODE):
        return EmailMessage(str(subject), render_to_string(template, context), to=[to])


# --- Addresses ------------------------------------------------------------------------------------


def mail_confirmation(user: int, address: str) -> None:
    """Mail a link to an address that somebody gave as theirs."""
    person = User.objects.get(pk=user)
    token = dumps({"user": person.pk, "address": address, "instead_of": person.email}, salt=SALT)
    context = {"user": person, "link": f"{settings.SITE_URL}{reverse('address_confirm', args=[token])}"}
    message = _mail(person, gettext_lazy("Your mail address"), "account/address_mail.txt", context, to=address)
    deliver(message, about=person, at=now())


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
    User.objects.filter(pk=user.pk).update(email=address, confirmed_address=_hash_of(address))
    return user


def forget_address(user: User) -> None:
    """Remove the person's address. They get no mails any more; what went to it counts until the day is over."""
    User.objects.filter(pk=user.pk).update(email="", confirmed_address="", mails_notices=False)
