"""LONG²RAG’s new questions: cells of category and domain, filled from seeds in rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.utils.timezone import now

from collection.models import Collection, User
from judging.building.additions.addition import add_to_collection
from judging.building.estimate import estimate
from judging.building.pipelines import Options
from judging.building.progress import lines, short_cells
from judging.building.review import decide, products_to_review
from judging.building.sources import CannotBuild
from judging.engines import GradeRequest
from judging.models import Build
from tests.judging.building.world import Scripted, a_build, finish

pytestmark = pytest.mark.django_db

OPTIONS = Options(domains=("sea", "sky"), per_cell=2, barren=2)


@pytest.fixture
def seeded(collection: Collection) -> Collection:
    """Two seeds that ask why."""
    for number in range(2):
        seed = {"category": "causal", "question_kept": True}
        collection.topics.filter(topic_id=f"t{number}").update(request=f"Why seed {number}?", attributes=seed)
    return collection


def script(request: GradeRequest) -> str:
    if "domain sea" in request.prompt:
        return "[Question 1: Why is the sea red?]\n[Why is the  sea dry?] [1]"
    return "I cannot." if "Write new questions" in request.prompt else "[why seed 1?]"


def built(collection: Collection, script: Any, by: User, **options: Any) -> tuple[Build, Scripted]:
    engine = Scripted(script)
    asked = replace(OPTIONS, **options)
    return finish(a_build(collection, "long2rag-evolve", by=by, options=asked), engine), engine


def test_a_cell_is_asked_until_it_is_full_or_barren(seeded: Collection, rosa: User) -> None:
    build, engine = built(seeded, script, rosa, barren=3)

    calls = [
        (call.topic.topic_id, call.key["domain"], call.key["round"], call.key["way"]) for call in build.calls.all()
    ]
    assert sorted(calls, key=lambda one: one[1:]) == [
        ("t0", "sea", 1, "width"),
        # Seed after seed in width, then in depth: three rounds in a row bring nothing.
        ("t1", "sky", 1, "width"), ("t0", "sky", 2, "width"), ("t1", "sky", 3, "depth"),
    ]  # fmt: skip
    assert [one.text for one in build.products.all()] == ["Why is the sea red?", "Why is the sea dry?"]
    faults = [fault["kind"] for call in build.calls.order_by("pk") for fault in call.faults]
    assert faults == ["unreadable", "unreadable", "repeated"]
    short = short_cells(build)
    assert (len(short), short[0]) == (15, ("factual, sea", 0))
    assert ("causal, sky", 0) in short
    assert ("causal, sea", 2) not in short
    assert any("15 cells with too few questions: factual, sea (0)" in line for line in lines(build))
    # Two empty cells of two: at most six rounds each, three about each seed.
    assert estimate(build).most_calls == 2 * (2 * 2 * 3 // 2)
    assert len(engine.asked) == 4


def test_a_later_round_asks_the_other_seed_and_counts_only_what_is_new(seeded: Collection, rosa: User) -> None:
    replies = iter(["[Why now?] [Why NOW?]", "[Why now?]", "[Why then?]"])
    build, _ = built(seeded, lambda _: next(replies), rosa, domains=("sea",))

    assert [(one.text, one.topic.topic_id, one.data["way"]) for one in build.products.order_by("pk")] == [
        ("Why now?", "t0", "width"), ("Why then?", "t0", "depth"),
    ]  # fmt: skip
    assert short_cells(build)[0] == ("factual, sea", 0)
    assert "causal, sea" not in dict(short_cells(build))


def test_questions_become_topics_and_the_next_build_fills_what_was_rejected(seeded: Collection, rosa: User) -> None:
    build, _ = built(seeded, script, rosa)
    red, dry = products_to_review(build)
    decide(build, [red.pk], "accepted", by=rosa, at=now())
    decide(build, [dry.pk], "rejected", by=rosa, at=now())
    before = dict(short_cells(build))

    added = add_to_collection(build, by=rosa, at=now())
    again, engine = built(seeded, script, rosa, domains=("sea",))

    assert (added.new, before["causal, sea"]) == (1, 1)
    topic = seeded.topics.get(request="Why is the sea red?")
    assert topic.topic_id.startswith("t0/")
    said = topic.attributes
    assert (said["category"], said["domain"], said["seed"], said["way"]) == ("causal", "sea", "t0", "width")
    assert said["generated"]["review"] == "accepted"
    # One was there, so that one round is enough; what was made of a seed is no seed.
    assert again.options["filled"] == {"causal\tsea": 1}
    assert len(engine.asked) == 1
    assert set(again.calls.values_list("topic__topic_id", flat=True)) == {"t0"}
    decide(again, [one.pk for one in products_to_review(again)], "accepted", by=rosa, at=now())
    assert tuple(add_to_collection(again, by=rosa, at=now()).__dict__.values())[:2] == (1, 1)


def test_topics_without_a_category_are_no_seeds(collection: Collection, rosa: User) -> None:
    with pytest.raises(CannotBuild, match="topics with the attribute category"):
        a_build(collection, "long2rag-evolve", by=rosa)
