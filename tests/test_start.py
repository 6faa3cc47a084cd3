"""A start that would give others what is not theirs is refused, and what it writes is its user's alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from config.checks import (
    data_folder_is_private,
    demonstration_stays_at_home,
    is_loopback,
    links_lead_to_the_site,
    refuse_an_unsafe_start,
)
from config.private_files import take_from_others

ROOT = Path(settings.BASE_DIR)
# What the tests themselves may run on.
SERVERS = {"DATABASE_URL", "CELERY_BROKER_URL"}


def started(*code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, as a server would be started, on the embedded defaults."""
    inherited = {name: value for name, value in os.environ.items() if name not in SERVERS}
    return subprocess.run(
        [sys.executable, *code],
        cwd=ROOT,
        env={**inherited, "DJANGO_ALLOW_ASYNC_UNSAFE": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


# --- The demonstration ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "environment",
    [
        {"HTTPS": "true"},
        {"ALLOWED_HOSTS": "localhost,assize.example.org"},
    ],
)
def test_the_web_server_does_not_start_a_demonstration_that_others_reach(
    environment: dict[str, str], tmp_path: Path
) -> None:
    server = started("-c", "import config.wsgi", DATA_DIR=str(tmp_path), DEMONSTRATION="true", **environment)

    assert server.returncode != 0
    assert "`make serve`" in server.stderr


def test_every_command_refuses_it_too(tmp_path: Path) -> None:
    command = started("manage.py", "set_up", DATA_DIR=str(tmp_path), DEMONSTRATION="true", HTTPS="true")

    assert command.returncode != 0
    assert "assize.E001" in command.stderr


@pytest.mark.parametrize(
    ("address", "said"), [("http://localhost:8123", 1), ("http://[::1", 1), ("https://assize.example.org", 0)]
)
def test_a_deployment_is_asked_where_mails_lead(settings: Settings, address: str, said: int) -> None:
    settings.SITE_URL = address

    assert len(links_lead_to_the_site()) == said


@pytest.mark.parametrize(("port", "address"), [("8123", "http://localhost:8123"), ("", "http://localhost:8000")])
def test_mails_lead_to_the_port_that_is_served(tmp_path: Path, port: str, address: str) -> None:
    code = "from django.conf import settings; print(settings.SITE_URL)"
    said = started(
        "-c", code, DATA_DIR=str(tmp_path), DJANGO_SETTINGS_MODULE="config.settings", **({"PORT": port} if port else {})
    )

    assert said.stdout.strip() == address


@pytest.mark.parametrize("hosts", ["localhost,127.0.0.1,[::1]", "127.0.0.53", ".localhost"])
def test_it_starts_on_this_machine(settings: Settings, hosts: str) -> None:
    settings.DEMONSTRATION, settings.ALLOWED_HOSTS = True, hosts.split(",")

    refuse_an_unsafe_start()


def test_without_the_demonstration_any_host_is_served(settings: Settings) -> None:
    settings.DEMONSTRATION, settings.HTTPS, settings.ALLOWED_HOSTS = False, True, ["assize.example.org"]

    assert demonstration_stays_at_home() == []


@pytest.mark.parametrize("host", ["*", ".example.org", "localhost.example.org", "10.0.0.1", "[fe80::1]", ""])
def test_other_hosts_are_not_this_machine(host: str) -> None:
    assert not is_loopback(host)


def test_the_start_that_is_refused_says_why(settings: Settings) -> None:
    settings.DEMONSTRATION, settings.ALLOWED_HOSTS = True, ["assize.example.org"]

    with pytest.raises(ImproperlyConfigured, match=r"names assize\.example\.org"):
        refuse_an_unsafe_start()


# --- The start for others -------------------------------------------------------------------------


def test_behind_a_proxy_with_tls_djangos_own_checks_find_nothing(tmp_path: Path) -> None:
    check = started(
        "manage.py", "check", "--deploy", "--fail-level", "WARNING",
        DATA_DIR=str(tmp_path), HTTPS="true", DEMONSTRATION="false", ALLOWED_HOSTS="assize.example.org",
        SITE_URL="https://assize.example.org",
    )  # fmt: skip

    assert check.returncode == 0, check.stderr


@pytest.mark.parametrize(
    ("environment", "header"),
    [
        ({}, "max-age=31536000; includeSubDomains"),
        ({"HSTS_SUBDOMAINS": "false", "HSTS_PRELOAD": "true"}, "max-age=31536000; preload"),
    ],
)
def test_browsers_are_told_to_come_by_https_alone(environment: dict[str, str], header: str, tmp_path: Path) -> None:
    show = """
from django.test import Client
import django
django.setup()
print(Client().get("/robots.txt", secure=True, headers={"Host": "localhost"})["Strict-Transport-Security"])
"""
    answer = started(
        "-c", show, DATA_DIR=str(tmp_path), HTTPS="true", DJANGO_SETTINGS_MODULE="config.settings", **environment
    )

    assert answer.stdout.strip() == header, answer.stderr


# --- Files ----------------------------------------------------------------------------------------


def modes(folder: Path) -> dict[str, str]:
    return {path.name: oct(path.stat().st_mode & 0o777) for path in [folder, *folder.rglob("*")]}


@pytest.mark.slow
def test_what_a_process_writes_is_its_users_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"

    ran = started("manage.py", "set_up", "--port", "8169", DATA_DIR=str(folder))

    assert ran.returncode == 0, ran.stderr
    assert "createsuperuser" in ran.stdout
    open_to_others = {name: mode for name, mode in modes(folder).items() if mode not in ("0o700", "0o600")}
    assert open_to_others == {}
    assert (folder / "assize.sqlite3").exists()


def test_what_others_could_read_before_is_closed_at_the_start(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "media").mkdir(parents=True)
    upload, script = folder / "media" / "upload.jsonl", folder / "run"
    upload.write_text("x")
    script.write_text("x")
    for path, mode in ((folder, 0o755), (folder / "media", 0o775), (upload, 0o644), (script, 0o755)):
        path.chmod(mode)
    (folder / "link").symlink_to(tmp_path / "gone")

    take_from_others(folder)

    (folder / "link").unlink()
    assert modes(folder) == {"data": "0o700", "media": "0o700", "upload.jsonl": "0o600", "run": "0o700"}


def test_a_folder_that_cannot_be_closed_is_named(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    tmp_path.chmod(0o750)

    [warning] = data_folder_is_private()

    assert str(tmp_path) in warning.msg
