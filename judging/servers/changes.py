"""Making model servers, changing them, asking them what they have, and taking them away."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from collection.accounts.sealing import KEY, is_key, sealed
from collection.addresses import NotAnAddress, web_address
from collection.http import shown
from collection.models import User
from judging.engines.servers import SALT, SITE, of_variables, states_of, usable_by
from judging.models import ModelServer
from judging.models.servers import administers_servers

MOST_ADDRESSES = 16
# Of a researcher who is not an administrator: workers have threads for all, and a page waits for each.
MOST_SERVERS, MOST_OF_ONES_OWN, MOST_AT_ONES_OWN = 10, 4, 32
OF_SITE, OF_OWN = {"users", "everybody"}, {"tokens_a_month"}
# What an administrator may change of the server that JUDGE_BASE_URL names.
OF_VARIABLES = {"users", "everybody", "active", "price_in", "price_out"}
SITES_ALONE = "Your own server is for you alone; the site’s may be for others."
OWN_ALONE = "That is for a server of your own; quotas of the site’s servers are set by administrators."
ADMINISTRATORS = "Administrators of this site alone make and change its servers."
OF_VARIABLE = "JUDGE_BASE_URL names this server: {} cannot be changed here."


def visible_to(user: User) -> list[ModelServer]:
    """Return the servers that the user may use or change, switched off or not, in their names' order."""
    changed = ModelServer.objects.changed_by(user).select_related("owner").prefetch_related("users")
    found = {one.name: one for one in (*usable_by(user), *changed)}
    if administers_servers(user) and (first := of_variables(found.values())):
        found.setdefault(first.name, first)
    return [found[name] for name in sorted(found)]


def may_change(server: ModelServer, user: User | None) -> bool:
    """Whether the user may change the server; None is the command line."""
    return user is None or server.owner_id == user.pk or (server.owner_id is None and administers_servers(user))


def save_server(
    sent: Mapping[str, Any], *, server: ModelServer | None = None, by: User | None, at: datetime
) -> ModelServer:
    """Make a server, or change one that the user may change, and ask it what it has.

    `sent` holds what is given, by the names of `judging.servers.serializers`: without a `key`, that of the same
    addresses is kept. `site`, and whatever comes `by` nobody, from the command line, is the site's. Raises
    ValidationError, by field.
    """
    saved = _save(dict(sent), server, by=by)
    look(saved, at=at)
    return saved


@transaction.atomic
def _save(given: dict[str, Any], server: ModelServer | None, *, by: User | None) -> ModelServer:
    if server is not None and "site" in given:
        raise ValidationError({"site": "A server stays whose it is: add another."})
    of_site = bool(given.pop("site", False)) or by is None
    if server is not None:
        server = ModelServer.objects.select_for_update().filter(pk=server.pk).first() or server
    if server is None:
        server = ModelServer(owner=None if of_site else by)
        if by and not of_site and ModelServer.objects.filter(owner=by).count() >= MOST_SERVERS:
            raise ValidationError({"name": f"You have {MOST_SERVERS} servers: remove one first."})
    elif server.from_variables and (fixed := sorted(set(given) - OF_VARIABLES)):
        raise ValidationError({name: OF_VARIABLE.format(name) for name in fixed})
    if not may_change(server, by):
        raise ValidationError({"site": ADMINISTRATORS})
    for name in (OF_OWN if server.owner is None else OF_SITE) & {name for name, value in given.items() if value}:
        raise ValidationError({name: SITES_ALONE if server.owner else OWN_ALONE})
    key, users = given.pop("key", ""), given.pop("users", None)
    if "addresses" in given:
        given["addresses"] = _roots(given["addresses"])
        if given["addresses"] != server.addresses:
            server.sealed = ""  # a key goes to the addresses that it was entered for
    if key:
        if not is_key(key):
            raise ValidationError({"key": KEY})
        server.sealed = sealed(key, salt=SALT)
    for name, value in given.items():
        setattr(server, name, value)
    _check(server)
    try:
        with transaction.atomic():
            server.save()
    except IntegrityError as error:
        raise ValidationError({"name": "A server of this name exists."}) from error
    if users is not None:
        server.users.set(_named(users))
    return server


def look(server: ModelServer, *, at: datetime) -> None:
    """Ask the server what it has, and keep that, or why it says nothing."""
    states = states_of([server])[server.name]
    silent = [state.reason for state in states if not state.available]
    # What does not answer now has what it had: work goes nowhere else for a restart.
    known = server.serves if silent else []
    server.serves = sorted({*known, *(model for state in states for model in state.models)})
    server.problem, server.asked_at = " ".join(silent), at
    if server.pk is None:
        server.save()  # it is the one of the variables
    else:  # unless it was removed, or leads elsewhere, since
        same = ModelServer.objects.filter(pk=server.pk, addresses=server.addresses)
        same.update(serves=server.serves, problem=server.problem, asked_at=at)


def switch(server: ModelServer, *, active: bool, at: datetime) -> None:
    """Let judges ask the server, or not, and ask it what it has."""
    server.active = active
    if server.pk is not None:
        ModelServer.objects.filter(pk=server.pk).update(active=active)
    look(server, at=at)


def _roots(addresses: list[str]) -> list[str]:
    roots = []
    for address in map(str.strip, addresses):
        try:
            url = web_address(address)
        except NotAnAddress as error:
            raise ValidationError({"addresses": str(error)}) from error
        if url.userinfo or "?" in address or "#" in address:
            raise ValidationError({"addresses": "Enter the key in its own field: addresses are shown."})
        roots.append(shown(address))
    roots = list(dict.fromkeys(roots))
    if not 0 < len(roots) <= MOST_ADDRESSES:
        raise ValidationError({"addresses": f"Enter 1 to {MOST_ADDRESSES} addresses."})
    return roots


def _check(server: ModelServer) -> None:
    if server.name == SITE and not server.from_variables:
        raise ValidationError({"name": f"“{SITE}” is the server that JUDGE_BASE_URL names: choose another name."})
    if server.owner is not None and not administers_servers(server.owner):
        if len(server.addresses) > MOST_OF_ONES_OWN:
            raise ValidationError({"addresses": f"Enter at most {MOST_OF_ONES_OWN} addresses."})
        if server.concurrency > MOST_AT_ONES_OWN:
            raise ValidationError({"concurrency": f"At most {MOST_AT_ONES_OWN} requests at a time."})
    server.full_clean()


def _named(usernames: list[str]) -> list[User]:
    """Return the researchers of these names, for an administrator."""
    found = {user.username: user for user in User.objects.filter(is_researcher=True, username__in=usernames)}
    if missing := [name for name in usernames if name not in found]:
        raise ValidationError({"users": f"No researcher is called “{missing[0]}”."})
    return list(found.values())
