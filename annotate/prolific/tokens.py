"""Researchers' tokens for Prolific's API: kept encrypted, read for a request, shown to nobody.

The key follows from SECRET_KEY, so a copy of the database alone opens none of them. With another SECRET_KEY they
have to be entered again.
"""

from __future__ import annotations

import base64
from datetime import datetime

from cryptography.fernet import Fernet, InvalidToken
from django.utils.crypto import salted_hmac

from annotate.models import SiteToken
from collection.models import User

SALT = "annotate.crowd.site-token"


class NoToken(Exception):
    """The researcher has no token here that could be used."""


def keep_token(*, user: User, token: str, at: datetime) -> None:
    """Keep the researcher's token in the place of any earlier one."""
    sealed = _fernet().encrypt(token.encode()).decode()
    SiteToken.objects.update_or_create(user=user, defaults={"sealed": sealed, "set_at": at})


def forget_token(*, user: User) -> bool:
    """Delete it. Returns whether there was one."""
    return bool(SiteToken.objects.filter(user=user).delete()[0])


def token_of(user: User) -> str:
    """Return the token for a request to Prolific. Raises NoToken."""
    kept = SiteToken.objects.filter(user=user).first()
    if kept is None:
        raise NoToken("You have no token for Prolific here. Create one on Prolific (Settings, API token) and enter it.")
    try:
        return _fernet().decrypt(kept.sealed.encode()).decode()
    except InvalidToken as other:
        raise NoToken("Your token can no longer be read: the site’s secret key was changed. Enter it again.") from other


def _fernet() -> Fernet:
    return Fernet(base64.urlsafe_b64encode(salted_hmac(SALT, "", algorithm="sha256").digest()))
