"""An empty site is set up by few migrations and statements, and a database of an early version is taken or refused."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test.utils import CaptureQueriesContext

from collection.models import Collection, User
from tests.factories import a_collection

OURS = ("annotate", "collection", "judging")
FIRST = [(app, "0001_initial") for app in OURS]
MOST_MIGRATIONS = 35
# What it takes: for SQLite 646 statements, those by which it changes a table among them; for PostgreSQL 853, as it
# makes foreign keys and the indexes of text columns one by one.
MOST_STATEMENTS = {"sqlite": 655, "postgresql": 865}


def replaced(app: str) -> list[tuple[str, str]]:
    return list(MigrationLoader(None).disk_migrations[app, "0001_initial"].replaces)


def test_an_app_begins_with_all_of_its_tables() -> None:
    ours = [key for key in MigrationLoader(None).graph.nodes if key[0] in OURS]

    assert [key for key in sorted(ours) if key[1].startswith("0001")] == FIRST
    assert len(MigrationLoader(None).graph.nodes) <= MOST_MIGRATIONS


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_tables_go_and_come_in_few_statements() -> None:
    a_collection(owner=User.objects.create(username="rosa"))
    tables = set(connection.introspection.table_names())

    MigrationExecutor(connection).migrate([(app, None) for app in OURS])
    assert "collection_user" not in connection.introspection.table_names()
    with CaptureQueriesContext(connection) as queries:
        MigrationExecutor(connection).migrate(MigrationLoader(connection).graph.leaf_nodes())

    assert set(connection.introspection.table_names()) == tables
    assert len(queries) <= MOST_STATEMENTS[connection.vendor]
    assert not Collection.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_database_that_the_last_of_the_replaced_migrations_made_is_taken_as_it_is() -> None:
    rosa = User.objects.create(username="rosa")
    MigrationRecorder.Migration.objects.filter(name="0001_initial", app__in=OURS).delete()

    call_command("migrate", verbosity=0, skip_checks=False)

    assert User.objects.get() == rosa
    assert set(FIRST) <= MigrationRecorder(connection).applied_migrations().keys()


@pytest.mark.django_db(transaction=True)
def test_a_database_that_lacks_some_of_them_meets_a_sentence_that_says_what_to_do() -> None:
    recorder = MigrationRecorder(connection)
    newest = replaced("collection")[-1]
    MigrationRecorder.Migration.objects.filter(name="0001_initial", app__in=OURS).delete()
    recorder.record_unapplied(*newest)

    with pytest.raises(SystemCheckError, match="git checkout 23329c5"):
        call_command("migrate", verbosity=0, skip_checks=False)

    recorder.record_applied(*newest)
