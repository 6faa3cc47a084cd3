"""Making model servers, changing them, asking them what they have, and taking them away."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q

from collection.accounts.sealing import KEY, is_key, sealed
from collection.addresses import NotAnAddress, web_address
from collection.http import root_of
from collection.models import Collection, User
from judging.engines.servers import SALT, SITE, of_variables, states_of, usable_by
from judging.models import ModelServer
from judging.models.servers import administers_servers

MOST_ADDRESSES = 16
MOST_SERVERS = 50
# What an administrator may change of the server that JUDGE_BASE_URL names.
OF_VARIABLES = {"users", "everybody", "active", "price_in", "price_out"}
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
    of_site = bool(given.pop("site", False)) or by is None
    if server is None:
        server = ModelServer(owner=None if of_site else by)
        if by and ModelServer.objects.filter(owner=by).count() >= MOST_SERVERS:
            raise ValidationError({"name": f"You have {MOST_SERVERS} servers: remove one first."})
    elif server.from_variables and (fixed := sorted(set(given) - OF_VARIABLES)):
        raise ValidationError({name: OF_VARIABLE.format(name) for name in fixed})
    if not may_change(server, by):
        raise ValidationError({"site": ADMINISTRATORS})
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
    server.save()
    if users is not None:
        server.users.set(_named(users, by=by))
    return server


def look(server: ModelServer, *, at: datetime) -> None:
    """Ask the server what it has, and keep that, or why it says nothing."""
    states = states_of([server])[server.name]
    server.serves = sorted({model for state in states for model in state.models})
    server.problem = " ".join(state.reason for state in states if not state.available)
    server.asked_at = at
    server.save()


def _roots(addresses: list[str]) -> list[str]:
    roots = []
    for address in dict.fromkeys(map(root_of, map(str.strip, addresses))):
        try:
            url = web_address(address)
        except NotAnAddress as error:
            raise ValidationError({"addresses": str(error)}) from error
        if url.userinfo or url.query or url.fragment:
            raise ValidationError({"addresses": "Enter the key in its own field: addresses are shown."})
        roots.append(address)
    if not 0 < len(roots) <= MOST_ADDRESSES:
        raise ValidationError({"addresses": f"Enter 1 to {MOST_ADDRESSES} addresses."})
    return roots


def _check(server: ModelServer) -> None:
    if server.name == SITE and not server.from_variables:
        raise ValidationError({"name": f"“{SITE}” is the server that JUDGE_BASE_URL names: choose another name."})
    if server.everybody and server.owner_id:
        raise ValidationError({"everybody": "Your own server can be for people whom you name, and not for everybody."})
    if not server.addresses and not server.from_variables:
        raise ValidationError({"addresses": f"Enter 1 to {MOST_ADDRESSES} addresses."})
    server.full_clean()


def _named(usernames: list[str], *, by: User | None) -> list[User]:
    """Return the researchers of these names. Of others than an administrator's, only those they work with count."""
    people = User.objects.filter(is_researcher=True, is_active=True, username__in=usernames)
    if by is not None and not administers_servers(by):
        shared = Collection.objects.of(by)
        people = people.filter(Q(shared_collections__in=shared) | Q(owned_collections__in=shared)).distinct()
    found = {user.username: user for user in people}
    if missing := [name for name in usernames if name not in found]:
        known = "" if by is None or administers_servers(by) else " who shares a collection with you"
        raise ValidationError({"users": f"No researcher{known} is called “{missing[0]}”."})
    return list(found.values())
