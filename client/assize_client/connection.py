"""The connection to a site: its token, its errors, and figures that are still being computed."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import IO, Any

import httpx

API = "/api/v1/"
TIMEOUT = httpx.Timeout(60, connect=10)
PAUSE_SECONDS = 0.5


class AssizeError(Exception):
    """The site refused; the message is its reason, and `status` its HTTP status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"{reason} (HTTP {status})")
        self.status = status


class NotReady(Exception):
    """The site was still at it when the time to wait was over; asking again goes on waiting."""


class Connection:
    """Requests with a token. `transport` and `sleep` are for tests."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        patience: float = 600,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.patience = patience
        self.http = httpx.Client(
            base_url=url, headers={"Authorization": f"Token {token}"}, timeout=TIMEOUT, transport=transport
        )
        self._sleep = sleep

    def get(self, path: str, **asked: Any) -> Any:
        """Return the JSON of an address of the API; figures are waited for until they are computed.

        Lists are repeated, None is left out. Raises AssizeError, and NotReady after `patience` seconds.
        """
        address = str(httpx.URL(API + path, params=_said(asked)))
        for _ in self.waiting():
            response = _checked(self.http.get(address))
            if response.status_code != httpx.codes.ACCEPTED:
                return response.json()
            address = response.headers["Location"]
        raise NotReady(f"The figures were not computed within {self.patience:g} s: {address}")

    def post(self, path: str, *, json: Any = None, data: Any = None, files: Any = None) -> Any:
        """Return the JSON that the address of the API answers. Raises AssizeError."""
        return _checked(self.http.post(API + path, json=json, data=data, files=files)).json()

    def pages(self, path: str, **asked: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of a list, page after page."""
        address: str | None = str(httpx.URL(API + path, params=_said({"page_size": 1000, **asked})))
        while address:
            page = _checked(self.http.get(address)).json()
            yield from page["results"]
            address = page["next"]

    def lines(self, path: str, **asked: Any) -> Iterator[dict[str, Any]]:
        """Yield the objects of a streamed answer, line after line. Raises AssizeError."""
        with self.http.stream("GET", API + path, params=_said({"format": "ndjson", **asked})) as response:
            if response.is_error:
                response.read()
            yield from map(json.loads, _checked(response).iter_lines())

    def file(self, path: str, **asked: Any) -> IO[bytes]:
        """Return a streamed answer as a temporary file, at its beginning. Raises AssizeError."""
        file = tempfile.TemporaryFile()  # noqa: SIM115  # the caller closes it
        with self.http.stream("GET", API + path, params=_said(asked)) as response:
            if response.is_error:
                response.read()
            for piece in _checked(response).iter_bytes():
                file.write(piece)
        file.seek(0)
        return file

    def waiting(self) -> Iterator[None]:
        """Yield at once, and then after every pause until the patience is over."""
        until = time.monotonic() + self.patience
        yield
        while time.monotonic() < until:
            self._sleep(PAUSE_SECONDS)
            yield


def _said(asked: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in asked.items() if value is not None}


def _checked(response: httpx.Response) -> httpx.Response:
    if not response.is_error:
        return response
    try:
        reason = "; ".join(_reasons(response.json()))
    except ValueError:
        reason = response.reason_phrase
    raise AssizeError(response.status_code, reason)


def _reasons(found: Any, under: str = "") -> Iterator[str]:
    """Yield what a refusal says, each with the field that it is about."""
    match found:
        case dict():
            for name, inner in found.items():
                yield from _reasons(inner, "" if name in ("detail", "non_field_errors") else name)
        case list():
            for inner in found:
                yield from _reasons(inner, under)
        case _:
            yield f"{under}: {found}" if under else str(found)
