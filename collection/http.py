"""One HTTP request whose answer is read completely, within a size and a time, and without the keys that were sent."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

LONGEST_REST = 60.0
# Keys that were sent to servers, and what stands in their place where one says them. A short one would hit words.
SHORTEST_SECRET = 6
HIDDEN = "[key]"
_secrets: set[str] = set()
# What passes: it is worth another attempt.
TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Answer:
    """An HTTP answer that was read completely. `rest` is how many seconds the server asked us to stay away,
    `location` where it sends us on, `kind` the Content-Type. `hides` a key that it repeated.
    """

    status: int
    content: bytes
    rest: float | None = None
    location: str = ""
    kind: str = ""
    hides: bool = False

    @property
    def text(self) -> str:
        """The body as far as it is text."""
        return self.content.decode("utf-8", "replace")

    @property
    def excerpt(self) -> str:
        """The beginning of the body, for a message."""
        return self.content[:500].decode("utf-8", "replace")


class ReplyTooBig(Exception):
    """The server sent more than is read of it."""


def hide(*secrets: str) -> None:
    """Leave these out of whatever servers say from now on."""
    _secrets.update(secret for secret in secrets if len(secret) >= SHORTEST_SECRET)


def ask(client: httpx.Client, method: str, path: str | httpx.URL, *, timeout: float, most: int, **parts: Any) -> Answer:
    """Send one request and read its answer, of `most` bytes, within the seconds.

    Raises httpx.RequestError and ReplyTooBig.
    """
    late = time.monotonic() + timeout
    patience = httpx.Timeout(timeout, connect=min(timeout, 10.0))
    with client.stream(method, path, timeout=patience, **parts) as response:
        if response.headers.get("Content-Encoding", "identity").strip().lower() not in {"", "identity"}:
            raise httpx.DecodingError("The server sent a compressed reply, which was not requested.")
        content = bytearray()
        for part in response.iter_raw():
            content += part
            if len(content) > most:
                raise ReplyTooBig
            if time.monotonic() > late:  # it drips: no single wait was too long, but all of them are
                raise httpx.ReadTimeout("The reply did not end in time.")
        rest = rest_asked_for(response.headers.get("Retry-After", ""))
        location, kind = (response.headers.get(name, "") for name in ("Location", "Content-Type"))
        said = without_secrets(bytes(content))
        return Answer(response.status_code, said, rest, location, kind, hides=said != content)


def root_of(base_url: str) -> str:
    """Return the address without the /v1 that people do or do not write at its end."""
    return base_url.rstrip("/").removesuffix("/v1")


def shown(base_url: str) -> str:
    """Return the address as people may see it: without a password in it."""
    return str(httpx.URL(root_of(base_url)).copy_with(userinfo=b"")).rstrip("/")


def client_for(base_url: str, *, api_key: str = "", timeout: float, connections: int = 32) -> httpx.Client:
    """Return a client that waits this long for a reply and never for ever. It uses no proxy: the server is ours.

    A name and password in the address go into a header: addresses are logged. What is sent is not packed, so that
    what is received is no larger than it is counted.
    """
    url = httpx.URL(root_of(base_url))
    hide(api_key, url.password)
    return httpx.Client(
        base_url=url.copy_with(userinfo=b""),
        auth=(url.username, url.password) if url.userinfo else None,
        headers={"Accept-Encoding": "identity", **({"Authorization": f"Bearer {api_key}"} if api_key else {})},
        timeout=httpx.Timeout(timeout, connect=min(timeout, 10.0), pool=None),
        limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
        trust_env=False,
    )


def without_secrets(content: bytes) -> bytes:
    """Return what a server said without the keys that it was sent: what it echoes is kept and shown."""
    for secret in tuple(_secrets):
        content = content.replace(secret.encode(), HIDDEN.encode())
    return content


def storable(text: str) -> str:
    """Return the text without what a database cannot hold (NUL, lone surrogates), and without our keys."""
    for secret in tuple(_secrets):
        text = text.replace(secret, HIDDEN)
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def as_object(content: bytes) -> dict[str, Any] | None:
    """Return the JSON object that these bytes are, None if they are none."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def rest_asked_for(retry_after: str) -> float | None:
    """Return the seconds that a Retry-After asks for, a minute at most; None if it asks for nothing we can read."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return None
    return min(max(seconds, 0.0), LONGEST_REST) if seconds == seconds else None
