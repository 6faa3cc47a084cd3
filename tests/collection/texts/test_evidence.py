"""The passages that an answer rests on: retrieved, named by its topic, or ranked by a run without a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from collection.models import Collection, Passage, RankedPassage, Report, Run, System, Topic
from collection.texts.evidence import Grounds, grounds_of


@pytest.fixture
def report(collection: Collection) -> Report:
    """The report on Rosa's first topic, whose collection has passages t0-p0 and t0-p1."""
    return Report.objects.get(topic__topic_id="t0")


def rank(run: Run, topic: Topic, *names: str) -> None:
    for place, name in enumerate(names, start=1):
        RankedPassage.objects.create(run=run, topic=topic, passage_id=name, rank=place, score=1 / place)


def names_of(grounds: Grounds) -> list[str]:
    passages = Passage.objects.in_bulk(grounds.passages)
    return [passages[pk].passage_id for pk in grounds.passages]


def test_an_answer_rests_on_the_first_three_that_its_run_ranked(collection: Collection, report: Report) -> None:
    rank(report.run, report.topic, "t0-p1", "t1-p0", "t0-p0", "t1-p1")

    grounds = grounds_of(collection)[report.pk]

    assert names_of(grounds) == ["t0-p1", "t1-p0", "t0-p0"]
    assert grounds.retrieved


def test_without_a_ranking_it_rests_on_the_passages_that_its_topic_names(
    collection: Collection, report: Report
) -> None:
    report.topic.attributes = {"passages": ["t0-p1", "not-held"]}
    report.topic.save()

    grounds = grounds_of(collection)[report.pk]

    assert names_of(grounds) == ["t0-p1"]
    assert not grounds.retrieved


def test_without_either_it_rests_on_what_a_run_without_reports_ranks(collection: Collection, report: Report) -> None:
    gold = System.objects.create(collection=collection, name="gold")
    rank(Run.objects.create(collection=collection, system=gold, name="gold"), report.topic, "t0-p0")

    grounds = grounds_of(collection)[report.pk]

    assert names_of(grounds) == ["t0-p0"]
    assert not grounds.retrieved


def test_a_ranking_of_passages_that_are_not_held_is_not_replaced_by_gold(
    collection: Collection, report: Report
) -> None:
    report.topic.attributes = {"passages": ["t0-p1"]}
    report.topic.save()
    rank(report.run, report.topic, "elsewhere")

    assert report.pk not in grounds_of(collection)


@pytest.mark.parametrize("attributes", [{}, {"passages": "t0-p0"}, {"passages": [7]}, {"passages": None}, []])
def test_attributes_that_name_no_passages_are_no_grounds(
    collection: Collection, report: Report, attributes: Any
) -> None:
    report.topic.attributes = attributes
    report.topic.save()

    assert report.pk not in grounds_of(collection)


def test_takes_three_queries_for_one_topic_or_all(
    collection: Collection, report: Report, django_assert_num_queries: Callable[[int], Any]
) -> None:
    rank(report.run, report.topic, "t0-p1", "t0-p0")

    with django_assert_num_queries(3):
        everything = grounds_of(collection)
    with django_assert_num_queries(3):
        of_one = grounds_of(collection, topics=[report.topic.pk])

    assert everything == of_one
