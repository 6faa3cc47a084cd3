"""Secrets that researchers enter, kept encrypted with a key that follows from SECRET_KEY.

A copy of the database alone opens none of them.
"""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken
from django.utils.crypto import salted_hmac

SHORTEST_KEY = 8
KEY = "A key has at least eight letters, digits and signs, and no spaces."


class SealBroken(Exception):
    """The secret was sealed under another SECRET_KEY, so it has to be entered again."""


def sealed(secret: str, *, salt: str) -> str:
    """Return the secret as it may be stored. `salt` names what it is for."""
    return _fernet(salt).encrypt(secret.encode()).decode()


def unsealed(kept: str, *, salt: str) -> str:
    """Return the secret. Raises SealBroken."""
    try:
        return _fernet(salt).decrypt(kept.encode()).decode()
    except InvalidToken as other:
        raise SealBroken("It can no longer be read: the site’s secret key was changed. Enter it again.") from other


def is_key(key: str) -> bool:
    """Whether this can be sent as a key, and is long enough to be left out of whatever a server says."""
    return len(key) >= SHORTEST_KEY and key.isascii() and key.isprintable() and " " not in key


def _fernet(salt: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(salted_hmac(salt, "", algorithm="sha256").digest()))
