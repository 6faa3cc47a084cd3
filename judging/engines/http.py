"""One request to a model server: its address, a client that never waits for ever, and waiting for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from collection.documents.guard import is_public
from collection.http import Answer, Client, ReplyTooBig, as_object, ask, client_for, root_of, shown

__all__ = ["Access", "addresses", "client_for", "get_json", "post", "root_of", "shown", "wait_in_steps"]

# One reply is a grade or a few sentences; a server that sends more than this is not answering the question.
MOST_BYTES = 1_000_000
# Connections for a look at a server that has as much to do as it may.
SPARE = 2


Place = tuple[str, int | None]


@dataclass(frozen=True)
class Access:
    """One address of a model server as it is asked: with its own key, so many requests at a time.

    `public_only`: a researcher wrote it, so that it may lead to the public internet alone. `alias` is what those who
    read of it call it who may not see where it is. `server` is the key of its row, if JUDGE_BASE_URL alone does not
    name it.
    """

    address: str
    key: str = field(default="", repr=False)
    concurrency: int = 16
    public_only: bool = False
    alias: str = ""
    server: int | None = None

    @property
    def place(self) -> Place:
        """What is known of it goes by this: the same address may be asked with another key, as another's server."""
        return shown(self.address), self.server

    def client(self, *, timeout: float, connections: int | None = None) -> Client:
        """Return a client that asks there, and takes the key nowhere else."""
        return client_for(
            self.address,
            api_key=self.key,
            timeout=timeout,
            connections=connections or self.concurrency + SPARE,
            permit=_permit if self.public_only else None,
        )


def _permit(host: str, port: int, found: Sequence[str]) -> None:  # noqa: ARG001  # as a transport asks
    if not all(map(is_public, found)):
        raise httpx.ConnectError(f"“{host}” is in a private network, whose servers administrators add")


def addresses(setting: str) -> tuple[str, ...]:
    """Return the servers that a setting names, separated by commas, each once."""
    return tuple(dict.fromkeys(root_of(part.strip()) for part in setting.split(",") if part.strip()))


def post(client: Client, path: str, body: Mapping[str, Any], *, timeout: float, most: int = MOST_BYTES) -> Answer:
    """Send one request and read its answer within the time. Raises httpx.RequestError and ReplyTooBig."""
    return ask(client, "POST", path, timeout=timeout, most=most, json=body)


def get_json(client: Client, path: str, *, timeout: float = 10) -> dict[str, Any] | None:
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
