"""Prolific's signature under the ids of a link: a JSON Web Token that a study with a secured URL adds to them.

Prolific documents its public keys and what is to be checked: the signature, the expiry, that the token was made for
this site (`aud`), and that the ids in it (`prolific`) are those of the link
(docs.prolific.com/api-reference/well-known-endpoints/get-study-jwks).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import jwt
from django.conf import settings
from django.utils.translation import gettext

from annotate.crowd.prolific import PID, SESSION, STUDY
from annotate.participants.arrivals import Arrival, OddLink
from annotate.participants.participants import NotLetIn
from collection.addresses import NotAnAddress, parts_of
from collection.http import ReplyTooBig, as_object, ask, client_beyond

logger = logging.getLogger(__name__)

TOKEN = "prolific_token"  # noqa: S105  # the parameter's name
ALGORITHM = "RS256"
TIMEOUT_SECONDS = 5.0
MOST_BYTES = 1024**2
# Prolific asks to have its keys renewed daily. A key that is not known may be new, or made up by somebody.
KEEP_SECONDS = 60 * 60 * 24
NOT_AGAIN_SECONDS = 60
LEEWAY_SECONDS = 30


def vouched_for(arrival: Arrival, token: str, *, host: str) -> Arrival:
    """Return the arrival marked as Prolific's word, if the token says the same. `host` is this site's.

    Raises OddLink where it does not, and NotLetIn where Prolific's keys are out of reach.
    """
    if not token:
        raise OddLink(gettext("The link has no signature from Prolific. Please open the study again from Prolific."))
    try:
        key = _keys.get(str(jwt.get_unverified_header(token).get("kid", "")))
        options: Any = {"require": ["exp", "aud"], "verify_aud": False}
        claims = jwt.decode(token, key, algorithms=[ALGORITHM], options=options, leeway=LEEWAY_SECONDS)
    except jwt.ExpiredSignatureError as late:
        raise OddLink(gettext("The link is too old. Please open the study again from Prolific.")) from late
    except jwt.InvalidTokenError as wrong:
        raise OddLink(
            gettext("The link’s signature is not Prolific’s. Please open the study again from Prolific.")
        ) from wrong
    if not _is_for(host, claims["aud"]):
        raise OddLink(
            gettext("The link’s signature was made for another site. Please open the study again from Prolific.")
        )
    signed = claims.get("prolific")
    ids = {PID: arrival.crowd_id, STUDY: arrival.cohort, SESSION: arrival.session_id}
    if not isinstance(signed, Mapping) or any(signed.get(name) != value for name, value in ids.items()):
        raise OddLink(
            gettext("The link’s ids are not those that Prolific signed. Please open the study again from Prolific.")
        )
    return replace(arrival, vouched_for=True)


def _is_for(host: str, audience: Any) -> bool:
    """Whether the token was made for this host: Prolific names a domain, or an address on it, or several."""
    named = audience if isinstance(audience, list) else [audience]
    return _hostname(host) in {_hostname(one) for one in named if isinstance(one, str)}


def _hostname(address: str) -> str | None:
    try:
        return parts_of(address if "//" in address else f"//{address}").hostname
    except NotAnAddress:
        return None


class _Keys:
    """Prolific's public keys, as they were last fetched."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.forget()

    def forget(self) -> None:
        self._by_id: dict[str, jwt.PyJWK] = {}
        self._fetched = self._tried = float("-inf")

    def get(self, key_id: str) -> jwt.PyJWK:
        """Return the key of this id. Raises InvalidTokenError if Prolific has none, NotLetIn if it cannot be asked."""
        with self._lock:
            now = time.monotonic()
            is_old = now - self._fetched > KEEP_SECONDS
            if (is_old or key_id not in self._by_id) and now - self._tried > NOT_AGAIN_SECONDS:
                self._tried = now
                self._fetch(now)
            if not self._by_id:
                raise NotLetIn(
                    gettext("Prolific’s signature cannot be checked now. Please open the study again in a minute.")
                )
            try:
                return self._by_id[key_id]
            except KeyError:
                raise jwt.InvalidTokenError("Prolific has no key with this id.") from None

    def _fetch(self, now: float) -> None:
        """Fetch the keys; where that fails, those that are known stay."""
        try:
            address = settings.PROLIFIC_JWKS_URL
            with client_beyond(address, timeout=TIMEOUT_SECONDS) as client:
                answer = ask(client, "GET", address, timeout=TIMEOUT_SECONDS, most=MOST_BYTES)
            keys = jwt.PyJWKSet.from_dict(as_object(answer.content) or {}).keys
        except (httpx.HTTPError, httpx.InvalidURL, ReplyTooBig, ValueError, AttributeError, jwt.PyJWTError):
            logger.warning("Prolific’s keys cannot be read at %s.", settings.PROLIFIC_JWKS_URL, exc_info=True)
            return
        self._by_id = {key.key_id: key for key in keys if key.key_id}
        self._fetched = now


_keys = _Keys()
