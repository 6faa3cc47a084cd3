"""One HTTP request whose answer is read completely, within a size and a time, and without the keys that were sent."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpx

from collection.addresses import parts_of
from collection.wire import Permit, Transport
from collection.wire import ReplyTooBig as ReplyTooBig

LONGEST_REST = 60.0
LONGEST_CONNECT = 10.0
# How many bytes an answer may take on its way, for each that is read of it and for its headers: it may come in chunks.
WIRE, HEADERS = 4, 1024**2
# Keys of the operator that were sent to servers, and what stands in their place where one says them. A short one would
# hit words.
SHORTEST_SECRET = 6
HIDDEN = "[key]"
_secrets: set[str] = set()
# What passes: it is worth another attempt.
TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})


class Client(httpx.Client):
    """What `new_client` makes. `secrets` are keys that it sends, which its own servers alone might say again."""

    secrets: frozenset[str] = frozenset()


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


def hide(*secrets: str) -> None:
    """Leave these out of whatever servers say from now on."""
    _secrets.update(secret for secret in secrets if len(secret) >= SHORTEST_SECRET)


def ask(client: Client, method: str, path: str | httpx.URL, *, timeout: float, most: int, **parts: Any) -> Answer:
    """Send one request and read its answer, of `most` bytes, all within the seconds.

    Raises httpx.RequestError and ReplyTooBig.
    """
    patience = httpx.Timeout(timeout, connect=min(timeout, LONGEST_CONNECT))
    extensions = {"room": most * WIRE + HEADERS}
    try:
        with client.stream(method, path, timeout=patience, extensions=extensions, **parts) as response:
            return _read(response, most, client)
    except httpx.InvalidURL as odd:  # httpx looks where a redirect leads, though none is followed
        raise httpx.RemoteProtocolError("The server redirects to what is not an address.") from odd


def _read(response: httpx.Response, most: int, client: Client) -> Answer:
    if response.headers.get("Content-Encoding", "identity").strip().lower() not in {"", "identity"}:
        raise httpx.DecodingError("The server sent a compressed reply, which was not requested.")
    content = bytearray()
    for part in response.iter_raw():
        content += part
        if len(content) > most:
            raise ReplyTooBig
    rest = rest_asked_for(response.headers.get("Retry-After", ""))
    location, kind = (response.headers.get(name, "") for name in ("Location", "Content-Type"))
    said = without_secrets(bytes(content), client.secrets)
    return Answer(response.status_code, said, rest, location, kind, hides=said != content)


def root_of(base_url: str) -> str:
    """Return the address without the /v1 that people do or do not write at its end."""
    return base_url.rstrip("/").removesuffix("/v1")


def shown(base_url: str) -> str:
    """Return the address as people may see it: without a password in it."""
    return str(httpx.URL(root_of(base_url)).copy_with(userinfo=b"")).rstrip("/")


def new_client(
    *,
    timeout: float,
    connections: int = 32,
    keep: int | None = None,
    permit: Permit | None = None,
    proxy: str | None = None,
    **options: Any,
) -> Client:
    """Return a client whose every exchange ends within the seconds, however it is asked. The only one that is made.

    It trusts the certificates that the environment names (SSL_CERT_FILE). It keeps `keep` of its `connections`, or all.
    What is sent is not packed, so that what is received is no larger than it is counted. It follows no redirect.
    """
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections if keep is None else keep)
    client = Client(
        timeout=httpx.Timeout(timeout, connect=min(timeout, LONGEST_CONNECT)),
        transport=Transport(permit=permit, proxy=proxy, limits=limits),
        trust_env=False,
        **options,
    )
    client.headers["Accept-Encoding"] = "identity"
    return client


def client_for(
    base_url: str, *, api_key: str = "", timeout: float, connections: int = 32, permit: Permit | None = None
) -> Client:
    """Return a client of one of our own servers, past any proxy.

    `permit` refuses where it may not lead: the server is a researcher's, so that its key is looked for in what it says
    itself, and not in what others say.

    A name and password in the address go into a header: addresses are logged.
    """
    url = httpx.URL(root_of(base_url))
    client = new_client(
        base_url=url.copy_with(userinfo=b""),
        auth=(url.username, url.password) if url.userinfo else None,
        headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
        timeout=timeout,
        connections=connections,
        permit=permit,
    )
    client.secrets = frozenset(key for key in (api_key, url.password) if len(key) >= SHORTEST_SECRET)
    if permit is None:
        hide(api_key, url.password)
    return client


def client_beyond(address: str, *, timeout: float, **options: Any) -> Client:
    """Return a client of a server that is not ours, asked through the proxy that the environment names for it."""
    parts, named = parts_of(address), getproxies()
    proxy = "" if proxy_bypass(parts.hostname or "") else named.get(parts.scheme) or named.get("all", "")
    if proxy and "://" not in proxy:
        proxy = f"http://{proxy}"
    return new_client(proxy=proxy or None, timeout=timeout, **options)


def without_secrets(content: bytes, more: Iterable[str] = ()) -> bytes:
    """Return what a server said without the keys that it was sent: what it echoes is kept and shown."""
    for secret in (*_secrets, *more):
        for written in (secret, json.dumps(secret)[1:-1]):
            content = content.replace(written.encode(), HIDDEN.encode())
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
