"""What a person does with their own account."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext

from collection.models import ApiToken, User

# For how many days a token may be made; the last is the longest.
LIFETIMES = (7, 30, 90, 365)
MOST_TOKENS = 20


class NoToken(Exception):
    """No token is made: why."""


@transaction.atomic
def make_token(*, user: User, name: str, days: int, at: datetime, read_only: bool = False) -> tuple[ApiToken, str]:
    """Give the user a token that ends after so many days. Returns it with its key, which is kept nowhere in clear."""
    if not may_have_tokens(user):
        raise NoToken(gettext("An account without a password has no tokens."))
    User.objects.select_for_update().get(pk=user.pk)
    ApiToken.objects.filter(user=user, expiry__lte=at).delete()
    if ApiToken.objects.filter(user=user).count() >= MOST_TOKENS:
        raise NoToken(
            gettext("You have {most_tokens} tokens, the maximum. Revoke one that you no longer need.").format(
                most_tokens=MOST_TOKENS
            )
        )
    token, key = ApiToken.objects.create(
        user,
        expiry=timedelta(days=days),
        name=name,
        password_stamp=user.get_session_auth_hash(),
        read_only=read_only,
    )
    return token, key


def may_have_tokens(user: User) -> bool:
    """Whether somebody chose the account: those that a link made open what the link is for, in a browser."""
    return user.has_usable_password()


def tokens_of(user: User, *, at: datetime) -> list[ApiToken]:
    """Return the user's tokens that open something, the newest first."""
    return [token for token in ApiToken.objects.filter(user=user, expiry__gt=at) if fits_password(token, user)]


def fits_password(token: ApiToken, user: User) -> bool:
    """Whether the token was made under the password that the user has now."""
    return may_have_tokens(user) and constant_time_compare(token.password_stamp, user.get_session_auth_hash())


def revoke_token(*, user: User, digest: str) -> bool:
    """End one of the user's tokens. Returns whether there was one."""
    return bool(ApiToken.objects.filter(user=user, digest=digest).delete()[0])


def revoke_tokens(*, user: User) -> int:
    """End all of the user's tokens. Returns how many there were."""
    n_ended, _ = ApiToken.objects.filter(user=user).delete()
    return int(n_ended)
