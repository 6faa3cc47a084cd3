"""A build's scores of key points beside what people say of them, in a study and in the build's review."""

from __future__ import annotations

import io
import json
import math

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils.timezone import now

from collection.models import Passage, Rater, RubricElement, Study, User
from evaluation.figures.figure import NoFigure
from evaluation.figures.studies import draw_figure, offered_figures
from judging.building.additions.addition import add_to_collection
from judging.building.pipelines import Options
from judging.building.review import decide, products_to_review
from judging.engines import GradeRequest, Reply
from judging.models import Build
from tests.evaluation.judged import criterion_of, judge_items
from tests.factories import an_item
from tests.judging.building.world import Scripted, a_build, finish, with_ranking

YES = {"Sure": 0.9, "Likely": 0.8, "Unsure": 0.4}
PAGE = "/studies/bridges-study/figures/point-scores/"
API = "/api/v1/studies/bridges-study/figures/point-scores/"


def scored(request: GradeRequest) -> Reply | str:
    if "Points that were found" in request.prompt:
        return "Sure. [1]\nLikely. [2]\nUnsure. [3]"
    if not request.choices:
        quote = "says fact 0 of subject"
        return "\n".join(
            f"Point {n}: <point_start>Point {n}.<point_end><span_start>{quote}<span_end>" for n in range(3)
        )
    yes = YES[request.prompt.split("A statement: ")[1].split(".")[0]]
    return Reply("YES", log_probabilities={"YES": math.log(yes), "NO": math.log(1 - yes)})


@pytest.fixture
def build(study: Study) -> Build:
    return finish(
        a_build(
            with_ranking(study.collection),
            "long2rag-key-points",
            depth=1,
            options=Options(rounds=1, keep_at=0.0),
            reviewers=2,
        ),
        Scripted(scored),
    )


def review(build: Build, by: User, rejected: tuple[str, ...], *, unread: bool = False) -> None:
    """Decide about all points: those of these words are rejected."""
    for decision in ("accepted", "rejected"):
        wanted = [
            one.pk for one in products_to_review(build) if (one.text in rejected) == (decision == "rejected")
        ]  # fmt: skip
        decide(build, wanted, decision, unread=unread and decision == "accepted", by=by, at=now())


def asked(study: Study) -> None:
    """Have the study ask about each topic's first sub-question, so that its topics are those of the collection."""
    for element in RubricElement.objects.filter(topic__collection=study.collection, kind="sub_question", position=0):
        text = Passage.objects.get(passage_id=f"{element.topic.topic_id}-p0", collection=study.collection)
        an_item(study, "rating", topic=element.topic, element=element, text=text)


@pytest.mark.django_db
def test_false_positives_are_of_what_reviewers_reject_among_the_points_kept(
    build: Build, study: Study, rosa: User, ada: User
) -> None:
    asked(study)
    n = build.collection.topics.count()
    name = f"review of build {build.pk}"
    review(build, rosa, ("Unsure.",))
    alone = draw_figure(study, "point-scores", source=name)
    review(build, ada, ("Unsure.", "Likely."))

    found = draw_figure(study, "point-scores", source=name, edges="0, 0.7, 0.85")

    assert alone.head[-1:] == ["reason"]  # one of two has spoken: nobody's word is shown
    assert "Nobody labelled" in alone.answer
    rows = [dict(zip(found.head, row, strict=True)) for row in found.rows]
    assert [(row["kept"], row["labelled_kept"], row["rosa"], row["ada"]) for row in rows] == [
        (3 * n, 3 * n, pytest.approx(1 / 3), pytest.approx(2 / 3)),
        (2 * n, 2 * n, 0.0, 0.5),
        (n, n, 0.0, 0.0),
    ]
    assert [row["false_positives"] for row in rows] == [0.5, 0.25, 0.0]
    assert {row["topics"] for row in rows} == {n}
    assert all(row["reason"] for row in rows)  # too few topics for an interval, and it says so
    assert "From 0 to 0.85" in found.answer


@pytest.mark.django_db
def test_what_was_accepted_unread_is_no_label(build: Build, study: Study, rosa: User, ada: User) -> None:
    asked(study)
    review(build, rosa, (), unread=True)
    review(build, ada, (), unread=True)

    found = draw_figure(study, "point-scores", source=f"review of build {build.pk}")

    assert {row[3] for row in found.rows} == {0}


@pytest.mark.django_db
def test_a_label_of_a_point_is_the_highest_over_its_documents(
    build: Build, study: Study, rosa: User, ada: User, ada_as_rater: Rater
) -> None:
    for by in (rosa, ada):
        review(build, by, ())
    add_to_collection(build, by=rosa, at=now())
    points = RubricElement.objects.filter(attributes__has_key="score").order_by("topic", "position")
    grades = {"Sure.": (0.0, 1.0), "Likely.": (1.0, -1.0), "Unsure.": (-1.0, 0.0)}
    for number in range(2):
        items = [
            an_item(
                study, "key_point", topic=one.topic, element=one,
                text=Passage.objects.get(passage_id=f"{one.topic.topic_id}-p{number}", collection=study.collection),
            )
            for one in points
        ]  # fmt: skip
        judge_items(criterion_of(study, "utility"), ada_as_rater, items, [grades[one.text][number] for one in points])

    found = draw_figure(study, "point-scores", source="labels under utility")

    shares = {round(row[0], 2): row[found.head.index("ada")] for row in found.rows}
    assert shares == {0.4: pytest.approx(1 / 3), 0.8: 0.0, 0.9: 0.0}
    assert found.choices["source"][0] == ("labels under utility", "labels under utility")


@pytest.mark.django_db
@pytest.mark.slow
def test_page_api_and_command_show_the_same_and_know_of_new_decisions(
    client: Client, build: Build, study: Study, rosa: User, ada: User
) -> None:
    asked(study)
    client.force_login(rosa)
    assert "point-scores" not in offered_figures(study)
    with pytest.raises(NoFigure, match="no scored key point"):
        draw_figure(study, "point-scores")
    assert client.get(PAGE).status_code == 422
    review(build, rosa, ())
    before = client.get(API).json()
    review(build, ada, ("Unsure.",))
    out = io.StringIO()

    call_command("figure", "point-scores", "--study", study.name, "--json", stdout=out)

    after = client.get(API).json()
    assert before["numbers"] != after["numbers"]
    assert json.loads(out.getvalue()) == after
    assert client.get(PAGE).context["result"].as_dict() == after
    assert client.get(f"{PAGE}figure.svg").status_code == 200
    assert "point-scores" in offered_figures(study)
