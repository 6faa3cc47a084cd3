"""From builds to KPR, KPP and KPF: key points of documents and of answers, judged, on a leaderboard."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils.timezone import now

from annotate.studies.design import StudyDesign
from annotate.studies.lifecycle import make_study, open_study
from annotate.task_types.key_point import ANSWERS
from collection.models import Item, RankedPassage, Rater, RubricElement, User
from judging.building.additions.addition import add_to_collection
from judging.building.review import decide, products_to_review
from judging.engines import GradeRequest, Reply
from judging.models import Build
from tests.evaluation.answered import an_answered_study, give
from tests.evaluation.leaderboards.test_answer_scores import board_of, means
from tests.judging.building.world import Scripted, a_build, finish

pytestmark = pytest.mark.django_db

DOCUMENT = """Point 1: <point_start>Monks built it.<point_end><span_start>by monks<span_end>
Point 2: <point_start>It is from 1830.<point_end><span_start>in 1830<span_end>"""
# Of the long answer: one with a span, one without; of the short one none.
ANSWER = """Point 1: <point_start>Monks built it.<point_end><span_start>by monks<span_end>
Point 2: <point_start>It is old.<point_end><span_start>it is old<span_end>"""


def script(request: GradeRequest) -> Reply | str:
    if request.choices:
        return Reply("YES", log_probabilities={"YES": -0.1, "NO": -3.0})
    if "Points that were found" in request.prompt:
        return "Monks built it. [1]\nIt is from 1830. [2]"
    if "I don’t know." in request.prompt:
        return "None"
    return "None" if "known already" in request.prompt else DOCUMENT


def added(build: Build, by: User) -> Build:
    decide(build, [one.pk for one in products_to_review(build)], "accepted", by=by, at=now())
    add_to_collection(build, by=by, at=now())
    return build


def test_builds_lead_to_recall_and_precision_of_key_points(rosa: User, ada_as_rater: Rater) -> None:
    collection = an_answered_study(rosa).collection
    topic, long = collection.topics.get(topic_id="q0"), collection.runs.get(name="long")
    RankedPassage.objects.create(run=long, topic=topic, passage_id="p0", rank=1, score=1)
    asked: dict[str, Any] = {"by": rosa, "topics": ("q0",)}
    added(finish(a_build(collection, "long2rag-key-points", documents="long", **asked), Scripted(script)), rosa)
    engine = Scripted(lambda _: ANSWER)
    own = added(finish(a_build(collection, "long2rag-own-points", summaries="long", **asked), engine), rosa)
    none = finish(a_build(collection, "long2rag-own-points", summaries="short", **asked), Scripted(script))

    assert len(engine.asked) == 2  # once more, because a span is not in the answer
    assert [call.faults for call in own.calls.all()] == [[{"kind": "not_verbatim", "detail": "it is old"}]] * 2
    assert (none.products.count(), none.calls.get().faults) == (0, [])
    points = RubricElement.objects.order_by("position")
    assert [(one.text, one.attributes.get("run", "")) for one in points] == [
        ("Monks built it.", ""), ("It is from 1830.", ""), ("Monks built it.", "long"), ("It is old.", "long"),
    ]  # fmt: skip

    study = make_study(
        StudyDesign(collection=collection, name="said", task_types=["key_point"], key_points_in=ANSWERS),
        by=rosa,
        at=now(),
    )
    open_study(study=study, at=now())
    for item in Item.objects.filter(study=study).select_related("element"):
        short = item.report is not None and item.report.run.name == "short"
        yes = item.element is not None and item.element.text == "Monks built it." and not short
        give(study, "grounded", ada_as_rater, item, int(yes))

    found = {measure: means(board_of(study, measure)) for measure in ("KPR", "KPP", "KPF")}
    # The long answer says 1 of 2, and 1 of its own 2 is in the document; the short one says 0 of 2, and has none.
    assert (found["KPR"], found["KPP"]["long"], found["KPF"]["long"]) == ({"long": 0.5, "short": 0.0}, 0.5, 0.5)
