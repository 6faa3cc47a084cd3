"""Researchers' tokens for Prolific's API: kept encrypted, read for a request, shown to nobody.

The key follows from SECRET_KEY, so a copy of the database alone opens none of them. With another SECRET_KEY they
have to be entered again.
"""

from __future__ import annotations

from datetime import datetime

from annotate.models import SiteToken
from collection.accounts.sealing import SealBroken, sealed, unsealed
from collection.models import User

SALT = "annotate.crowd.site-token"


class NoToken(Exception):
    """The researcher has no token here that could be used."""


def keep_token(*, user: User, token: str, at: datetime) -> None:
    """Keep the researcher's token in the place of any earlier one."""
    kept = sealed(token, salt=SALT)
    SiteToken.objects.update_or_create(user=user, defaults={"sealed": kept, "set_at": at})


def forget_token(*, user: User) -> bool:
    """Delete it. Returns whether there was one."""
    return bool(SiteToken.objects.filter(user=user).delete()[0])


def token_of(user: User) -> str:
    """Return the token for a request to Prolific. Raises NoToken."""
    kept = SiteToken.objects.filter(user=user).first()
    if kept is None:
        raise NoToken("You have no token for Prolific here. Create one on Prolific (Settings, API token) and enter it.")
    try:
        return unsealed(kept.sealed, salt=SALT)
    except SealBroken as other:
        raise NoToken("Your token can no longer be read: the site’s secret key was changed. Enter it again.") from other
