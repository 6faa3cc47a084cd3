"""An empty site is set up by few migrations and statements, and a database of an early version is taken or refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from collection.models import Collection, Study, User
from judging.models import Build, Completion, GenerationCall, GradingJob
from tests.factories import a_collection
from tests.judging.building.world import a_build
from tests.judging.world import a_job, with_items, work_through

OURS = ("annotate", "collection", "judging")
FIRST = [(app, "0001_initial") for app in OURS]
MOST_MIGRATIONS = 40
# What it takes: for SQLite 818 statements, those by which it changes a table among them; for PostgreSQL 910, as it
# makes foreign keys and the indexes of text columns one by one.
MOST_STATEMENTS = {"sqlite": 825, "postgresql": 925}


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


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_what_had_a_reply_before_calls_were_counted_is_counted(study: Study) -> None:
    with_items(study)
    jobs = [work_through(a_job(study)), work_through(a_job(study, "rating"))]
    of_both_orders = jobs[0].completions.order_by("pk").values("pk")[:2]
    Completion.objects.filter(pk__in=of_both_orders).update(other_order={"grade": 1.0})
    build = a_build(study.collection, "report-direct", by=study.collection.owner)
    calls: dict[str, Any] = {"build": build, "topic": build.collection.topics.first(), "finished_at": now()}
    changed: list[dict[str, Any]] = [{}, {}, {"finished_at": None}, {"sampling": {}}]
    for number, changes in enumerate(changed):
        GenerationCall.objects.create(inputs_hash=f"hash-{number}", **calls | {"sampling": {"seed": 1}} | changes)
    executor = MigrationExecutor(connection)
    executor.migrate([("judging", "0001_initial")])

    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())

    found = [GradingJob.objects.get(pk=job.pk) for job in jobs]
    assert [job.n_calls for job in found] == [jobs[0].done + 2, jobs[1].done]
    assert Build.objects.get().n_calls == 2
