"""How people sign in with a password, and what holds back those who guess.

django-axes counts failures in the database, which all processes share. Three limits hold within `COOL_OFF`, each ends
by itself, and none can be kept up against a person by others:

* an account from one address (`AXES_FAILURE_LIMIT`): whoever guesses shuts out nobody but themselves;
* an address, whatever the names (`MOST_FROM_AN_ADDRESS`);
* an account from anywhere (`MOST_FOR_AN_ACCOUNT`): from then on an address has one try at it, so guessing from many
  addresses yields little, and its owner still comes in.

A browser that its owner has signed in from before is known by a signed cookie and counts as an address of its own, so
somebody in the same house or office shuts no one out. Locked out means: refused before a password is hashed. Hashing
takes a quarter of a second of a thread, so no more than `HASHING_AT_ONCE` of a process's threads do it. Links of crowd
sites and invitations need no password and pass by all of this.

Neither names nor addresses are stored: both are counted by a keyed hash.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db.models import Q, Sum
from django.http import HttpRequest, HttpResponseBase
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, gettext_lazy
from rest_framework.exceptions import APIException

from collection.models import User

MOST_FROM_AN_ADDRESS = 50
MOST_FOR_AN_ACCOUNT = 100
# Of the four threads of each web process (Procfile).
HASHING_AT_ONCE = 2
SHORTEST_FOR_RESEARCHERS = 12
SHORTEST_FOR_ASSESSORS = 8
KNOWN = "known"
A_YEAR = 60 * 60 * 24 * 365

_hashing = threading.BoundedSemaphore(HASHING_AT_ONCE)


class Busy(APIException):
    """Too many passwords are being hashed at this moment; nothing was tried."""

    status_code = 503
    default_detail = gettext_lazy("Many people are signing in at this moment. Please try again in a few seconds.")


@contextmanager
def hashing() -> Iterator[None]:
    """Hold one of the few seats for hashing. Raises Busy at once where all are taken: waiting would take a thread."""
    if not _hashing.acquire(blocking=False):
        raise Busy
    try:
        yield
    finally:
        _hashing.release()


class PasswordBackend(ModelBackend):
    """Django's own, for accounts that may sign in. A session of one that may not any more ends at its next request."""

    def authenticate(self, request: Any, username: Any = None, password: Any = None, **kwargs: Any) -> Any:
        with hashing():
            return super().authenticate(request, username=username, password=password, **kwargs)

    def user_can_authenticate(self, user: Any) -> bool:
        return isinstance(user, User) and user.may_sign_in


# --- Guessing -------------------------------------------------------------------------------------


class Throttle(AxesDatabaseHandler):  # type: ignore[misc]
    """Axes' counts in the database under the limits that this module describes."""

    def get_failures(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> int:
        """Return how often this account failed from this address; the limit itself where another one is reached."""
        account, address = account_of(request, credentials), address_of(request)
        recent = AccessAttempt.objects.filter(
            Q(username=account) | Q(ip_address=address), attempt_time__gt=get_cool_off_threshold(request)
        )
        n = recent.aggregate(
            here=Sum("failures_since_start", filter=Q(username=account, ip_address=address), default=0),
            account=Sum("failures_since_start", filter=Q(username=account), default=0),
            address=Sum("failures_since_start", filter=Q(ip_address=address), default=0),
        )
        limit: int = settings.AXES_FAILURE_LIMIT
        guessed = n["account"] >= MOST_FOR_AN_ACCOUNT and n["here"] >= 1 and not known_browser(request)
        return limit if guessed or n["address"] >= MOST_FROM_AN_ADDRESS else int(n["here"])

    def user_login_failed(self, sender: Any, credentials: Any, request: Any = None, **kwargs: Any) -> None:
        if request is not None:  # what tells nothing of the limits, and something of the person
            request.axes_user_agent = request.axes_http_accept = request.axes_path_info = ""
        super().user_login_failed(sender, credentials, request, **kwargs)


def account_of(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """Return what the account that is tried is counted as. One that does not exist counts like any other."""
    name = (credentials or request.POST).get("username") or ""
    return salted_hmac("collection.accounts.sign_in.account", name, algorithm="sha256").hexdigest()


def address_of(request: HttpRequest) -> str:
    """Return what the request's address is counted as: an address that nobody has, made of a keyed hash.

    A browser from which the account was signed in before counts as an address of its own; an IPv6 address as the /64
    that one subscriber has.
    """
    browser = known_browser(request)
    return _disguised(f"browser {browser}" if browser else f"address {_sender_of(request)}")


def known_browser(request: HttpRequest) -> str:
    """Return what tells this browser from others, if the account that is tried was signed in from it before."""
    held = request.get_signed_cookie(KNOWN, "", salt=KNOWN, max_age=A_YEAR) or ""
    account, _, browser = held.partition(".")
    return browser if account == account_of(request) else ""


def remember_browser(request: HttpRequest, response: HttpResponseBase, username: str) -> None:
    """Let this browser count as an address of its own when this account is signed in from it again."""
    account = account_of(request, {"username": username})
    if known_browser(request):
        return
    response.set_signed_cookie(
        KNOWN,
        f"{account}.{secrets.token_urlsafe(16)}",
        salt=KNOWN,
        max_age=A_YEAR,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def _sender_of(request: HttpRequest) -> str:
    """Return the address that the outermost proxy of ours saw; without proxies, that of the connection."""
    told = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    connected: str = request.META.get("REMOTE_ADDR", "")
    sender = told[-settings.PROXIES].strip() if 0 < settings.PROXIES <= len(told) else connected
    try:
        found = ip_address(sender)
    except ValueError:
        return connected
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or ip_network((found, 64), strict=False))
    return str(found)


def _disguised(sender: str) -> str:
    digest = salted_hmac("collection.accounts.sign_in.address", sender, algorithm="sha256").digest()
    return str(IPv6Address(b"\xfd" + digest[:15]))


# --- Passwords ------------------------------------------------------------------------------------


class LongEnough:
    """Twelve characters for whoever can see or change other people's work; eight for those who only assess.

    An assessor's account holds their own labels alone, is often made for an afternoon, and is typed on a phone. Spaces
    at the ends do not count, so no password is blank.
    """

    def validate(self, password: str, user: Any = None) -> None:
        shortest = shortest_for(user)
        if len(password.strip()) < shortest:
            raise ValidationError(
                gettext("This password is too short: it needs {n} characters, without spaces at its ends.").format(
                    n=shortest
                ),
                code="password_too_short",
            )

    def get_help_text(self) -> str:
        return gettext(
            "At least {n} characters for researchers and administrators, {n_assessors} for assessors."
        ).format(n=SHORTEST_FOR_RESEARCHERS, n_assessors=SHORTEST_FOR_ASSESSORS)


def is_too_weak(password: str, user: User) -> bool:
    """Whether a researcher or administrator signed in with a password that no one of them could choose now."""
    if user.is_demonstration or not _sees_others_work(user):
        return False
    try:
        validate_password(password, user)
    except ValidationError:
        return True
    return False


def shortest_for(user: Any) -> int:
    """Return how long a password of this account must be. One that is only being made may become anybody's."""
    is_assessor = isinstance(user, User) and user.pk and not _sees_others_work(user)
    return SHORTEST_FOR_ASSESSORS if is_assessor else SHORTEST_FOR_RESEARCHERS


def _sees_others_work(user: User) -> bool:
    return user.is_researcher or user.is_staff or user.is_superuser
