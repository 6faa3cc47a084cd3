"""Which servers a request to an address that a researcher wrote may reach: public ones, and those the operator names.

It is asked with the addresses that the connection is then made to (`collection.wire`): a name that is another
machine's a moment later changes nothing. What is not known to be public is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings

# What is not in here is nobody's on the internet: of this machine, this network, one site, or not given out.
UNICAST = IPv6Network("2000::/3")
# IPv6 that stands for IPv4 behind a translator (RFC 6052); the last 32 bits are the IPv4 address.
TRANSLATED = IPv6Network("64:ff9b::/96")
# Special by IANA's registries, and global to some versions of Python.
SPECIAL = [ip_network(one) for one in ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")]
# What stands before the IPv4 address of an interface that tunnels (ISATAP, RFC 5214).
TUNNELLED = frozenset({0x00005EFE, 0x02005EFE})


class AddressRefused(Exception):
    """The server may not be asked."""


def permit(host: str, port: int, addresses: Sequence[str]) -> None:
    """Raise AddressRefused unless all these addresses of a server are public, or the operator names it."""
    if not is_named(host, port) and not all(map(is_public, addresses)):
        raise AddressRefused(
            f"The server “{host}” is in a private network. Ask who runs this site to name it in DOCUMENT_HOSTS."
        )


def is_named(host: str, port: int) -> bool:
    """Whether the operator names this server, with this port or without any."""
    named = {name.strip().lower() for name in settings.DOCUMENT_HOSTS}
    shown = f"[{host}]" if ":" in host else host
    return not named.isdisjoint({shown.lower(), f"{shown.lower()}:{port}"})


def is_public(address: str) -> bool:
    """Whether an IP address, and every other that it stands for, is one of the public internet."""
    return _is_public(ip_address(address.partition("%")[0]))


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        if not all(map(_is_public, _stood_for(address))):
            return False
        if address.ipv4_mapped is not None or address in TRANSLATED:
            return True
        if address not in UNICAST:
            return False
    return address.is_global and not address.is_multicast and not any(address in special for special in SPECIAL)


def _stood_for(address: IPv6Address) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses within this one."""
    last = IPv4Address(int(address) & 0xFFFFFFFF)
    if address in TRANSLATED or (int(address) >> 32) & 0xFFFFFFFF in TUNNELLED:
        yield last
    inner = (address.ipv4_mapped, address.sixtofour, *(address.teredo or ()))
    yield from (one for one in inner if one is not None)
