"""Battles for tests: topics with the reports of several runs."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.timezone import now

from annotate.assignments.assignments import submit_assignment
from annotate.models import Assignment
from annotate.studies.lifecycle import open_study
from collection.models import Collection, Report, Run, Study, System, Topic, User
from collection.models.studies import TaskType
from tests.annotate.evaluated_answers import in_hands, rows_of, say
from tests.annotate.factories import NOON, enrolled
from tests.annotate.studies.test_lifecycle import a_study_of

RUNS = ("alder-1", "birch-1", "cedar-1")


def with_reports(collection: Collection, topics: int = 2, runs: Sequence[str] = RUNS) -> Collection:
    """Give a collection topics on which each of these runs reports, in Markdown."""
    of_runs = []
    for name in runs:
        system = System.objects.create(collection=collection, name=f"system {name.partition('-')[0]}")
        of_runs.append(Run.objects.create(collection=collection, system=system, name=name))
    for number in range(topics):
        topic = Topic.objects.create(
            collection=collection,
            topic_id=f"b{number}",
            title=f"Bridge {number}",
            request=f"Why was bridge {number} built, of what, and at whose cost?",
        )
        for place, run in enumerate(of_runs):
            text = f"# Bridge {number}\n\nReport {place}: it was of **oak**.\n\n- It cost {place} florins.\n"
            Report.objects.create(run=run, topic=topic, text=text)
    return collection


def a_collection_with_reports(owner: User, topics: int = 2, runs: Sequence[str] = RUNS) -> Collection:
    return with_reports(Collection.objects.create(name="battles", owner=owner), topics, runs)


def a_study_of_battles(collection: Collection, *people: User, overlap: int = 1) -> Study:
    """An open study that asks every pair."""
    study = a_study_of(collection, "battle", overlap=overlap)
    open_study(study=study, at=now())
    for person in people:
        enrolled(person, study)
    return study


def prefer(person: User, study: Study, winner: str) -> Assignment:
    """Let the person judge the next pair: the report of this run wins, or neither where it is not in it."""
    assignment = in_hands(person, study)
    [row] = rows_of(assignment, TaskType.BATTLE)
    first, second = row.item.report, row.item.other_report
    assert first is not None
    assert second is not None
    say(assignment, row, better=(first.run.name == winner) - (second.run.name == winner))
    submit_assignment(assignment=assignment, at=NOON)
    return assignment
