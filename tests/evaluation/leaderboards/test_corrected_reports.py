"""Scores of reports and answers that are sums over items are corrected by people's drawn labels."""

from __future__ import annotations

import random

import numpy as np
import pytest

from collection.models import Draw, Item, Judgment, Rater, Study, User
from evaluation.calibration.report import calibrate_population
from evaluation.data.population import population_of
from evaluation.leaderboards.corrected.item_values import read_item_values
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import parse_measure
from tests.evaluation.answered import an_answered_study, an_item, element, report_of
from tests.evaluation.judged import AT, criterion_of, judge_items
from tests.evaluation.sampled import sampled
from tests.factories import a_judge_rater

__all__ = ["sampled"]  # a fixture


def test_coverage_is_what_the_calibration_page_gives(sampled: Study) -> None:
    [corrected] = measure_leaderboard(Scorer.of(sampled), parse_measure("coverage")).corrected
    calibration = calibrate_population(population_of(criterion_of(sampled), None))

    for system in calibration.systems:
        found, known = corrected.scores[system.name], system.corrected.ppi.estimate
        assert (found.value, found.low, found.high) == pytest.approx((known.value, known.low, known.high))


def judged_answers(study: Study, rater: Rater, judge: Rater) -> list[Item]:
    """Items of every kind on each of four topics' two answers, graded by chance by a person and a judge."""
    chance = random.Random(4)
    items: dict[str, list[Item]] = {"support": [], "grounded": [], "faithful": [], "preference": []}
    for topic in study.collection.topics.order_by("pk"):
        reports = [report_of(topic, system) for system in ("long", "short")]
        nuggets = [element(topic, "nugget", n, importance="vital" if n < 2 else "okay") for n in range(4)]
        points = [element(topic, "key_point", n) for n in range(3)]
        for report in reports:
            items["support"] += [an_item(study, "nugget", topic, element=one, report=report) for one in nuggets]
            items["grounded"] += [an_item(study, "key_point", topic, element=one, report=report) for one in points]
            items["faithful"].append(an_item(study, "answer_evaluation", topic, report=report))
        items["preference"].append(an_item(study, "preference", topic, report=reports[0], other_report=reports[1]))
    for name, of_criterion in items.items():
        criterion = criterion_of(study, name)
        for one in (rater, judge):
            grades = [float(chance.choice(list(criterion.scale.values))) for _ in of_criterion]
            judge_items(criterion, one, of_criterion, list(grades))
    other = criterion_of(study, "appropriate")
    for one in (rater, judge):
        grades = [float(chance.choice(list(other.scale.values))) for _ in items["faithful"]]
        judge_items(other, one, items["faithful"], list(grades))
    return [item for of_criterion in items.values() for item in of_criterion]


@pytest.fixture
def answers(rosa: User, ada_as_rater: Rater) -> Study:
    study = an_answered_study(rosa)
    judged_answers(study, ada_as_rater, a_judge_rater(study.collection, "small-judge"))
    return study


@pytest.mark.parametrize(
    "measure",
    [
        *("KPR", "nuggets-vital", "nuggets-all", "nuggets-strict-vital", "nuggets-strict-all"),
        *("nuggets-weighted", "nuggets-strict-weighted"),
        *("faithful", "appropriate", "F+A", "win-rate", "win-rate(ties=half)", "win-rate(ties=both)"),
    ],
)
def test_the_sum_over_items_is_the_score_that_the_leaderboard_gives(answers: Study, measure: str) -> None:
    scorer = Scorer.of(answers)
    people, judge = measure_leaderboard(scorer, parse_measure(measure)).columns

    values = read_item_values(Scorer.of(answers), parse_measure(measure), people.board.source, judge.board.source)

    assert values is not None
    topics = dict(answers.collection.topics.values_list("pk", "topic_id"))
    for column, of_items in ((people, values.people), (judge, values.judge)):
        table = column.board.scored.table
        found = {(system, topic): 0.0 for system in values.names for topic in table.columns}
        for system, entry, share in zip(values.systems, values.entries, values.shares, strict=True):
            found[values.names[system], topics[int(values.topics[entry])]] += share * of_items[entry]
        for (system, topic), score in found.items():
            given = float(table.loc[[system], topic].to_numpy(dtype=np.float64)[0])
            assert np.isnan(given) or score == pytest.approx(given)
        assert table.notna().to_numpy().any()


@pytest.mark.parametrize("measure", ["KPP", "KPF"])
def test_a_measure_of_any_passage_is_no_sum(answers: Study, measure: str) -> None:
    people = Scorer.of(answers).loader.sources(parse_measure(measure))

    assert read_item_values(Scorer.of(answers), parse_measure(measure), people[0], people[-1]) is None


def test_win_rates_of_a_drawn_part_are_corrected_for_both_systems(answers: Study) -> None:
    items = list(Item.objects.filter(study=answers, task_type="preference").order_by("pk"))
    Draw.objects.bulk_create(
        Draw(item=item, inclusion_probability=0.75, design="simple", drawn_at=AT) for item in items[:3]
    )
    Judgment.objects.filter(rater__kind=Rater.Kind.ASSESSOR, item__in=items[3:]).delete()

    [corrected] = measure_leaderboard(Scorer.of(answers), parse_measure("win-rate(ties=half)")).corrected

    assert corrected.draw.startswith("3 of 4 items of 4 topics have human labels, drawn with probability 0.75")
    long, short = (corrected.scores[name].value for name in ("long", "short"))
    assert long is not None
    assert short is not None
    assert long + short == pytest.approx(1)
    assert "too few for an interval" in corrected.scores["long"].reason
