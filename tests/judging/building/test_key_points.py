"""LONG²RAG's key points: rounds for what was overlooked, and the score of each point."""

from __future__ import annotations

import math
from typing import Any

import pytest
from django.utils.timezone import now

from collection.models import Collection, RubricElement, User
from judging.building.additions.addition import add_to_collection
from judging.building.pipelines import Options
from judging.building.progress import steps_of
from judging.building.reply_parsing import share_of, with_probabilities
from judging.building.review import decide, products_to_review
from judging.engines import GradeRequest, Reply
from judging.models import Build
from tests.judging.building.world import Scripted, a_build, finish, with_ranking


def test_a_score_is_the_softmax_of_yes_and_no() -> None:
    said = with_probabilities("YES", {"YES": math.log(0.6), "NO": math.log(0.2)})

    assert said.splitlines()[0] == "YES"
    assert share_of(said, "YES", "NO") == pytest.approx(0.75)  # .6 / (.6 + .2)
    assert share_of(with_probabilities("NO", {"YES": -2000.0, "NO": 0.0}), "YES", "NO") == 0.0
    for none in ("YES", "", "YES\n{}", 'YES\n{"YES": "x", "NO": -1}', 'YES\n{"YES": NaN, "NO": -1}', "YES\n[1]"):
        assert share_of(none, "YES", "NO") is None


def point(number: int) -> str:
    quote = "says fact 0 of subject 0"
    return f"Point 1: <point_start>Point {number}.<point_end><span_start>{quote}<span_end>"


def built(collection: Collection, script: Any, **options: Any) -> tuple[Build, Scripted]:
    engine = Scripted(script)
    asked: dict[str, Any] = {"topics": ("t0",), "depth": 1, "options": Options(**options)}
    return finish(a_build(with_ranking(collection), "long2rag-key-points", **asked), engine), engine


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("new", "rounds", "calls", "faults"), [(9, 3, 3, {}), (9, 2, 2, {}), (2, 5, 3, {}), (1, 5, 2, {"repeated": 1})]
)
def test_rounds_ask_for_what_was_overlooked_until_none_is_new(
    collection: Collection, new: int, rounds: int, calls: int, faults: dict[str, int]
) -> None:
    def script(request: GradeRequest) -> str:
        if "Points that were found" in request.prompt:
            return "All. [" + ", ".join(str(n + 1) for n in range(min(new, rounds))) + "]"
        known = request.prompt.count("- Point")
        return point(known) if known < new else ("None" if new > 1 else point(0))

    build, engine = built(collection, script, rounds=rounds)

    assert build.calls.filter(step="points").count() == calls
    assert steps_of(build)[0].faults == faults
    assert [one.text for one in build.products.filter(step="points")] == [
        f"Point {number}." for number in range(min(new, rounds))
    ]
    assert "overlooked" not in engine.asked[0].prompt
    assert "- Point 0.\n" in engine.asked[1].prompt


def scored(request: GradeRequest) -> Reply | str:
    if "Points that were found" in request.prompt:
        return "Sure. [1]\nUnsure. [2]\nUnknown. [3]"
    if not request.choices:
        return "\n".join(map(point, range(3)))
    yes = {"Sure": 0.9, "Unsure": 0.4}.get(request.prompt.split("A statement: ")[1].split(".")[0])
    return Reply("YES", log_probabilities={"YES": math.log(yes), "NO": math.log(1 - yes)} if yes else None)


@pytest.mark.django_db
def test_points_below_the_threshold_are_masked_with_a_reason(collection: Collection, rosa: User) -> None:
    build, engine = built(collection, scored, rounds=1)
    decide(build, [one.pk for one in products_to_review(build)], "accepted", by=rosa, at=now())

    add_to_collection(build, by=rosa, at=now())

    made = RubricElement.objects.filter(attributes__has_key="generated").order_by("position")
    assert [(one.text, one.attributes.get("score"), one.masked) for one in made] == [
        ("Sure.", 0.9, False), ("Unsure.", 0.4, True), ("Unknown.", None, False),
    ]  # fmt: skip
    assert made[1].masking is not None
    assert made[1].masking.reason == "Its score as a key point, by embedded, is below 0.7."
    assert (made[1].masking.decided_by, made[1].masking.basis) == (rosa, {"build": build.pk, "keep_at": 0.7})
    assert steps_of(build)[2].faults == {"unscored": 1}
    # Asked once a point, without the document, bound to yes and no.
    asks = [request for request in engine.asked if request.choices]
    assert [request.constrained for request in asks] == [True] * 3
    assert not any("says fact 0" in request.prompt for request in asks)


@pytest.mark.django_db
def test_a_threshold_of_nothing_masks_nothing(collection: Collection, rosa: User) -> None:
    build, _ = built(collection, scored, rounds=1, keep_at=0.0)
    decide(build, [one.pk for one in products_to_review(build)], "accepted", by=rosa, at=now())

    add_to_collection(build, by=rosa, at=now())

    assert not RubricElement.objects.filter(attributes__has_key="generated", masked=True).exists()
