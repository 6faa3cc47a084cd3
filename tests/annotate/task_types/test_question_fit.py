"""A task on questions: how well the question of a topic fits its category."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from annotate.assignments.assignments import submit_assignment
from annotate.models import Task
from annotate.studies.design import StudyDesign
from annotate.studies.layout import lay_out_tasks
from annotate.studies.lifecycle import make_study
from annotate.task_types import NothingToJudge
from collection.models import Collection, Item, Judgment, RubricElement, Study, Topic, User
from collection.models.studies import TaskType
from judging.prompts.placeholders import category_in_words
from tests.annotate.categorised_questions import CAUSAL, with_categories
from tests.annotate.evaluated_answers import NOON, in_hands, rows_of, say
from tests.annotate.task_types.test_relevance_and_nuggets import opened

ASKED: dict[str, Mapping[str, object]] = {"t0": CAUSAL, "t1": {"category": "subjective"}}


def test_questions_with_a_category_are_asked_that_were_kept_and_not_made_of_others(
    collection: Collection, ada: User
) -> None:
    left_out: dict[str, Mapping[str, object]] = {
        "dull": CAUSAL | {"question_kept": False},
        "made": CAUSAL | {"seed": "t0"},
        "bare": {},
    }
    for name in left_out:
        Topic.objects.create(collection=collection, topic_id=name, request="Why?")
    with_categories(collection, ASKED | left_out)

    study = opened(collection, "question_fit", ada)

    assert [one.item_id for one in study.items.order_by("pk")] == ["question_fit/t0", "question_fit/t1"]
    assert {(one.passage, one.report) for one in Task.objects.filter(study=study)} == {(None, None)}


def test_a_collection_without_such_questions_says_what_would_bring_them(collection: Collection, rosa: User) -> None:
    study = make_study(StudyDesign(collection=collection, name="made", task_types=["question_fit"]), by=rosa, at=NOON)

    with pytest.raises(NothingToJudge, match=r"attribute “category”.*long2rag-categories"):
        lay_out_tasks(study=study, at=NOON)


def test_somebody_reads_the_question_with_its_category_and_grades_it(
    client: Client, collection: Collection, ada: User
) -> None:
    with_categories(collection, {"t0": ASKED["t0"]})
    study = opened(collection, "question_fit", ada, overlap=1)
    assignment = in_hands(ada, study)
    client.force_login(ada)

    page = client.get(reverse("annotate:assignment", args=[assignment.pk])).content.decode()
    [row] = rows_of(assignment, TaskType.QUESTION_FIT)
    say(assignment, row, fit=2)
    submit_assignment(assignment=assignment, at=NOON)

    topic = collection.topics.get(topic_id="t0")
    assert topic.request in page
    assert "Category: causal" in page
    assert "Asks why something happens" in page
    assert [(one.item.item_id, one.grade) for one in Judgment.objects.all()] == [("question_fit/t0", 2)]


def test_an_item_without_a_text_is_one_about_the_topic_alone(study: Study) -> None:
    topic = study.collection.topics.get(topic_id="t0")
    topic.attributes = dict(CAUSAL)
    topic.save()
    item = Item.objects.create(study=study, task_type="question_fit", item_id="q", topic=topic)

    assert (item.judged_text, item.judged_text.text) == (topic, topic.request)
    assert item.asked_about == "causal"
    assert category_in_words(topic).startswith("causal: asks why")
    element = RubricElement.objects.create(
        topic=topic, kind=RubricElement.Kind.NUGGET, element_id="n", text="Fog.", position=9
    )
    with pytest.raises(IntegrityError):
        Item.objects.create(study=study, task_type="nugget", item_id="r", topic=topic, element=element)
