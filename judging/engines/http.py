"""One request to a model server: its address, a client that never waits for ever, and waiting for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from collection.http import Answer, ReplyTooBig, as_object, ask, hide

# One reply is a grade or a few sentences; a server that sends more than this is not answering the question.
MOST_BYTES = 1_000_000


def addresses(setting: str) -> tuple[str, ...]:
    """Return the servers that a setting names, separated by commas, each once."""
    return tuple(dict.fromkeys(root_of(part.strip()) for part in setting.split(",") if part.strip()))


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


def post(client: httpx.Client, path: str, body: Mapping[str, Any], *, timeout: float, most: int = MOST_BYTES) -> Answer:
    """Send one request and read its answer within the time. Raises httpx.RequestError and ReplyTooBig."""
    return ask(client, "POST", path, timeout=timeout, most=most, json=body)


def get_json(client: httpx.Client, path: str, *, timeout: float = 10) -> dict[str, Any] | None:
    """Return the JSON object of a good answer, None for any other. Raises httpx.RequestError."""
    try:
        answer = ask(client, "GET", path, timeout=timeout, most=MOST_BYTES)
    except ReplyTooBig:
        return None
    return as_object(answer.content) if answer.status == 200 else None


def wait_in_steps(seconds: float, stopping: Callable[[], bool]) -> bool:
    """Wait, in short steps. Returns False as soon as told to stop."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if stopping():
            return False
        time.sleep(min(left, 0.2))
    return not stopping()
