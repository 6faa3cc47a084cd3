"""The one place where an address that somebody wrote is taken apart: `urllib` raises ValueError on some, or later."""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from urllib.parse import SplitResult, urlsplit

import httpx

SCHEMES = ("http", "https")
HOST = re.compile(rb"[0-9A-Za-z._:-]+")
BRACKETS = re.compile(r"\A(?:[^@\[\]]*@)?\[([^\[\]]*)\](?::\d*)?\Z")


class NotAnAddress(ValueError):
    """This cannot be read as an address; the message says why."""


def parts_of(address: str) -> SplitResult:
    """Return the parts of an address, or of a path, whose host and port can be read too. Raises NotAnAddress."""
    try:
        parts = urlsplit(address)
        _ = parts.hostname, parts.port
        if "[" in parts.netloc or "]" in parts.netloc:  # what may stand there, not every version of Python asks
            IPv6Address(BRACKETS.sub(r"\1", parts.netloc))
    except ValueError as error:
        raise NotAnAddress(f"“{address[:200]}” is not an address.") from error
    return parts


def web_address(address: str, *, within: httpx.URL | None = None) -> httpx.URL:
    """Return an address that a request can go to; `within` is where a relative one stands. Raises NotAnAddress."""
    parts_of(address)
    try:
        url = httpx.URL(address) if within is None else within.join(address)
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise NotAnAddress(f"“{address[:200]}” is not an address.") from error
    if url.scheme not in SCHEMES or not url.host:
        raise NotAnAddress("Enter an address that begins with https:// or http://.")
    if not HOST.fullmatch(url.raw_host):
        raise NotAnAddress(f"“{url.host[:200]}” is not the name of a server.")
    if url.port == 0:
        raise NotAnAddress("There is no port 0.")
    return url
