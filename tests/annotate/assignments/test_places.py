"""Finding the next place for an assessor, in a study of many tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet

from annotate.assignments.places import free_places
from annotate.models import Assignment, Place, Task, TaskItem
from collection.models import Item, Passage, Study, User
from tests.annotate.factories import NOON, a_topic_of, an_open_study, enrolled
from tests.factories import new_item

N_TASKS = 3_000
N_TAKEN = 1_000


def a_study_of_many_tasks(study: Study, rater: Any) -> None:
    """Open a study of many tasks, of which the rater has submitted the first ones."""
    topic = a_topic_of(study)
    element = topic.rubric_elements.all()[0]
    passages = Passage.objects.bulk_create(
        Passage(collection=study.collection, passage_id=f"many-{n}", text="Words.") for n in range(N_TASKS)
    )
    tasks = Task.objects.bulk_create(
        Task(study=study, task_type="key_point", topic=topic, passage=passage, position=position)
        for position, passage in enumerate(passages)
    )
    items = Item.objects.bulk_create(
        new_item(study, "key_point", topic=topic, element=element, text=passage) for passage in passages
    )
    TaskItem.objects.bulk_create(
        TaskItem(task=task, item=item, position=0) for task, item in zip(tasks, items, strict=True)
    )
    places = Place.objects.bulk_create(
        Place(task=task, number=1, holder=rater if position < N_TAKEN else None) for position, task in enumerate(tasks)
    )
    Assignment.objects.bulk_create(
        Assignment(
            task=place.task, place=place, rater=rater, opened_at=NOON, touched_at=NOON, submitted_at=NOON,
            state=Assignment.State.SUBMITTED,
        )
        for place in places[:N_TAKEN]
    )  # fmt: skip
    an_open_study(study)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite looks everything up row by row")
def test_the_next_place_is_found_without_going_through_all_tasks_again_and_again(study: Study, ada: User) -> None:
    rater = enrolled(ada, study)
    a_study_of_many_tasks(study, rater)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        cursor.execute("SET LOCAL statement_timeout = '20s'")

    places = free_places(study=study, rater=rater).select_for_update(of=("self",), skip_locked=True)[:1]

    assert [place.task.position for place in places] == [N_TAKEN]
    assert rows_seen(places) < 10 * N_TASKS


def rows_seen(query: QuerySet[Place]) -> float:
    """How many rows PostgreSQL handles in all the steps of its plan."""
    (plan,) = json.loads(query.explain(analyze=True, format="json"))
    return float(
        sum(
            step["Actual Loops"] * (step["Actual Rows"] + step.get("Rows Removed by Join Filter", 0))
            for step in steps_of(plan["Plan"])
        )
    )


def steps_of(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for step in plan.get("Plans", ()):
        yield from steps_of(step)
