from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, transaction

from collection.models import Item, Passage, RubricElement, Study, TestReading, Topic, User
from collection.splits import AlreadySplit, Part, TooFewTopics, make_split, readings_of, record_reading, topics_in
from tests.factories import a_judge_rater, an_item

AT = datetime(2025, 5, 3, 12, 0, tzinfo=UTC)


def ask_about_each_topic(study: Study) -> list[Topic]:
    """One item for each topic."""
    topics = list(study.collection.topics.order_by("pk"))
    for topic in topics:
        passage = Passage.objects.get_or_create(
            collection=study.collection, passage_id=f"{topic.topic_id}-p0", defaults={"text": "Words."}
        )[0]
        element = RubricElement.objects.get_or_create(
            topic=topic, kind="sub_question", element_id=f"{topic.topic_id}-q0", defaults={"position": 0, "text": "?"}
        )[0]
        an_item(study, "rating", topic=topic, element=element, text=passage)
    return topics


@pytest.fixture
def asked(study: Study) -> Study:
    """A study that asks about ten topics."""
    for number in range(2, 10):
        Topic.objects.create(collection=study.collection, topic_id=f"t{number}", request="?")
    ask_about_each_topic(study)
    return study


@pytest.mark.parametrize(("share", "n_test"), [(0.3, 3), (0.5, 5), (0.01, 1), (0.99, 9)])
def test_parts_whole_topics_by_the_share_and_leaves_neither_part_empty(
    asked: Study, rosa: User, share: float, n_test: int
) -> None:
    split = make_split(study=asked, test_share=share, by=rosa, at=AT)

    test, development = topics_in(split, Part.TEST), topics_in(split, Part.DEVELOPMENT)
    assert (len(test), len(development)) == (n_test, 10 - n_test)
    assert test | development == set(Item.objects.filter(study=asked).values_list("topic__pk", flat=True))
    assert not test & development


def test_the_same_seed_gives_the_same_parts(asked: Study, rosa: User) -> None:
    first = make_split(study=asked, test_share=0.5, by=rosa, at=AT, seed="seven")
    parts = topics_in(first, Part.TEST)
    first.delete()

    again = make_split(study=asked, test_share=0.5, by=rosa, at=AT, seed="seven")

    assert topics_in(again, Part.TEST) == parts


def test_a_study_is_split_once(asked: Study, rosa: User) -> None:
    split = make_split(study=asked, test_share=0.5, by=rosa, at=AT)

    with pytest.raises(AlreadySplit, match="made only once"):
        make_split(study=asked, test_share=0.2, by=rosa, at=AT)

    asked.refresh_from_db()
    assert asked.split == split
    assert split.topics.count() == 10


def test_a_study_about_one_topic_cannot_be_split(study: Study, rosa: User) -> None:
    study.collection.topics.last().delete()  # type: ignore[union-attr]
    ask_about_each_topic(study)

    with pytest.raises(TooFewTopics, match="1 topic"):
        make_split(study=study, test_share=0.5, by=rosa, at=AT)

    assert not hasattr(study, "split")


def test_topics_that_came_later_are_in_neither_part(asked: Study, rosa: User) -> None:
    split = make_split(study=asked, test_share=0.5, by=rosa, at=AT)

    later = Topic.objects.create(collection=asked.collection, topic_id="later", request="?")

    assert later.pk not in topics_in(split, Part.TEST) | topics_in(split, Part.DEVELOPMENT)


def test_readings_are_counted_judge_by_judge(asked: Study, rosa: User) -> None:
    split = make_split(study=asked, test_share=0.5, by=rosa, at=AT)
    one, other = a_judge_rater(asked.collection, "one"), a_judge_rater(asked.collection, "other")

    times = [record_reading(split=split, judge=one, by=rosa, at=AT) for _ in range(2)]

    assert times == [1, 2]
    assert readings_of(split, other) == 0
    assert TestReading.objects.filter(read_by=rosa).count() == 2


def test_the_database_refuses_a_topic_in_two_parts(asked: Study, rosa: User) -> None:
    split = make_split(study=asked, test_share=0.5, by=rosa, at=AT)
    topic = next(iter(topics_in(split, Part.TEST)))

    with pytest.raises(IntegrityError), transaction.atomic():
        split.topics.create(topic_id=topic, part=Part.DEVELOPMENT)
