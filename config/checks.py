"""What makes a start unsafe. The web server refuses errors, and every command says them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register, run_checks
from django.core.checks import Warning as Concern
from django.core.exceptions import ImproperlyConfigured
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from collection.addresses import NotAnAddress, parts_of
from config.commands import PROGRAM
from config.private_files import is_open_to_others
from config.translations import stale_catalogues

TAG = "assize"


@register(TAG)
def demonstration_stays_at_home(**_: Any) -> list[CheckMessage]:
    """The demonstration's password is printed on the sign-in page: nobody but this machine may reach it."""
    if not settings.DEMONSTRATION:
        return []
    strangers = [host for host in settings.ALLOWED_HOSTS if not is_loopback(host)]
    if not (settings.HTTPS or strangers):
        return []
    reason = f"ALLOWED_HOSTS names {', '.join(strangers)}" if strangers else "HTTPS is set"
    return [
        Error(
            f"DEMONSTRATION, whose password is public, is on and others can reach the site: {reason}.",
            hint="Start the site with `make serve`, or set DEMONSTRATION=0.",
            id="assize.E001",
        )
    ]


@register(TAG)
def data_folder_is_private(**_: Any) -> list[CheckMessage]:
    """DATA_DIR holds labels, people's data and the secret key."""
    if not is_open_to_others(settings.DATA_DIR):
        return []
    return [
        Concern(
            f"Others on this machine can open {settings.DATA_DIR}.",
            hint="It belongs to another user, so it could not be closed: chmod it to 0700.",
            id="assize.W001",
        )
    ]


@register(TAG)
def translations_are_compiled(**_: Any) -> list[CheckMessage]:
    """Pages are in English where Django finds no compiled catalogue, and in former words where it is stale."""
    stale = stale_catalogues()
    if not stale:
        return []
    return [
        Concern(
            f"Translations are not compiled, or from an earlier text: {', '.join(stale)}.",
            hint=f"Run `{PROGRAM} set_up` as a user who may write to {settings.LOCALE_PATHS[0]}/, and start again.",
            id="assize.W003",
        )
    ]


@register(Tags.security, deploy=True)
def links_lead_to_the_site(**_: Any) -> list[CheckMessage]:
    """Mails lead to SITE_URL, which nobody but this machine may know where it was not set."""
    try:
        host = parts_of(settings.SITE_URL).netloc
    except NotAnAddress as error:
        return [Error(f"SITE_URL: {error}", hint="Write it as https://assize.example.org.", id="assize.E003")]
    if not is_loopback(host):
        return []
    return [
        Concern(
            f"Links in mails lead to {settings.SITE_URL}, which is this machine alone.",
            hint="Set SITE_URL to the address under which people reach the site.",
            id="assize.W002",
        )
    ]


@register(Tags.database)
def database_can_be_migrated(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """The first migration of an app replaces those before the first release: a database has all of them or none."""
    squashed = [migration for migration in MigrationLoader(None).disk_migrations.values() if migration.replaces]
    for alias in databases or ():
        applied = MigrationRecorder(connections[alias]).applied_migrations().keys()
        replaced = [set(migration.replaces) for migration in squashed]
        if any(names & applied and names - applied for names in replaced):
            return [
                Error(
                    "An early version of Assize made the database, and later changes to its tables are missing.",
                    hint="To keep what it holds: `git checkout 23329c5`, run `manage.py migrate`, and return to this "
                    "version. To begin with an empty one: DATA_DIR=another-folder, or another DATABASE_URL.",
                    id="assize.E002",
                )
            ]
    return []


def is_loopback(host: str) -> bool:
    """Whether an entry of ALLOWED_HOSTS names this machine alone."""
    name = host.rsplit(":", 1)[0] if host.count(":") == 1 else host
    if name.lower().rstrip(".").split(".")[-1] == "localhost":
        return True
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def refuse_an_unsafe_start() -> None:
    """Raise ImproperlyConfigured for errors of the checks above, and say concerns. For starts that run no checks."""
    found = run_checks(tags=[TAG])
    errors = [message for message in found if message.is_serious()]
    if errors:
        raise ImproperlyConfigured("\n".join(f"{error.msg} {error.hint}" for error in errors))
    say(found)


def say(found: Sequence[CheckMessage]) -> None:
    """Say what was found on standard error."""
    for concern in found:
        sys.stderr.write(f"{concern.msg} {concern.hint}\n")
