"""Drawing whole topics: how many, by which attribute, with which probability, and what comes later."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from annotate.frames.checks import FrameRefused, check_frame
from annotate.frames.frame import Frame, frame_of
from annotate.frames.topics import divided
from annotate.studies.frames import change_frame
from annotate.studies.lifecycle import WrongState, close_study, open_study
from annotate.studies.task_counts import asked_of, forecast_of, preview_from
from annotate.task_types import NothingToJudge
from collection.models import Collection, Draw, Report, RubricElement, Run, Study, Topic, TopicDraw, User
from tests.annotate.factories import NOON
from tests.factories import a_study

pytestmark = pytest.mark.django_db


def topics_on(collection: Collection, n: int, *, first: int = 0, **attributes: object) -> list[Topic]:
    """Topics with a sub-question each and the report of the collection's first run."""
    run = Run.objects.filter(collection=collection)[0]
    made = []
    for number in range(first, first + n):
        topic = Topic.objects.create(
            collection=collection, topic_id=f"x{number:03}", request=f"Ask {number}.", attributes=attributes
        )
        RubricElement.objects.create(
            topic=topic, kind="sub_question", element_id=f"x{number:03}-q", position=0, text="What?"
        )
        Report.objects.create(run=run, topic=topic, text=f"Report {number}.")
        made.append(topic)
    return made


@pytest.fixture
def study(collection: Collection) -> Study:
    """30 topics that can be answered, 10 that cannot, and two of which nothing is said; reports alone are asked."""
    topics_on(collection, 30, answerable=True, part="dev")
    topics_on(collection, 10, first=30, answerable=False, part="test")
    return a_study(collection, name="framed", task_types=["answerability"])


def drawn_by(study: Study) -> Counter[str]:
    tasks = study.tasks.values_list("topic__attributes", flat=True)
    return Counter(str(attributes.get("answerable")) for attributes in tasks)


NUMBERS = Frame(topics="drawn", strata="answerable", numbers={"true": 8, "false": 2}, seed="s")


def test_draws_so_many_topics_of_each_value_and_keeps_their_probability(study: Study) -> None:
    change_frame(study=study, frame=NUMBERS)

    open_study(study=study, at=NOON)

    draws = TopicDraw.objects.filter(study=study)
    assert drawn_by(study) == {"True": 8, "False": 2}
    assert Counter(draws.values_list("stratum", "inclusion_probability", "design")) == {
        ("answerable=true", 8 / 30, "stratified"): 8,
        ("answerable=false", 2 / 10, "stratified"): 2,
    }
    assert study.items.values("topic").distinct().count() == 10  # of others nothing is asked, of judges neither


def test_a_preview_names_the_topics_that_opening_asks_about(study: Study) -> None:
    change_frame(study=study, frame=replace(NUMBERS, seed=""))
    study.refresh_from_db()

    preview = preview_from(study, asked_of(study))
    open_study(study=study, at=NOON)

    asked = sorted(study.tasks.values_list("topic__topic_id", flat=True))
    assert [topic for topic, *_ in preview.by_topic] == asked
    assert preview.by_run == (("alpha-1", (10,)),)
    assert {(one.name, one.population, one.n) for one in preview.strata} == {
        ("answerable=false", 10, 2),
        ("answerable=none", 2, 0),
        ("answerable=true", 30, 8),
    }


@pytest.mark.slow
def test_each_topic_is_drawn_as_often_as_its_probability_says(study: Study) -> None:
    topics = Counter[str]()

    for number in range(300):
        study.frame = replace(NUMBERS, seed=f"seed {number}").as_dict()
        topics.update(str(pk) for pk in asked_of(study).topics.asked)

    shares = [
        topics[str(pk)] / 300 for pk in Topic.objects.filter(attributes__answerable=True).values_list("pk", flat=True)
    ]
    assert sum(shares) == pytest.approx(8)
    assert all(abs(share - 8 / 30) < 0.12 for share in shares)  # 4.7 standard errors


def test_draws_half_of_each_part(study: Study, collection: Collection) -> None:
    for number, topic in enumerate(Topic.objects.filter(attributes__answerable=True).order_by("topic_id")):
        topic.attributes["part"] = "dev" if number % 3 else "test"
        topic.save()
    change_frame(study=study, frame=Frame(topics="drawn", strata="answerable", numbers={"true": 8}, spread="part"))

    open_study(study=study, at=NOON)

    parts = Counter(study.tasks.values_list("topic__attributes__part", flat=True))
    assert parts == {"dev": 4, "test": 4}


def test_shares_are_divided_by_largest_remainders() -> None:
    assert divided(50, {"true": 80, "false": 20}) == {"true": 40, "false": 10}
    assert divided(10, {"a": 1, "b": 1, "c": 1}) == {"a": 4, "b": 3, "c": 3}


def test_topics_that_come_later_meet_the_same_line_with_it_as_their_probability(
    study: Study, collection: Collection
) -> None:
    change_frame(study=study, frame=NUMBERS)
    open_study(study=study, at=NOON)
    first = dict(TopicDraw.objects.filter(study=study).values_list("topic", "inclusion_probability"))

    topics_on(collection, 60, first=40, answerable=True)
    open_study(study=study, at=NOON)

    later = TopicDraw.objects.filter(study=study).exclude(topic__in=list(first))
    line = Study.objects.get(pk=study.pk).samples["topics"]["strata"]["answerable=true"]["below"]
    assert (
        first.items()
        <= dict(TopicDraw.objects.filter(study=study).values_list("topic", "inclusion_probability")).items()
    )
    assert set(later.values_list("inclusion_probability", "design")) == {(line, "Bernoulli")}
    assert 0 < later.count() < 60


