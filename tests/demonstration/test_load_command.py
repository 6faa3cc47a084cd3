"""`manage.py load_demonstration` where something else is there, or where it must not load."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from collection.models import Collection, Study, User

pytestmark = pytest.mark.django_db


def load(*arguments: str) -> str:
    said = StringIO()
    call_command("load_demonstration", *arguments, stdout=said)
    return said.getvalue()


def test_refuses_where_it_is_not_a_demonstration(settings: Settings) -> None:
    settings.DEMONSTRATION = False

    with pytest.raises(CommandError, match="Set DEMONSTRATION=true"):
        load()

    assert not User.objects.exists()


@pytest.mark.slow
def test_loads_where_it_is_forced(settings: Settings) -> None:
    settings.DEMONSTRATION = False

    said = load("--force")

    assert "password assize-demo" in said
    closed = Study.objects.exclude(state=Study.State.OPEN)
    assert [study.name for study in closed] == ["demonstration-suggestions"]


@pytest.mark.slow
def test_whoever_has_such_a_name_already_keeps_their_password_and_rights(settings: Settings) -> None:
    settings.DEMONSTRATION = True
    User.objects.create_user(username="rosa", password="her own")

    load()

    rosa = User.objects.get(username="rosa")
    assert rosa.check_password("her own")
    assert not rosa.is_researcher


def test_a_collection_of_that_name_with_other_texts_is_left_alone(settings: Settings) -> None:
    settings.DEMONSTRATION = True
    mallory = User.objects.create_user(username="mallory")
    collection = Collection.objects.create(name="demonstration", owner=mallory)
    collection.passages.create(passage_id="bees-p1", text="Mine.")

    with pytest.raises(CommandError, match="already there with another text"):
        load()

    assert User.objects.count() == 1
    assert collection.passages.count() == 1
    assert not Study.objects.exists()
