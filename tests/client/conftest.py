"""A site as the client reaches it: through Django, without a network, in the test's own transaction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from assize_client import Site
from assize_client.connection import Connection
from django.test import Client
from django.utils.timezone import now
from pytest_django.fixtures import Settings

from collection.importing.background import work_on_upload
from collection.models import Upload, User
from tests.factories import a_token


def worker(_: float) -> None:
    """Do what the worker does while a client waits."""
    for upload in Upload.objects.at_work():
        work_on_upload(pk=upload.pk, generation=upload.generation, at=now())


def through_django(request: httpx.Request) -> httpx.Response:
    """Answer as the site does."""
    headers = {name: value for name, value in request.headers.items() if name == "authorization"}
    address, sort = request.url.raw_path.decode(), request.headers.get("Content-Type", "")
    answer = Client(headers=headers).generic(request.method, address, request.read(), content_type=sort)
    return httpx.Response(answer.status_code, headers=dict(answer.headers), content=b"".join(answer))


@pytest.fixture
def site(settings: Settings, tmp_path: Path) -> Callable[[User], Site]:
    settings.MEDIA_ROOT = tmp_path / "media"

    def of(user: User) -> Site:
        transport = httpx.MockTransport(through_django)
        return Site(Connection("http://testserver", a_token(user), transport=transport, sleep=worker))

    return of