def test_a_topic_that_is_added_to_a_draw_is_asked_for_certain(study: Study) -> None:
    change_frame(study=study, frame=NUMBERS)
    open_study(study=study, at=NOON)
    asked = set(study.tasks.values_list("topic", flat=True))
    other = Topic.objects.filter(collection=study.collection).exclude(pk__in=asked).order_by("pk")[0]

    change_frame(study=study, frame=replace(NUMBERS, topic_ids=(other.topic_id,)))
    open_study(study=study, at=NOON)

    draw = TopicDraw.objects.get(study=study, topic=other)
    assert (draw.inclusion_probability, draw.design) == (1.0, "added")
    assert set(study.tasks.values_list("topic", flat=True)) == asked | {other.pk}


def test_runs_can_be_added_to_a_study_with_items_and_nothing_taken_away(study: Study, collection: Collection) -> None:
    beta = Run.objects.create(collection=collection, system=collection.systems.all()[0], name="beta")
    for topic in collection.topics.all():
        Report.objects.create(run=beta, topic=topic, text=f"Beta on {topic.topic_id}.")
    change_frame(study=study, frame=Frame(runs="only", run_names=("alpha-1",), topics="chosen", topic_ids=("x001",)))
    open_study(study=study, at=NOON)
    asked = frame_of(study)

    for narrower in (
        replace(asked, run_names=("beta",)),
        replace(asked, topic_ids=("x002",)),
        replace(asked, share_by="topic"),
        replace(asked, topics="all", topic_ids=("x001",)),
    ):
        with pytest.raises(FrameRefused, match="The study has items already"):
            change_frame(study=study, frame=narrower)
    change_frame(study=study, frame=replace(asked, runs="all", run_names=()))

    assert open_study(study=study, at=NOON) == 1
    assert set(study.tasks.values_list("report__run__name", "topic__topic_id")) == {
        ("alpha-1", "x001"),
        ("beta", "x001"),
    }
    assert set(Draw.objects.filter(item__study=study).values_list("inclusion_probability", flat=True)) == {1.0}


def test_a_sample_of_texts_has_its_probability_on_the_drawn_topics(study: Study) -> None:
    study.sample_sizes = {"answerability": 5}
    study.save()
    change_frame(study=study, frame=NUMBERS)

    open_study(study=study, at=NOON)

    assert set(Draw.objects.filter(item__study=study).values_list("inclusion_probability", flat=True)) == {5 / 10}


@pytest.mark.parametrize(
    ("frame", "field", "said"),
    [
        (Frame(runs="only", run_names=("no such",)), "run_names", "The collection has no run “no such”."),
        (Frame(runs="only"), "run_names", "Choose at least one run"),
        (Frame(runs="except", run_names=("alpha-1",)), "run_names", "This leaves no run."),
        (Frame(topics="chosen"), "topic_ids", "Choose at least one topic"),
        (Frame(topics="chosen", topic_ids=("x001", "zz")), "topic_ids", "The collection has no topic “zz”."),
        (Frame(topics="drawn"), "n_topics", "Enter how many"),
        (Frame(topics="drawn", n_topics=3, strata="colour"), "strata", "has no attribute"),
        (Frame(topics="drawn", numbers={"true": 3}), "strata", "Choose the attribute"),
        (Frame(topics="drawn", strata="answerable", numbers={"true": 1.5}), "numbers", "whole number"),
        (Frame(topics="drawn", strata="answerable", numbers={"true": 3}, n_topics=4), "n_topics", "sum to 3, not to 4"),
        (
            Frame(topics="drawn", strata="answerable", numbers={"true": 30}, in_percent=True, n_topics=4),
            "numbers",
            "sum to 30 %",
        ),
        (Frame(passages="context"), "passages_of", "Choose the run"),
        (Frame(passages="relevant", grades_of="x/y"), "grades_of", "Choose the grades"),
    ],
)
def test_refuses_what_the_collection_has_not(study: Study, frame: Frame, field: str, said: str) -> None:
    with pytest.raises(FrameRefused, match=said) as refused:
        check_frame(frame, study.collection)

    assert refused.value.field == field


def test_says_before_opening_that_there_are_fewer_topics_than_are_to_be_drawn(study: Study, rosa: User) -> None:
    change_frame(study=study, frame=replace(NUMBERS, numbers={"true": 31, "false": 2}))

    (forecast,) = forecast_of(study)

    said = "31 topics with answerable=true are to be drawn, and 30 have a text to ask about."
    assert forecast.problem == said
    with pytest.raises(NothingToJudge, match=said):
        open_study(study=study, at=NOON)


def test_a_closed_study_keeps_its_frame(study: Study) -> None:
    open_study(study=study, at=NOON)
    close_study(study=study, at=NOON)

    with pytest.raises(WrongState):
        change_frame(study=study, frame=NUMBERS)


def test_leaves_out_topics_on_which_a_run_has_no_report(study: Study, collection: Collection) -> None:
    beta = Run.objects.create(collection=collection, system=collection.systems.all()[0], name="beta")
    for topic in collection.topics.filter(topic_id__in=["x001", "x002", "x003"]):
        Report.objects.create(run=beta, topic=topic, text=f"Beta on {topic.topic_id}.")
    change_frame(study=study, frame=Frame(topics="drawn", n_topics=2, only_complete=True))

    open_study(study=study, at=NOON)

    assert study.tasks.count() == 4
    assert set(study.tasks.values_list("topic__topic_id", flat=True)) < {"x001", "x002", "x003"}
