"""Connections on which an exchange ends in time and within a size, wherever its bytes stand.

httpx counts the seconds of a single wait, so a server that sends a byte now and then is never late. Here every name
that is looked up, connection, handshake, write and read gets what is left of the one deadline, and every byte that
comes counts: status line, headers, 1xx answers, sizes and extensions of chunks, trailers.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import httpcore
import httpx

# What an exchange may bring where nobody says.
MOST_BYTES = 64 * 1024**2
# So much goes out in one go wherever a socket takes anything at all: no write waits twice.
BYTES_AT_ONCE = 4096

# Raises where a server of this name and port, which has these addresses, may not be asked.
Permit = Callable[[str, int, Sequence[str]], object]


class ReplyTooBig(Exception):
    """The server sent more than is read of it."""


class _Exchange:
    """One request and its answer: until when, and how many bytes may still come."""

    def __init__(self, seconds: float, room: int) -> None:
        self.late = time.monotonic() + seconds
        self.room = room

    def left(self, most: float | None, late: type[Exception]) -> float:
        """Return how many seconds are left, `most` at most, and raise `late` if none are."""
        seconds = self.late - time.monotonic()
        if seconds <= 0:
            raise late("The exchange did not end in time.")
        return seconds if most is None else min(seconds, most)


# A thread sends a request and reads its answer before it sends another.
_under_way: ContextVar[_Exchange] = ContextVar("exchange")


class Transport(httpx.HTTPTransport):
    """Sends requests whose `timeout` is that of the whole exchange. Raises ReplyTooBig, and what `permit` raises.

    A request's extension `room` says how many bytes may come, all told. Redirects are exchanges of their own.
    """

    def __init__(self, *, permit: Permit | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._pool._network_backend = _Network(permit)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Begin the exchange; whoever reads the answer goes on with it."""
        seconds = request.extensions["timeout"]["read"]
        _under_way.set(_Exchange(seconds, request.extensions.get("room", MOST_BYTES)))
        return super().handle_request(request)


class _Network(httpcore.SyncBackend):
    def __init__(self, permit: Permit | None) -> None:
        self.permit = permit

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, *args: Any, **kwargs: Any) -> _Stream:
        """Connect to one of the addresses that were looked at: what the name is a moment later changes nothing."""
        late = time.monotonic() + _under_way.get().left(timeout, httpcore.ConnectTimeout)
        addresses = _addresses_of(host, port, late - time.monotonic())
        if self.permit is not None:
            self.permit(host, port, addresses)
        problem: Exception = httpcore.ConnectTimeout("No address of the server answered in time.")
        for address in addresses:
            if (left := late - time.monotonic()) <= 0:
                break
            try:
                return _Stream(super().connect_tcp(address, port, left, *args, **kwargs))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                problem = error
        raise problem


class _Stream(httpcore.NetworkStream):
    """A connection that is given what is left of the exchange's time for each thing it does."""

    def __init__(self, within: httpcore.NetworkStream) -> None:
        self._within = within

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        exchange = _under_way.get()
        came = self._within.read(max_bytes, exchange.left(timeout, httpcore.ReadTimeout))
        exchange.room -= len(came)
        if exchange.room < 0:
            raise ReplyTooBig
        return came

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), BYTES_AT_ONCE):
            left = _under_way.get().left(timeout, httpcore.WriteTimeout)
            self._within.write(buffer[start : start + BYTES_AT_ONCE], left)

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Stream:
        left = _under_way.get().left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._within.start_tls(ssl_context, server_hostname, left))

    def close(self) -> None:
        self._within.close()

    def get_extra_info(self, info: str) -> Any:
        return self._within.get_extra_info(info)


def _addresses_of(host: str, port: int, seconds: float) -> list[str]:
    """Look a name up, in a thread: the system's own way has no deadline. Raises httpcore's errors of connecting."""
    came: list[Any] = []

    def look_up() -> None:
        try:
            came.append([str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)])
        except (OSError, UnicodeError) as error:
            came.append(error)

    thread = threading.Thread(target=look_up, daemon=True, name="look-up")
    thread.start()
    thread.join(seconds)
    if not came:
        raise httpcore.ConnectTimeout(f"The server “{host}” was not found in time.")
    if isinstance(came[0], Exception):
        raise httpcore.ConnectError(f"The server “{host}” was not found ({came[0]}).") from came[0]
    return list(dict.fromkeys(came[0]))
