"""Which systems two measures place most differently, worked out by hand; by page, API, command and file."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from collection.models import Collection, Criterion, Item, Passage, Rater, RubricElement, Study, Topic, User
from collection.splits import make_split
from evaluation.leaderboards.divergence import chosen_pair, compare_places
from evaluation.leaderboards.measure_correlations import correlate_measures
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import parse_measure
from tests.evaluation.judged import AT, criterion_of, graded_criterion, judge_items
from tests.evaluation.tied import a_relevance_item, a_run_of
from tests.factories import a_judge_rater, a_study, an_item

API = "/api/v1/studies/placed/divergence/"
# What each system ranks first, second and third, by grade from 0 to 3, and where that puts it:
#                P(rel=2)@1   nDCG@3 (gains over log2: 1, 1.585, 2; the ideal is 3, 2, 1)
RANKED = {
    "ash": [2, 0, 1],  #  1         (2 + .5) / 4.762 = .525
    "birch": [3, 2, 1],  # 1        1
    "cedar": [1, 3, 2],  # 0        (1 + 1.893 + 1) / 4.762 = .817
    "dogwood": [0, 1, 2],  # 0      (.631 + 1) / 4.762 = .342
}


@pytest.fixture
def placed(collection: Collection, ada_as_rater: Rater) -> Study:
    """Two topics with a passage of each grade from 0 to 3, alike; a judge gives 3 less the grade."""
    study = a_study(collection, name="placed", task_types=("relevance",))
    collection.runs.all().delete()
    judge = a_judge_rater(collection, "contrary-judge")
    rankings: dict[str, dict[Topic, list[tuple[str, int, float]]]] = {system: {} for system in RANKED}
    for number in range(2):
        topic = Topic.objects.create(collection=collection, topic_id=f"q{number}", request="Why?")
        passages = [
            Passage.objects.create(collection=collection, passage_id=f"q{number}-g{grade}", text="So it is.")
            for grade in range(4)
        ]
        items = Item.objects.bulk_create(a_relevance_item(study, topic, passage) for passage in passages)
        judge_items(criterion_of(study, "relevance"), ada_as_rater, items, [0, 1, 2, 3])
        judge_items(criterion_of(study, "relevance"), judge, items, [3, 2, 1, 0])
        for system, grades in RANKED.items():
            rankings[system][topic] = [(f"q{number}-g{g}", rank, 10.0 - rank) for rank, g in enumerate(grades, 1)]
    for system, ranking in rankings.items():
        a_run_of(collection, system, ranking)
    return study


def places(found: dict[str, Any]) -> list[tuple[str, float, float, float]]:
    return [(one["system"], one["rank"], one["rank_by_other"], one["places"]) for one in found["systems"]]


def test_systems_that_two_measures_place_differently_come_first(placed: Study) -> None:
    scorer = Scorer.of(placed)

    found = compare_places(scorer, *chosen_pair(scorer.loader, "P(rel=2)@1", "nDCG@3"))

    # By P@1 ash and birch share ranks 1 and 2, cedar and dogwood 3 and 4; nDCG@3 puts birch, cedar, ash, dogwood.
    assert [(one.system, one.rank, one.rank_by_other, one.places) for one in found.systems] == [
        ("ash", 1.5, 3.0, 1.5),
        ("cedar", 3.5, 2.0, -1.5),
        ("birch", 1.5, 1.0, -0.5),
        ("dogwood", 3.5, 4.0, 0.5),
    ]
    assert found.one.key == "P(rel=2)@1 · people"
    assert found.other.key == "nDCG@3 · people"
    assert found.means["cedar"] == pytest.approx((0, 0.8175), abs=1e-4)
    assert found.topics == ("q0", "q1")


def test_page_api_command_and_file_give_the_same(
    client: Client, placed: Study, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    client.force_login(rosa)
    asked = {"reference": "P(rel=2)@1 · people", "other": "nDCG@3 · people"}

    page = client.get("/studies/placed/leaderboard/correlations/", asked).content.decode()
    rows = list(
        csv.DictReader(
            io.StringIO(client.get("/studies/placed/leaderboard/correlations/divergent.csv", asked).content.decode())
        )
    )
    answer = client.get(API, {"measure": "P(rel=2)@1", "other": "nDCG@3"}).json()
    call_command("divergence", "--study", "placed", "--measure", "P(rel=2)@1", "--other", "nDCG@3", "--json")
    printed = json.loads(capsys.readouterr().out)
    call_command("divergence", "--study", "placed", "--measure", "P(rel=2)@1", "--other", "nDCG@3")

    assert "P(rel=2)@1 · people and nDCG@3 · people rank most differently, of 4 on the 2 topics" in page
    assert answer == printed
    assert places(answer)[0] == ("ash", 1.5, 3.0, 1.5)
    assert [(row["system"], float(row["places"])) for row in rows] == [(one[0], one[3]) for one in places(answer)]
    assert re.search(r"^  ash +1\.0000 +1\.5 +0\.5250 +3 +1\.5$", capsys.readouterr().out, re.M)


def test_one_measure_by_two_sources(client: Client, placed: Study, rosa: User) -> None:
    client.force_login(rosa)

    found = client.get(API, {"measure": "nDCG@3", "other_source": "contrary-judge"}).json()

    # DCG@3 by the judge's grades: dogwood 4.762, ash 3.893, cedar 2.5, birch 1.631.
    assert places(found) == [
        ("birch", 1.0, 4.0, 3.0),
        ("dogwood", 4.0, 1.0, -3.0),
        ("ash", 3.0, 2.0, -1.0),
        ("cedar", 2.0, 3.0, 1.0),
    ]
    assert (found["source"], found["other_source"]) == ("people", "contrary-judge")


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"measure": "nDCG@3"}, "choose another measure or source"),
        ({"measure": "nDCG@3", "other": "coverage"}, "There are no judgments for coverage"),
        ({"measure": "nDCG@3", "other": "P@1", "source": "nobody"}, "Sources that have: people, contrary-judge"),
        ({"measure": "nDCG@3", "other": "strange@3"}, "strange"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    client: Client, placed: Study, rosa: User, asked: dict[str, str], complaint: str
) -> None:
    client.force_login(rosa)
    options = [part for name, value in asked.items() for part in (f"--{name}", value)]

    refused = client.get(API, asked)

    assert refused.status_code == 400
    assert complaint in refused.content.decode()
    with pytest.raises(CommandError, match=complaint):
        call_command("divergence", "--study", "placed", *options)


def test_without_an_order_there_is_a_reason_and_no_system(client: Client, placed: Study, rosa: User) -> None:
    client.force_login(rosa)

    found = client.get(API, {"measure": "nDCG@3", "other": "P(rel=4)@1"}).json()

    assert found["systems"] == []
    assert found["reason"] == "P(rel=4)@1 · people: no grade reaches 4 on a scale from 0 to 3."


def test_a_judge_is_compared_on_the_development_part_until_the_test_part_is_read(
    client: Client, placed: Study, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    client.force_login(rosa)
    make_split(study=placed, test_share=0.5, by=rosa, at=AT, seed="s")
    asked = {"measure": "nDCG@3", "source": "contrary-judge", "other": "P@1"}

    developed = client.get(API, asked).json()
    locked = client.get(API, asked | {"part": "test"})
    of_people = client.get(API, {"measure": "nDCG@3", "other": "P@1"}).json()
    call_command(
        *("divergence", "--study", "placed", "--measure", "nDCG@3", "--source", "contrary-judge", "--other", "P@1"),
        *("--test", "--json"),
    )

    assert (developed["part"], developed["n_topics"]) == ("development", 1)
    assert (locked.status_code, of_people["n_topics"]) == (400, 2)
    assert json.loads(capsys.readouterr().out)["part"] == "test"
    assert client.get(API, asked | {"part": "test"}).json()["n_topics"] == 1


# How many of eight sub-questions reports and contexts answer with 3 or 4, and with 5.
ANSWERED = {"ash": ((7, 0), (6, 0)), "birch": ((6, 1), (7, 1)), "cedar": ((5, 2), (5, 2)), "dogwood": ((4, 3), (4, 3))}


def graded(answered: tuple[int, int]) -> list[float | None]:
    """Grades of eight sub-questions: 5 for the first ones, 3 for those that are answered otherwise, else 1."""
    enough, fully = answered
    return [5 if place < fully else 3 if place < enough else 1 for place in range(8)]


def test_the_reference_of_crux_table_2_moves_with_eta(study: Study) -> None:
    judge = a_judge_rater(study.collection, "small-judge")
    of_reports: Criterion = graded_criterion(study)
    study.collection.runs.all().delete()
    topic = Topic.objects.create(collection=study.collection, topic_id="t9", request="Why?")
    asked = [
        RubricElement.objects.create(
            topic=topic, kind="sub_question", element_id=f"t9-q{place}", position=place, text="What is it?"
        )
        for place in range(8)
    ]
    for system, (of_report, of_context) in ANSWERED.items():
        passage = Passage.objects.create(collection=study.collection, passage_id=f"p-{system}", text="So it is.")
        run = a_run_of(study.collection, system, {topic: [(passage.passage_id, 1, 1.0)]})
        report = run.reports.create(topic=topic, text=f"{system} says much about it.")
        for criterion, text, answered in (
            (of_reports, report, of_report),
            (criterion_of(study, "rating"), passage, of_context),
        ):
            items = [an_item(study, criterion.task_type, topic=topic, element=one, text=text) for one in asked]
            judge_items(criterion, judge, items, graded(answered))

    found = correlate_measures(
        Scorer.of(study),
        [parse_measure("coverage"), parse_measure("coverage@1")],
        reference="coverage · small-judge",
        varied="coverage@1",
    )

    by_eta = {one.setting: one for one in found.by_threshold}
    # At 3 reports stand ash, birch, cedar, dogwood, and contexts change the first two: 5 pairs alike, 1 not. At 5 both
    # stand dogwood, cedar, birch, ash; held against the order at 3, every pair of contexts would be the other way: −1.
    assert by_eta[3].kendall.value == pytest.approx((5 - 1) / 6)
    assert by_eta[5].kendall.value == pytest.approx(1)
    assert by_eta[3].reference_mean == pytest.approx((7 + 6 + 5 + 4) / 4 / 8)
    assert by_eta[5].reference_mean == pytest.approx((0 + 1 + 2 + 3) / 4 / 8)
    assert by_eta[5].mean == pytest.approx((0 + 1 + 2 + 3) / 4 / 3)  # of the three that any context answers
    assert by_eta[5].reference == "coverage≥5 · small-judge"
