"""What a leaderboard says where a study's topics are a sample of its collection's."""

from __future__ import annotations

import json
from statistics import fmean

import pytest
from django.test import Client

from annotate.frames.frame import Frame
from annotate.studies.frames import change_frame
from annotate.studies.lifecycle import open_study
from collection.models import (
    Collection,
    Item,
    Judgment,
    Rater,
    Report,
    RubricElement,
    Run,
    Study,
    Topic,
    TopicDraw,
    User,
)
from evaluation.data.topic_sample import topic_sample_of
from evaluation.leaderboards.corrected.all_topics import means_over_all_topics
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import parse_measure
from tests.annotate.factories import NOON
from tests.evaluation.judged import criterion_of
from tests.factories import a_study, rater_of

pytestmark = pytest.mark.django_db
QUESTIONS = 5


@pytest.fixture
def study(collection: Collection, ada: User) -> Study:
    """12 of 40 easy topics and 10 of 20 hard ones, five questions each, all answered by Ada."""
    collection.topics.all().delete()
    run = Run.objects.get(collection=collection)
    for number in range(60):
        topic = Topic.objects.create(
            collection=collection, topic_id=f"x{number:02}", request="Ask.", attributes={"hard": number >= 40}
        )
        for place in range(QUESTIONS):
            RubricElement.objects.create(
                topic=topic,
                kind=RubricElement.Kind.SUB_QUESTION,
                element_id=f"{topic.topic_id}-{place}",
                position=place,
                text="What?",
            )
        Report.objects.create(run=run, topic=topic, text=f"Report {number}.")
    study = a_study(collection, name="sampled-topics", task_types=["answerability"])
    frame = Frame(topics="drawn", strata="hard", numbers={"false": 12, "true": 10}, seed="s")
    change_frame(study=study, frame=frame)
    open_study(study=study, at=NOON)
    answer(study, rater_of(ada))
    return Study.objects.get(pk=study.pk)


def share_of(topic: Topic) -> float:
    """How many of a topic's questions its report answers: 2 to 5 of easy ones, 0 to 3 of hard ones."""
    number = int(topic.topic_id[1:])
    return (number % 4 if topic.attributes["hard"] else 2 + number % 4) / QUESTIONS


def answer(study: Study, rater: Rater) -> None:
    criterion = criterion_of(study)
    Judgment.objects.bulk_create(
        Judgment(
            item=item,
            criterion=criterion,
            rater=rater,
            grade=float(item.element is not None and item.element.position < share_of(item.topic) * QUESTIONS),
            judged_at=NOON,
        )
        for item in Item.objects.filter(study=study).select_related("topic", "element")
    )


def test_weights_the_drawn_topics_by_their_strata(study: Study) -> None:
    board = measure_leaderboard(Scorer.of(study), parse_measure("coverage"))

    found = means_over_all_topics(board)

    drawn = {one.topic: one.stratum for one in TopicDraw.objects.filter(study=study).select_related("topic")}
    easy = [share_of(topic) for topic, stratum in drawn.items() if stratum == "hard=false"]
    hard = [share_of(topic) for topic, stratum in drawn.items() if stratum == "hard=true"]
    assert (len(easy), len(hard)) == (12, 10)
    assert found is not None
    ((_, (mean,)),) = found.rows
    assert mean.value == pytest.approx((40 * fmean(easy) + 20 * fmean(hard)) / 60)
    assert mean.low is not None
    (standing,) = board.columns[0].standings
    assert standing.mean.value == pytest.approx(fmean(easy + hard))  # the board itself is about the drawn topics


def test_the_page_and_its_json_say_which_topics_they_are_about(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)
    said = (
        "These figures are about 22 topics drawn at random from 60 (12 of 40 hard=false, 10 of 20 hard=true). Each "
        "topic counts once, so a mean over them is not a mean over all."
    )

    page = client.get(f"/studies/{study.name}/leaderboard/").content.decode()
    found = json.loads(client.get(f"/studies/{study.name}/leaderboard/leaderboard.json").content)

    assert said in " ".join(page.split())
    assert "Estimated over all 60 topics" in page
    assert found["all_topics"]["population"] == 60
    csv, tex = (client.get(f"/studies/{study.name}/leaderboard/all_topics.{form}") for form in ("csv", "tex"))
    assert "leaderboard/all_topics.csv" in page
    names, row, *_ = csv.content.decode().splitlines()
    assert names == "system,source,mean,low,high,topics,drawn,reason"
    assert row.split(",")[2] == str(found["all_topics"]["systems"][0][row.split(",")[1]]["value"])
    assert row.split(",")[5:7] == ["60", "22"]
    assert "60" in tex.content.decode()
    agreement = client.get(f"/studies/{study.name}/agreement/").content.decode()
    assert said in " ".join(agreement.split())


def test_topics_that_were_added_later_are_said_and_leave_no_estimate(study: Study, ada: User) -> None:
    asked = set(TopicDraw.objects.filter(study=study).values_list("topic__topic_id", flat=True))
    other = next(name for name in (f"x{number:02}" for number in range(60)) if name not in asked)
    frame = Frame(topics="drawn", strata="hard", numbers={"false": 12, "true": 10}, seed="s", topic_ids=(other,))
    change_frame(study=study, frame=frame)
    open_study(study=study, at=NOON)
    study = Study.objects.get(pk=study.pk)

    board = measure_leaderboard(Scorer.of(study), parse_measure("coverage"))

    found = means_over_all_topics(board)
    assert found is not None
    assert (found.rows, found.reason) == ((), "topics were added after the draw")
    assert "and 1 more that were added" in str(found.sample)


def test_a_study_of_all_topics_says_nothing(collection: Collection) -> None:
    assert topic_sample_of(a_study(collection, name="whole")) is None
