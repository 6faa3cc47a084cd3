"""What watches the site learns from two addresses whether it lives and whether it can work, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from django.db import OperationalError, connection, connections
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from kombu import Connection
from pytest_django import DjangoAssertNumQueries

from config import health
from config.celery import app

ALL_OK = {"status": "ok", "database": "ok", "broker": "ok", "disk": "ok"}


class Usage(NamedTuple):
    free: int


def test_a_process_that_lives_answers_without_the_database(client: Client) -> None:
    response = client.get("/health/")  # a test without the mark fails where it asks the database

    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert "no-store" in response["Cache-Control"]


@pytest.mark.django_db
def test_a_site_that_can_work_says_so_to_everybody_in_few_queries(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(2):
        response = client.get("/ready/")

    assert (response.status_code, response.json()) == (200, ALL_OK)
    assert not response.cookies


@pytest.mark.django_db
def test_a_database_that_is_not_migrated_is_not_ready(client: Client) -> None:
    label, name = min(health._newest_migrations())
    MigrationRecorder(connection).record_unapplied(label, name)

    response = client.get("/ready/")

    assert response.status_code == 503
    assert response.json() == ALL_OK | {"status": "not ready", "database": f"not migrated: {label}"}


def test_a_database_that_does_not_answer_is_named_without_its_address(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OperationalError("connection to server at db.lab, port 5432 failed")

    monkeypatch.setattr(type(connections["default"]), "ensure_connection", refused)
    response = client.get("/ready/")

    assert response.status_code == 503
    assert response.json()["database"] == "does not answer"
    assert b"db.lab" not in response.content


@pytest.mark.django_db
def test_a_broker_that_does_not_answer_is_not_ready(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.conf, "broker_write_url", "redis://127.0.0.1:1/0")

    response = client.get("/ready/")

    assert (response.status_code, response.json()["broker"]) == (503, "does not answer")


@pytest.mark.django_db
@pytest.mark.parametrize(("folder", "said"), [("broker", "ok"), ("a file/broker", "does not answer")])
def test_the_embedded_broker_is_asked_for_its_messages(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: str, said: str
) -> None:
    (tmp_path / "a file").write_text("")
    messages = Connection("embedded://", transport_options={"folder": str(tmp_path / folder)})
    monkeypatch.setattr(app, "connection_for_write", lambda **_: messages)

    assert client.get("/ready/").json()["broker"] == said


@pytest.mark.django_db
def test_a_full_disk_is_not_ready(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free=1024**2))

    response = client.get("/ready/")

    assert (response.status_code, response.json()["disk"]) == (503, "less than 200 MB free")
