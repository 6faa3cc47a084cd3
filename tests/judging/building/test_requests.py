"""CRUX's step 4: requests from human summaries, and what becomes of a topic's request."""

from __future__ import annotations

import pytest
from django.utils.timezone import now

from collection.models import Collection, Study, Topic, User
from judging.building.additions.addition import add_to_collection, waiting_for_addition
from judging.building.progress import steps_of
from judging.building.review import NotReviewable, decide, products_to_review
from judging.building.sources import CannotBuild
from judging.engines import Reply
from judging.models import Build
from tests.factories import an_item
from tests.judging.building.world import Scripted, a_build, finish

pytestmark = pytest.mark.django_db

REPLY = "Please write a report\non subjects.</r> <r>Another.</r>"


def blank(collection: Collection) -> None:
    """Leave the topics without a request."""
    collection.topics.update(request="")


def accepted(collection: Collection, rosa: User, reply: Reply | str = REPLY) -> Build:
    build = finish(a_build(collection, "crux-requests", by=rosa, topics=("t0",)), Scripted(lambda _: reply))
    decide(build, [one.pk for one in products_to_review(build)], "accepted", by=rosa, at=now())
    return build


def test_what_is_accepted_becomes_the_topics_request_with_how_it_was_made(collection: Collection, rosa: User) -> None:
    blank(collection)
    build = accepted(collection, rosa)

    added = add_to_collection(build, by=rosa, at=now())

    first, second = collection.topics.all()
    assert (added.new, added.known) == (1, 0)
    assert (first.request, second.request) == ("Please write a report on subjects.", "")
    making = first.attributes["generated"]
    assert (making["pipeline"], making["prompt"], making["review"]) == ("crux-requests", "crux-requests", "accepted")
    assert making["sampling"]["top_p"] == 0.95
    assert not waiting_for_addition(build).exists()
    with pytest.raises(NotReviewable, match="in the collection already"):
        decide(build, [build.products.get().pk], "rejected", by=rosa, at=now())


def test_a_request_that_nobody_was_asked_about_gives_way_and_can_come_back(collection: Collection, rosa: User) -> None:
    blank(collection)
    former = accepted(collection, rosa)
    add_to_collection(former, by=rosa, at=now())
    newer = accepted(collection, rosa, "Please write another report.</r>")

    add_to_collection(newer, by=rosa, at=now())
    given_way = collection.topics.get(topic_id="t0").request
    add_to_collection(former, by=rosa, at=now())

    assert given_way == "Please write another report."
    assert collection.topics.get(topic_id="t0").request == "Please write a report on subjects."
    assert [one.pk for one in waiting_for_addition(newer)] == [newer.products.get().pk]


def test_a_request_that_a_study_asks_about_stays_and_says_why(collection: Collection, rosa: User, study: Study) -> None:
    topic = collection.topics.get(topic_id="t0")
    before, passage = topic.request, collection.passages.get(passage_id="t0-p0")
    an_item(study, "rating", topic=topic, element=topic.rubric_elements.all()[0], text=passage)
    build = accepted(collection, rosa)

    with pytest.raises(CannotBuild, match="“t0” stays as it is: a study asks about the topic"):
        add_to_collection(build, by=rosa, at=now())

    assert Topic.objects.get(topic_id="t0").request == before
    assert waiting_for_addition(build).count() == 1


@pytest.mark.parametrize(
    ("reply", "faults"),
    [
        (Reply("<r>Please write", finish_reason="length"), {"truncated": 1, "unreadable": 1}),
        (Reply("Please write a report.", finish_reason="stop"), {"unreadable": 1}),
        (Reply("<r> </r>", finish_reason="stop"), {"unreadable": 1}),
        (Reply(ungraded="refused", error="No."), {"refused": 1}),
        (Reply(ungraded="engine_error", error="Gone."), {"engine_error": 1}),
    ],
)
def test_a_bad_reply_is_a_fault_and_no_request(collection: Collection, reply: Reply, faults: dict[str, int]) -> None:
    build = finish(a_build(collection, "crux-requests", topics=("t0",)), Scripted(lambda _: reply))

    assert steps_of(build)[0].faults == faults
    assert not build.products.exists()
