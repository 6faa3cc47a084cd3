"""LONG²RAG’s questions: points, categories and parts become attributes of topics."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils.timezone import now

from annotate.frames.attributes import topic_attributes
from collection.models import Collection, User
from judging.building.additions.addition import add_to_collection
from judging.building.progress import steps_of
from judging.building.review import decide, products_to_review
from judging.building.sources import CannotBuild
from judging.building.topic_attributes import NoAttribute, attributes_in
from judging.models import Build
from tests.judging.building.world import Scripted, a_build, finish

pytestmark = pytest.mark.django_db


def built(collection: Collection, pipeline: str, replies: dict[str, str], by: User) -> tuple[Build, Scripted]:
    """Let the model reply by the subject that a topic's request names, and accept everything."""
    engine = Scripted(lambda request: next(said for asked, said in replies.items() if asked in request.prompt))
    build = finish(a_build(collection, pipeline, by=by), engine)
    decide(build, [one.pk for one in products_to_review(build)], "accepted", by=by, at=now())
    return build, engine


def attributes(collection: Collection, topic: str) -> dict[str, Any]:
    found: dict[str, Any] = collection.topics.get(topic_id=topic).attributes
    return found


def named(collection: Collection) -> None:
    collection.topics.filter(topic_id="t0").update(request="Why is subject 0 so?", attributes={"category": "old"})
    collection.topics.filter(topic_id="t1").update(request="What is subject 1?")


def test_questions_are_filtered_and_what_is_kept_is_sorted(collection: Collection, rosa: User) -> None:
    named(collection)
    points, _ = built(collection, "long2rag-filter", {"subject 0": "[4]", "subject 1": "My score: [3]"}, rosa)
    added = add_to_collection(points, by=rosa, at=now())
    of_kept, engine = built(collection, "long2rag-categories", {"subject": '{"category": "Causal"}'}, rosa)
    add_to_collection(of_kept, by=rosa, at=now())

    assert (added.new, len(engine.asked)) == (2, 1)
    first, second = attributes(collection, "t0"), attributes(collection, "t1")
    assert (first["question_points"], first["question_kept"], first["category"]) == (4, True, "causal")
    assert (second["question_points"], second["question_kept"], second.get("category")) == (3, False, None)
    making = first["generated_attributes"]["category"]
    assert (making["prompt"], making["review"], making["before"]) == (
        "long2rag-categories", "accepted", {"category": "old"},
    )  # fmt: skip
    assert first["generated_attributes"]["question_points"]["pipeline"] == "long2rag-filter"
    # A study's frame can draw by it.
    assert [one.counts for one in topic_attributes(collection) if one.name == "question_kept"] == [
        (("true", 1), ("false", 1))
    ]


@pytest.mark.parametrize(
    ("pipeline", "reply", "fault"),
    [
        ("long2rag-filter", "[6]", "unreadable"),
        ("long2rag-filter", "[0]", "unreadable"),
        ("long2rag-filter", "4", "unreadable"),
        ("long2rag-filter", "[4] or [5]", "unreadable"),
        ("long2rag-categories", "causal", "unreadable"),
        ("long2rag-categories", '{"category": "odd"}', "bad_label"),
        ("long2rag-parts", "[1]", "unreadable"),
        ("long2rag-parts", '{"type": "Hard", "questions": []}', "bad_label"),
        ("long2rag-parts", '{"type": "Complex", "questions": []}', "too_few"),
        ("long2rag-parts", '{"type": "Vague", "questions": "Why?"}', "unreadable"),
    ],
)
def test_a_reply_that_cannot_be_read_leaves_the_topic_as_it_is(
    collection: Collection, rosa: User, pipeline: str, reply: str, fault: str
) -> None:
    build, _ = built(collection, pipeline, {"": reply}, rosa)

    assert steps_of(build)[0].faults == {fault: 2}
    assert not build.products.exists()
    with pytest.raises(CannotBuild, match="Nothing is accepted"):
        add_to_collection(build, by=rosa, at=now())


def test_parts_of_questions_are_kept_a_line_each(collection: Collection, rosa: User) -> None:
    named(collection)
    build, _ = built(
        collection,
        "long2rag-parts",
        {
            "subject 0": '```json\n{"type": "complex", "questions": ["How is it?", " How is\\n it?", "Why?"]}\n```',
            "subject 1": '{"type": "Simple", "questions": ["What?"]}',
        },
        rosa,
    )
    add_to_collection(build, by=rosa, at=now())

    assert steps_of(build)[0].faults == {"too_many": 1}
    first, second = attributes(collection, "t0"), attributes(collection, "t1")
    assert (first["question_type"], first["sub_questions"]) == ("Complex", ["How is it?", "Why?"])
    assert (second["question_type"], second["sub_questions"]) == ("Simple", [])


def test_an_edit_that_says_no_attribute_is_refused_and_nothing_is_added(collection: Collection, rosa: User) -> None:
    build, _ = built(collection, "long2rag-filter", {"": "[5]"}, rosa)
    last = list(products_to_review(build))[-1]
    decide(build, [last.pk], "edited", text="7", by=rosa, at=now())

    with pytest.raises(CannotBuild, match="“7” of topic t1: points must be a whole number from 1 to 5"):
        add_to_collection(build, by=rosa, at=now())

    assert "question_points" not in attributes(collection, "t0")
    decide(build, [last.pk], "edited", text="2", by=rosa, at=now())
    add_to_collection(build, by=rosa, at=now())
    assert attributes(collection, "t1")["question_kept"] is False


@pytest.mark.parametrize(
    ("about", "text"),
    [("category", "odd"), ("question_type", "Simple\nWhy?"), ("question_type", ""), ("question_type", "Vague")],
)
def test_attributes_say_what_is_wrong_with_them(about: str, text: str) -> None:
    with pytest.raises(NoAttribute):
        attributes_in(about, text)
