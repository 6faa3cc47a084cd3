"""Rows that are inserted past the models: one of a kind, or a few together."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from pytest_django import DjangoAssertNumQueries

from collection.judgments import bulk
from collection.judgments.bulk import AskedWhileInserting, insert_rows
from collection.judgments.inserting import insert_together, insert_unless_there
from collection.models import Item, Judgment, Rater, Report, Study, Topic
from collection.models.studies import TaskType
from tests.factories import an_item

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
UNIQUE = ("criterion", "item", "rater")


def a_judgment(study: Study, rater: Rater, *, grade: float = 1, ungraded: str = "") -> Judgment:
    """A judgment that is not stored, of the study's only item."""
    item = study.items.first() or a_first_item(study)
    criterion = study.criteria.get(name="answerability")
    return Judgment(item=item, criterion=criterion, rater=rater, grade=grade, ungraded=ungraded, judged_at=NOON)


def a_first_item(study: Study) -> Item:
    topic = study.collection.topics.order_by("pk")[0]
    report = Report.objects.get(topic=topic)
    return an_item(study, TaskType.ANSWERABILITY, topic=topic, element=topic.rubric_elements.all()[0], text=report)


def test_a_new_row_gets_its_key(study: Study, ada_as_rater: Rater) -> None:
    judgment = a_judgment(study, ada_as_rater)

    assert insert_unless_there(judgment, unique=UNIQUE)

    stored = Judgment.objects.get()
    assert (stored, stored.grade, stored.judged_at) == (judgment, 1, NOON)
    assert not judgment._state.adding


def test_a_row_that_is_there_stays_as_it_is(study: Study, ada_as_rater: Rater) -> None:
    insert_unless_there(a_judgment(study, ada_as_rater, grade=1), unique=UNIQUE)
    second = a_judgment(study, ada_as_rater, grade=0)

    assert not insert_unless_there(second, unique=UNIQUE)

    assert second.pk is None
    assert Judgment.objects.get().grade == 1


def test_what_the_database_refuses_is_refused(study: Study, ada_as_rater: Rater) -> None:
    with pytest.raises(IntegrityError):
        insert_unless_there(a_judgment(study, ada_as_rater, grade=1, ungraded="refused"), unique=UNIQUE)


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_one_is_inserted(study: Study, ada_as_rater: Rater) -> None:
    judgments = [a_judgment(study, ada_as_rater, grade=number % 2) for number in range(6)]
    together = Barrier(len(judgments))

    def insert(judgment: Judgment) -> bool:
        together.wait()
        try:
            return insert_unless_there(judgment, unique=UNIQUE)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(judgments)) as threads:
        inserted = list(threads.map(insert, judgments))

    (winner,) = [judgment for judgment, was in zip(judgments, inserted, strict=True) if was]
    assert Judgment.objects.get().grade == winner.grade


def test_a_few_rows_take_one_statement(study: Study, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    topics = [
        Topic(collection=study.collection, topic_id=f"new-{n}", request=f"Über {n} %s?", attributes={"n": [n]})
        for n in range(3)
    ]

    with django_assert_num_queries(1):
        insert_together(topics)

    stored = Topic.objects.filter(topic_id__startswith="new-").order_by("pk")
    assert [(topic.request, topic.attributes) for topic in stored] == [(f"Über {n} %s?", {"n": [n]}) for n in range(3)]


def test_no_rows_take_no_statement(db: None, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        insert_together([])


def test_rows_on_their_way_in_may_not_ask_the_database(study: Study, ada_as_rater: Rater) -> None:
    """PostgreSQL would wait for itself for ever; other databases would answer."""
    item, criterion = a_first_item(study), study.criteria.get(name="answerability")

    def rows() -> Iterator[tuple[Any, ...]]:
        for rater in Rater.objects.filter(pk=ada_as_rater.pk):
            yield item.pk, criterion.pk, rater.pk, 1.0, "", NOON

    with pytest.raises(AskedWhileInserting, match="rows of Judgment are inserted: SELECT"), transaction.atomic():
        insert_rows(Judgment, ("item_id", "criterion_id", "rater_id", "grade", "ungraded", "judged_at"), rows())

    assert not Judgment.objects.exists()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="Of PostgreSQL alone are statistics refreshed.")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("much", "refreshed"), [(3, True), (4, False)])
def test_statistics_follow_many_rows(study: Study, monkeypatch: pytest.MonkeyPatch, much: int, refreshed: bool) -> None:
    monkeypatch.setattr(bulk, "MUCH", much)
    bulk._grown.clear()  # of what other tests took back
    fields = ("collection", "topic_id", "request", "title", "attributes")
    rows: list[tuple[object, ...]] = [(study.collection.pk, f"late{n}", "Who?", "", {}) for n in range(3)]
    asked = "SELECT pg_stat_get_last_analyze_time('collection_topic'::regclass)"

    with connection.cursor() as cursor:
        before = cursor.execute(asked).fetchone()
        with transaction.atomic():
            insert_rows(Topic, fields, rows)
        after = cursor.execute(asked).fetchone()

    assert (after != before) is refreshed
