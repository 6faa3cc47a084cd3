"""The samples on the import page: each is recognised, and together they make a collection with a study."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.utils.timezone import now

from collection.formats.recognition import recognised
from collection.importing.files import ORDER, FilesOptions, import_files
from collection.models import Citation, Collection, Judgment, User

SAMPLES = sorted((Path(settings.BASE_DIR) / "static" / "samples").iterdir())


def test_there_is_one_of_each_kind_that_is_recognised_but_tables_of_a_study() -> None:
    kinds = [recognised(path, name=path.name) for path in SAMPLES]

    assert set(kinds) == set(ORDER) - {"judgments", "scores"}


@pytest.mark.django_db
def test_the_page_offers_them(client: Client, collection: Collection, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(f"/collections/{collection.name}/import/").content.decode()

    assert sorted(re.findall(r'samples/([^"]+)" download', page)) == [path.name for path in SAMPLES]


@pytest.mark.django_db
def test_they_go_in_together(rosa: User) -> None:
    lighthouses = Collection.objects.create(name="lighthouses", owner=rosa)
    files = [(path.name, path) for path in SAMPLES]

    outcome = import_files(files=files, collection=lighthouses, options=FilesOptions(), at=now())
    again = import_files(files=files, collection=lighthouses, options=FilesOptions(), at=now())

    assert not outcome.waits
    assert not outcome.flaws
    assert not again.changed
    assert lighthouses.topics.count() == 9
    assert Citation.objects.count() == 2
    assert Judgment.objects.filter(item__study__collection=lighthouses).count() == 12
    assert lighthouses.studies.get(name="lighthouses-rubric").criteria.count() == 2
