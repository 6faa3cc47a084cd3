"""Which servers a request to an address that a researcher wrote may reach: public ones, and those the operator names.

The name is resolved here, every address that it has is looked at, and the request goes to an address that was looked
at: a name that is another machine's a moment later changes nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import httpx
from django.conf import settings

SCHEMES = {"http": 80, "https": 443}
LARGEST_PORT = 65535
# IPv6 that stands for IPv4 behind a translator (RFC 6052); the last 32 bits are the IPv4 address.
TRANSLATED = IPv6Network("64:ff9b::/96")


class AddressRefused(Exception):
    """The server may not be asked."""


def permitted_address(url: httpx.URL) -> str:
    """Return the IP address to connect to for this URL. Raises AddressRefused."""
    if url.scheme not in SCHEMES or not url.host:
        raise AddressRefused("The address must begin with http:// or https://.")
    port = SCHEMES[url.scheme] if url.port is None else url.port
    if not 0 < port <= LARGEST_PORT:
        raise AddressRefused(f"There is no port {port}.")
    try:
        found = socket.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise AddressRefused(f"The server “{url.host}” was not found.") from error
    addresses = [str(row[4][0]) for row in found]
    if not is_named(url.host, port) and not all(map(is_public, addresses)):
        raise AddressRefused(
            f"The server “{url.host}” is in a private network. Ask who runs this site to name it in DOCUMENT_HOSTS."
        )
    return addresses[0]


def is_named(host: str, port: int) -> bool:
    """Whether the operator names this server, with this port or without any."""
    named = {name.strip().lower() for name in settings.DOCUMENT_HOSTS}
    shown = f"[{host}]" if ":" in host else host
    return not named.isdisjoint({shown.lower(), f"{shown.lower()}:{port}"})


def is_public(address: str) -> bool:
    """Whether an IP address, and every other that it stands for, is one of the public internet."""
    return all(one.is_global and not one.is_multicast for one in _stood_for(ip_address(address.partition("%")[0])))


def _stood_for(address: IPv4Address | IPv6Address) -> Iterator[IPv4Address | IPv6Address]:
    yield address
    if isinstance(address, IPv4Address):
        return
    if address in TRANSLATED:
        yield IPv4Address(int(address) & 0xFFFFFFFF)
    inner = (address.ipv4_mapped, address.sixtofour, *(address.teredo or ()))
    yield from (one for one in inner if one is not None)
