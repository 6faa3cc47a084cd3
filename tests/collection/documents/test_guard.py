"""Which servers a researcher's address reaches: public ones, and those that the operator names."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from collection.documents.found import FetchFailed, SourceFailed
from collection.documents.guard import is_public
from collection.documents.http_source import HttpDocuments

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
    "0.8.8.8",
    "192.0.0.8",
    "192.0.0.170",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "240.0.0.1",
    "::127.0.0.1",  # compatible with IPv4, given up
    "::8.8.8.8",
    "::ffff:0:127.0.0.1",  # translated by SIIT
    "::ffff:100.64.0.1",
    "64:ff9b::6440:1",
    "64:ff9b:1::7f00:1",  # translated within one network
    "64:ff9b:1::808:808",
    "2002:a00:1::1",
    "2002:a9fe:a9fe::",
    "2001:0:4136:e378:8000:63bf:80ff:fffe",  # Teredo
    "2001:0:7f00:1::",
    "2606:4700::5efe:7f00:1",  # ISATAP
    "2606:4700::200:5efe:10.0.0.1",
    "100::1",
    "2001:2::1",
    "2001:10::1",
    "3fff::1",
    "5f00::1",
    "fec0::1",
    "ff0e::1",
    "4000::1",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_not_public_in_whatever_spelling(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "93.184.215.14",
        "8.8.8.8",
        "2606:4700:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::1",
        "2606:4700::5efe:808:808",
    ],
)
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/{id}",
        "http://localhost:8000/{id}",
        "http://2130706433/{id}",
        "http://0x7f.1/{id}",
        "http://0177.0.0.1/{id}",
        "http://127.1/{id}",
        "http://[::1]/{id}",
        "http://[::ffff:169.254.169.254]/latest/meta-data/{id}",
        "http://[fe80::1%25eth0]/{id}",
        "http://169.254.169.254/latest/meta-data/{id}",
        "http://\u2460\u2461\u2466.0.0.1/{id}",
        "http://127。0。0。1/{id}",
        "http://0/{id}",
    ],
)
def test_addresses_of_this_machine_and_its_network_are_refused(
    url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DOCUMENT_HOSTS = []
    reached = connections(monkeypatch)

    with pytest.raises(FetchFailed):
        HttpDocuments(url).fetch("1")

    assert reached == []


def test_a_name_with_one_private_address_among_public_ones_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_for(monkeypatch, "8.8.8.8", "10.0.0.1")
    reached = connections(monkeypatch)

    with pytest.raises(SourceFailed, match="private network"):
        HttpDocuments("https://docs.example.org/{id}").fetch("1")

    assert reached == []


def test_a_name_is_looked_up_once_and_the_very_address_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up = answer_for(monkeypatch, "8.8.8.8", then=("127.0.0.1",))
    reached = connections(monkeypatch)

    with pytest.raises(SourceFailed):
        HttpDocuments("https://docs.example.org/{id}").fetch("1")

    assert looked_up == ["docs.example.org"]
    assert reached == ["8.8.8.8"]


@pytest.mark.parametrize(
    ("named", "url", "allowed"),
    [
        ("index.lab", "http://index.lab/{id}", True),
        ("index.lab", "http://INDEX.lab:9200/{id}", True),
        ("index.lab:9200", "http://index.lab:9200/{id}", True),
        ("index.lab:9200", "http://index.lab:9300/{id}", False),
        ("index.lab", "http://other.lab/{id}", False),
        ("lab", "http://index.lab/{id}", False),
    ],
)
def test_servers_that_the_operator_names_may_be_private(
    named: str, url: str, allowed: bool, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DOCUMENT_HOSTS = [named]
    answer_for(monkeypatch, "10.0.0.1")

    reached = connections(monkeypatch)

    with pytest.raises(SourceFailed):
        HttpDocuments(url).fetch("1")

    assert reached == ["10.0.0.1"] * allowed


def answer_for(monkeypatch: pytest.MonkeyPatch, *addresses: str, then: Sequence[str] = ()) -> list[str]:
    """Have every name resolve to these addresses, and from the second look on to others. Returns what is looked up."""
    looked_up: list[str] = []

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        looked_up.append(host)
        found = addresses if len(looked_up) == 1 or not then else then
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return looked_up


def connections(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let no connection come about; returns the addresses that are tried."""
    tried: list[str] = []

    def connect(address: tuple[str, int], *_: Any, **__: Any) -> None:
        tried.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    return tried
