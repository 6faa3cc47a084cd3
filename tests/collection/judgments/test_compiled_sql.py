"""Queries that are compiled once: they answer as any other, whatever values they are given."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.transaction import TransactionManagementError
from pytest_django import DjangoAssertNumQueries

from collection.judgments.compiled_sql import compiled
from collection.models import Collection, Criterion, Passage, Study, Topic, User


def compiled_topics() -> tuple[Callable[..., list[Topic]], list[str]]:
    """A compiled query, and the times that its function was called."""
    calls: list[str] = []

    @compiled
    def topics_of(*, collection: int, topic_id: str) -> QuerySet[Topic]:
        calls.append("once")
        return Topic.objects.filter(collection=collection, topic_id=topic_id).select_related("collection")

    return topics_of, calls


def test_takes_other_values_at_each_call_and_is_compiled_once(collection: Collection) -> None:
    topics_of, calls = compiled_topics()

    found = [topics_of(collection=collection.pk, topic_id=name) for name in ("t0", "t1", "t2", "t0")]

    assert [[topic.topic_id for topic in topics] for topics in found] == [["t0"], ["t1"], [], ["t0"]]
    assert calls == ["once"]


def test_sees_what_was_written_since(collection: Collection) -> None:
    topics_of, _ = compiled_topics()
    before = topics_of(collection=collection.pk, topic_id="new")
    topic = Topic.objects.create(collection=collection, topic_id="new", request="What is new?")

    assert (before, topics_of(collection=collection.pk, topic_id="new")) == ([], [topic])


def test_rows_come_with_what_belongs_to_them(
    collection: Collection, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    topics_of, _ = compiled_topics()

    with django_assert_num_queries(1):
        (topic,) = topics_of(collection=collection.pk, topic_id="t0")
        assert topic.collection.name == collection.name


def test_values_are_converted_as_in_any_query(study: Study) -> None:
    @compiled
    def points_of(*, study: int, since: datetime, name: str) -> QuerySet[Criterion, tuple[Any, ...]]:
        made = Criterion.objects.filter(study=study, study__created_at__gt=since, name=name)
        return made.values_list("scale__points", "study__created_at", "threshold")

    values: dict[str, Any] = {"study": study.pk, "since": study.created_at - timedelta(1), "name": "answerability"}
    rows = points_of(**values)

    criterion = study.criteria.select_related("scale").get(name="answerability")
    assert rows == [(criterion.scale.points, study.created_at, criterion.threshold)]
    assert points_of(**(values | {"since": study.created_at})) == []


def test_a_value_may_stand_in_a_subquery(collection: Collection) -> None:
    @compiled
    def is_there(*, passage_id: str, name: str) -> QuerySet[Collection, Any]:
        passages = Passage.objects.filter(collection=OuterRef("pk"), passage_id=passage_id)
        return Collection.objects.filter(name=name).values_list(Exists(passages), flat=True)

    first = collection.passages.order_by("pk")[0].passage_id

    assert is_there(passage_id=first, name=collection.name) == [True]
    assert is_there(passage_id="none", name=collection.name) == [False]


def test_a_text_is_a_value_and_never_sql(collection: Collection) -> None:
    topics_of, _ = compiled_topics()

    assert topics_of(collection=collection.pk, topic_id="t0' OR '1'='1") == []
    assert topics_of(collection=collection.pk, topic_id="100 %s") == []


@pytest.mark.parametrize("value", [None, [1, 2], (1,), {1}])
def test_refuses_what_django_would_compile_to_other_sql(value: Any, collection: Collection) -> None:
    topics_of, _ = compiled_topics()

    with pytest.raises(TypeError, match="takes one value for each of its arguments"):
        topics_of(collection=collection.pk, topic_id=value)


@pytest.mark.django_db(transaction=True)
def test_threads_do_not_get_one_anothers_rows(rosa: User) -> None:
    collection = Collection.objects.create(name="many", owner=rosa)
    names = [f"topic-{number}" for number in range(8)]
    Topic.objects.bulk_create(Topic(collection=collection, topic_id=name, request="?") for name in names)
    topics_of, _ = compiled_topics()

    def find(name: str) -> set[str]:
        try:
            return {topic.topic_id for _ in range(50) for topic in topics_of(collection=collection.pk, topic_id=name)}
        finally:
            connection.close()

    with ThreadPoolExecutor(len(names)) as threads:
        assert list(threads.map(find, names)) == [{name} for name in names]


@pytest.mark.django_db(transaction=True)
def test_rows_are_locked_in_a_transaction_only(rosa: User) -> None:
    collection = Collection.objects.create(name="many", owner=rosa)

    @compiled
    def held(*, pk: int) -> QuerySet[Collection]:
        return Collection.objects.select_for_update(of=("self",)).select_related("owner").filter(pk=pk)

    with transaction.atomic():
        assert [found.owner for found in held(pk=collection.pk)] == [rosa]
    with pytest.raises(TransactionManagementError, match="inside of a transaction"):
        held(pk=collection.pk)


def test_models_keep_what_was_not_asked_for_until_they_need_it(
    collection: Collection, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    @compiled
    def named(*, pk: int) -> QuerySet[Topic]:
        return Topic.objects.filter(pk=pk).select_related("collection").only("topic_id", "collection__name")

    stored = collection.topics.order_by("pk")[0]

    with django_assert_num_queries(1):
        (topic,) = named(pk=stored.pk)
        assert (topic.topic_id, topic.collection.name) == (stored.topic_id, collection.name)
    assert topic == stored
    assert topic.get_deferred_fields() >= {"request"}
    with django_assert_num_queries(1):
        assert topic.request == stored.request
    topic.request = "Another?"
    topic.save()
    assert Topic.objects.get(pk=stored.pk).request == "Another?"


def test_asks_the_same_whether_queries_are_watched_or_not(collection: Collection) -> None:
    topics_of, _ = compiled_topics()
    watched: list[str] = []

    def watch(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        watched.append(sql)
        return execute(sql, *rest)

    alone = topics_of(collection=collection.pk, topic_id="t0")
    with connection.execute_wrapper(watch):
        assert topics_of(collection=collection.pk, topic_id="t0") == alone
    assert len(watched) == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="a file has no connection that ends")
def test_a_request_gets_another_connection_where_its_own_has_ended(rosa: User) -> None:
    collection = Collection.objects.create(name="many", owner=rosa)

    @compiled
    def named(*, pk: int) -> QuerySet[Collection]:
        return Collection.objects.filter(pk=pk)

    def end_it() -> None:
        other = connection.copy()
        connection.ensure_connection()
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])
        other.close()

    named(pk=collection.pk)
    end_it()
    connection.close_if_unusable_or_obsolete()  # as when a request begins
    assert named(pk=collection.pk) == [collection]

    end_it()
    with pytest.raises(OperationalError):  # in the middle of one, nobody knows what came before
        named(pk=collection.pk)
    connection.close()
