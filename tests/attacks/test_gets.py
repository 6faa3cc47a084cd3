"""Whatever is only looked at changes nothing: no address writes, locks or begins a transaction by GET or HEAD.

Every test of the suite is held to that by `tests.reading`; here each address is asked at least once.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.test import Client, RequestFactory
from django.utils.timezone import now

from collection.models import User
from tests.attacks.mutations import FULL
from tests.attacks.test_roles import ROLES
from tests.attacks.world import World, a_world, addresses, path_of
from tests.reading import GetsOnlyRead, WrittenByGet

# Who sees what there is; the others see less.
INSIDERS = ["anonymous", "ada", "rosa"]


def write(request: HttpRequest) -> HttpResponse:
    User.objects.update(last_login=now())
    return HttpResponse()


def lock(request: HttpRequest) -> HttpResponse:
    with transaction.atomic():
        return HttpResponse(list(User.objects.select_for_update()))


def stream_what_is_written(request: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(str(User.objects.update(last_login=now())) for _ in range(1))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("view", [write, lock, stream_what_is_written])
def test_a_page_that_writes_is_found_out(view: object) -> None:
    page = GetsOnlyRead(view)  # type: ignore[arg-type]
    requests = RequestFactory()

    for request in (requests.get("/"), requests.head("/")):
        with pytest.raises(WrittenByGet):
            read(page(request))
    assert page(requests.post("/")).status_code == 200


def read(response: HttpResponseBase) -> bytes:
    return response.getvalue()


def written(world: World, role: str, methods: list[str]) -> Iterator[str]:
    """Yield what requests that only look have written."""
    user = world.people[role]
    client = Client()
    if user:
        client.force_login(user)
    for address in addresses():
        for method in methods:
            try:
                read(client.generic(method, path_of(address, world)))
            except WrittenByGet as found:
                yield f"{method} {address} for {role}: {found}"


@pytest.mark.django_db
@pytest.mark.parametrize("role", ROLES if FULL else INSIDERS)
@pytest.mark.slow
def test_no_address_writes_when_it_is_looked_at(role: str) -> None:
    assert list(written(a_world(), role, ["GET", "HEAD"] if FULL else ["GET"])) == []
