"""Which servers a researcher's address reaches: public ones, and those that the operator names."""

from __future__ import annotations

import socket
from typing import Any

import httpx
import pytest
from pytest_django.fixtures import Settings

from collection.documents.guard import AddressRefused, is_public, permitted_address

PRIVATE = [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "192.0.2.1",
    "224.0.0.1",
    "239.1.1.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1%eth0",
    "fd00::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
    "2001:db8::1",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_not_public_in_whatever_spelling(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/{id}",
        "http://localhost:8000/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://[::1]/",
        "http://[::ffff:169.254.169.254]/latest/meta-data/",
        "http://169.254.169.254/latest/meta-data/",
        "http://0/",
    ],
)
def test_addresses_of_this_machine_and_its_network_are_refused(url: str, settings: Settings) -> None:
    settings.DOCUMENT_HOSTS = []

    with pytest.raises(AddressRefused, match=r"private network|was not found"):
        permitted_address(httpx.URL(url))


@pytest.mark.parametrize("url", ["ftp://example.org/", "file:///etc/passwd", "gopher://example.org/", "http:///x"])
def test_other_schemes_are_refused(url: str) -> None:
    with pytest.raises(AddressRefused, match="must begin with"):
        permitted_address(httpx.URL(url))


def test_a_name_with_one_private_address_among_public_ones_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_for(monkeypatch, "8.8.8.8", "10.0.0.1")

    with pytest.raises(AddressRefused, match="private network"):
        permitted_address(httpx.URL("https://docs.example.org/"))


def test_the_address_that_was_looked_at_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_for(monkeypatch, "8.8.8.8", "8.8.4.4")

    assert permitted_address(httpx.URL("https://docs.example.org/")) == "8.8.8.8"


@pytest.mark.parametrize(
    ("named", "url", "allowed"),
    [
        ("index.lab", "http://index.lab/", True),
        ("index.lab", "http://INDEX.lab:9200/", True),
        ("index.lab:9200", "http://index.lab:9200/", True),
        ("index.lab:9200", "http://index.lab:9300/", False),
        ("index.lab", "http://other.lab/", False),
        ("lab", "http://index.lab/", False),
    ],
)
def test_servers_that_the_operator_names_may_be_private(
    named: str, url: str, allowed: bool, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DOCUMENT_HOSTS = [named]
    answer_for(monkeypatch, "10.0.0.1")

    if allowed:
        assert permitted_address(httpx.URL(url)) == "10.0.0.1"
    else:
        with pytest.raises(AddressRefused):
            permitted_address(httpx.URL(url))


def answer_for(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Have every name resolve to these addresses."""

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
