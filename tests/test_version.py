"""The version is said by pages, by the API and by exports."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from collection.exporting.collections import exported_collection
from collection.models import Collection
from tests.factories import a_user

pytestmark = pytest.mark.django_db


def test_pages_name_the_version_to_those_who_signed_in(client: Client) -> None:
    to_strangers = client.get("/sign-in/")
    client.force_login(a_user("rosa", is_researcher=True))
    page = client.get("/account/")

    assert settings.VERSION not in to_strangers.content.decode()
    assert "Assize-Version" not in to_strangers
    assert f"Assize {settings.VERSION}" in page.content.decode()


def test_the_api_names_the_version_in_its_schema_and_answers(client: Client) -> None:
    client.force_login(a_user("rosa", is_researcher=True))
    schema: dict[str, Any] = client.get("/api/schema/?format=json").json()

    assert schema["info"]["version"] == settings.VERSION
    assert client.get("/api/v1/collections/")["Assize-Version"] == settings.VERSION


def test_an_exported_collection_names_the_version_that_wrote_it() -> None:
    bridges = Collection.objects.create(name="bridges", owner=a_user("rosa", is_researcher=True))
    first = json.loads(next(exported_collection(bridges)))

    assert first["written_by"] == f"Assize {settings.VERSION}"
