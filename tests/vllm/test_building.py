"""Builds on a real vLLM. Random weights write nonsense, so what is tested is the way to the end, faults and form."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from collection.models import Collection
from collection.question_categories import CATEGORIES
from judging.building.drafts import Writer
from judging.building.pipelines import Options
from judging.building.progress import steps_of
from judging.building.shipped import PIPELINES
from judging.building.shipped.nuggets import IMPORTANCE
from judging.building.worker import take_turn
from judging.engines import Engine
from judging.engines.registry import writer_for
from judging.models import Build
from tests.judging.building.world import Scripted, a_build, check_its_form, with_everything
from tests.vllm.server import VLLMServer

pytestmark = pytest.mark.django_db

# A random model hardly ever ends by itself, and between the marks of JSON it may write white space for long.
FEW, ENOUGH_FOR_JSON = 32, 500
# More than the steps of any pipeline: a build that comes no further ends the test.
MOST_TURNS = 12


@pytest.fixture(autouse=True)
def _on_vllm(tiny_server: VLLMServer, settings: Settings) -> None:
    settings.JUDGE_BASE_URL = tiny_server.base_url


def built(collection: Collection, pipeline: str, *first: Scripted, endpoint: str = "chat", **options: Any) -> Build:
    """Build on vLLM to the end; the first steps, as many as there are scripts, have their replies from those."""
    with_everything(collection).topics.update(attributes={"category": "causal"})
    build = a_build(
        collection, pipeline, topics=("t0",), depth=1, writer=Writer("openai", "tiny", endpoint),
        options=replace(Options(reply_tokens=FEW, count=2, domains=("health",)), **options),
    )  # fmt: skip

    def engine_for(of: Build) -> Engine:
        return first[of.step] if of.step < len(first) else writer_for(of)

    for _ in range(MOST_TURNS):
        if not take_turn(build_id=build.pk, generation=build.generation, engine_for=engine_for):
            break
    build.refresh_from_db()
    assert (build.state, build.reason) == ("done", ""), [
        (one.step.name, one.total, one.done) for one in steps_of(build)
    ]
    return build


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_a_pipeline_runs_to_its_end(pipeline: str, collection: Collection) -> None:
    build = built(collection, pipeline)

    check_its_form(build)
    assert all("tiny" in call.engine_identity for call in build.calls.exclude(sampling={}))


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_a_reply_that_is_bound_to_a_schema_is_one(endpoint: str, collection: Collection) -> None:
    build = built(collection, "long2rag-categories", endpoint=endpoint, temperature=0.7, reply_tokens=ENOUGH_FOR_JSON)

    (call,) = build.calls.all()
    assert (call.finish_reason, call.faults) == ("stop", [])
    assert json.loads(call.reply).keys() == {"category"}
    assert build.products.get().text in CATEGORIES


def test_labels_are_those_that_were_offered(collection: Collection) -> None:
    nuggets = Scripted(lambda _: json.dumps({"nuggets": ["The bridge is red.", "It is long."]}))

    build = built(collection, "nuggets", nuggets, temperature=0.7, reply_tokens=ENOUGH_FOR_JSON)

    call = build.calls.get(step="importance")
    assert call.finish_reason == "stop"
    assert set(json.loads(call.reply)["labels"]) <= set(IMPORTANCE)
    assert "bad_label" not in {fault["kind"] for fault in call.faults}


def test_a_key_points_score_is_made_of_the_probabilities_of_yes_and_no(collection: Collection) -> None:
    said = "Passage 0 says fact 0 of subject 0"
    points = Scripted(lambda _: f"Point 1: <point_start>One.<point_end><span_start>{said}<span_end>")
    together = Scripted(lambda _: "One is so. [1]")

    build = built(collection, "long2rag-key-points", points, together)

    call = build.calls.get(step="score")
    assert call.reply.split()[0] in {"YES", "NO"}
    assert (call.finish_reason, call.faults) == ("stop", [])
    assert 0 < build.products.get(step="score").data["score"] < 1
