"""Which model servers somebody may ask for a model, with which key.

A researcher's own servers come first: where one has the model, the site's are not asked, whose tokens the
operator pays for. Servers of the same kind that have the model share the work; to the others nothing is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import httpx
from django.conf import settings
from django.db.models import Q

from collection.accounts.sealing import SealBroken, unsealed
from collection.models import User
from judging.engines import EngineState, EngineUnavailable
from judging.engines.http import Access, Place, addresses, shown
from judging.engines.server_probe import identify
from judging.models import Build, Judge, ModelServer
from judging.models.servers import administers_servers

SALT = "judging.model-server-key"
# The name of the server that JUDGE_BASE_URL names.
SITE = "site"
# Somebody waits for the page.
SECONDS_TO_LOOK = 5.0


def of_variables(stored: Iterable[ModelServer]) -> ModelServer | None:
    """Return the server that JUDGE_BASE_URL names, where it names one: as stored, once somebody has changed it."""
    if not addresses(settings.JUDGE_BASE_URL):
        return None
    new = ModelServer(name=SITE, from_variables=True, everybody=True)
    return next((one for one in stored if one.from_variables), new)


def usable_by(user: User | None) -> list[ModelServer]:
    """Return the active servers that the user may ask; None is the command line, which may ask all of the site's.

    An administrator is a user like others here: a researcher's own servers are for that researcher alone.
    """
    allowed = ModelServer.objects.filter(owner=None) if user is None else ModelServer.objects.of(user)
    may_use = Q(pk__in=allowed.values("pk"))
    rows = ModelServer.objects.filter(may_use | Q(from_variables=True)).annotate(may_use=may_use)
    found = {row.name: row for row in rows.select_related("owner")}
    first = of_variables(found.values())
    if first is not None:
        found = {first.name: first} | found
    return [one for one in found.values() if one.active and getattr(one, "may_use", True) and roots_of(one)]


def serving(
    model: str, user: User | None, *, own: bool | None = None, usable: Sequence[ModelServer] | None = None
) -> list[ModelServer]:
    """Return the servers to ask for a model: those that list it, or that were never asked what they have.

    `own` takes the user's own or the site's; None the user's own where one lists the model. A site's server whose list
    is old is asked where no other lists it.
    """
    usable = usable_by(user) if usable is None else usable
    owned = [one for one in usable if one.owner_id and model in one.serves]
    if owned if own is None else own:
        return owned
    of_site = [one for one in usable if one.owner_id is None]
    return [one for one in of_site if _may_serve(one, model)] or of_site


def _may_serve(server: ModelServer, model: str) -> bool:
    return model in server.serves or server.asked_at is None


def prices_of(writer: Judge | Build, user: User | None) -> tuple[float | None, float | None]:
    """Return what a million tokens of prompts and of replies cost where it asks for the user, if that is known."""
    asked = serving(writer.model, user) if writer.engine == Judge.Engine.OPENAI else []
    prices = ((server.price_in, server.price_out) for server in asked if _may_serve(server, writer.model))
    return next((pair for pair in prices if pair != (None, None)), (None, None))


def on_own_servers(model: str, user: User | None) -> bool:
    """Whether work with this model asks the user's own servers."""
    return any(one.owner_id for one in serving(model, user))


def access_to(servers: Iterable[ModelServer]) -> tuple[Access, ...]:
    """Return all addresses of the servers, each with its key. Raises EngineUnavailable where a key is not readable."""
    return tuple(access for server in servers for access in _access_to(server))


def roots_of(server: ModelServer) -> list[str]:
    """Return the server's addresses as people may see them: without /v1 and without a password."""
    return [shown(url) for url in (addresses(settings.JUDGE_BASE_URL) if server.from_variables else server.addresses)]


def places_of(servers: Iterable[ModelServer]) -> list[Place]:
    """Return by what each address of each server is known, as people may see it."""
    return [(root, server.pk) for server in servers for root in roots_of(server)]


def _access_to(server: ModelServer) -> list[Access]:
    if server.from_variables:
        key, at_once = settings.JUDGE_API_KEY, settings.JUDGE_CONCURRENCY
        return [Access(url, key, at_once, server=server.pk) for url in addresses(settings.JUDGE_BASE_URL)]
    public_only = server.owner is not None and not administers_servers(server.owner)
    alias = "" if server.everybody else f"the server “{server}”"
    key = _key_of(server)
    return [Access(url, key, server.concurrency, public_only, alias, server.pk) for url in server.addresses]


def _key_of(server: ModelServer) -> str:
    try:
        return unsealed(server.sealed, salt=SALT) if server.sealed else ""
    except SealBroken as broken:
        raise EngineUnavailable(f"The key of the server “{server}” cannot be used. {broken}") from broken


def states_of(servers: Sequence[ModelServer]) -> dict[str, list[EngineState]]:
    """Ask each address of each server what it is and what it serves, all at once; by the server's name."""
    asked: list[tuple[str, Access]] = []
    states: dict[str, list[EngineState]] = {server.name: [] for server in servers}
    for server in servers:
        try:
            asked += [(server.name, access) for access in _access_to(server)]
        except EngineUnavailable as unreadable:
            states[server.name].append(EngineState(available=False, reason=str(unreadable)))
    if asked:
        with ThreadPoolExecutor(min(len(asked), 16)) as executor:
            for (name, _), state in zip(asked, executor.map(_state_at, [one for _, one in asked]), strict=True):
                states[name].append(state)
    return states


def server_states(user: User | None) -> list[EngineState]:
    """Ask each server that the user may use what it is and what it serves; none if there is none."""
    return [state for states in states_of(usable_by(user)).values() for state in states]


def _state_at(access: Access) -> EngineState:
    where = shown(access.address)
    try:
        with access.client(timeout=SECONDS_TO_LOOK) as client:
            server = identify(client, timeout=SECONDS_TO_LOOK)
    except (EngineUnavailable, httpx.HTTPError) as error:
        return EngineState(available=False, reason=str(error), details={"address": where})
    return EngineState(
        available=True,
        identity=server.identity,
        models=server.models,
        details={"address": where, "kind": server.kind, "context_length": server.context_length},
    )
