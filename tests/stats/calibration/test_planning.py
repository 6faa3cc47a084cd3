from __future__ import annotations

from math import ceil, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from stats.calibration.estimators import people_score, ppi_score
from stats.calibration.labels import Labels, equal_weights
from stats.calibration.pilots import NoPlan, Pilot, labels_worth, pilot_of
from stats.calibration.planning import least_half_width, plan_half_width, plan_separation
from stats.intervals import Estimate
from tests.planner_check import LEAST, MOST, SHAPES, Shape, simulate
from tests.stats.labelled import only, sampled

NAN = np.nan


def a_pilot(
    *,
    between: float,
    within: float = 0.25,
    n_topics: int | None = None,
    n_items: int = 5_000,
    n_labelled: int = 40,
    value: float = 0.5,
) -> Pilot:
    return Pilot(
        value=value,
        sd=sqrt(value * (1 - value)),
        correlation=0.0,
        between=between,
        within=within,
        uneven=0.0,
        uneven_labels=0.0,
        n_topics=n_topics,
        n_labelled=n_labelled,
        n_items=n_items,
        yes_or_no=True,
    )


def half_width(estimate: Estimate) -> float:
    assert estimate.low is not None
    assert estimate.high is not None
    return (estimate.high - estimate.low) / 2


@pytest.mark.parametrize(("correlation", "n"), [(0, 384), (0.5, 293), (0.7, 203), (0.8, 145), (0.9, 78)])
def test_without_topics_the_labels_are_those_of_ppis_formula(correlation: float, n: int) -> None:
    """N labels beside 5,000 items that the judge alone graded: arXiv 2311.01453, with z in the place of t."""
    n_items = 5_000 + n
    pilot = a_pilot(between=0.25 / n_items, within=0.25 * (1 - correlation**2), n_items=n_items)

    needed = plan_half_width(pilot, 0.05).needed

    # Wilson's interval is shorter than z·SE, and t is longer; both matter little here.
    assert needed == pytest.approx(n, rel=0.03)


def test_labels_in_the_same_topics_go_only_so_far() -> None:
    """25 topics, all 3,931 items of which give ± .067: for ± .03 it takes about 115 topics."""
    between = (0.067 / stats.t.ppf(0.975, 24)) ** 2
    pilot = a_pilot(between=between, n_topics=25, n_items=3_931, n_labelled=400, value=0.4)

    plan = plan_half_width(pilot, 0.03)

    assert plan.needed is plan.more is None
    assert plan.least == pytest.approx(0.067, rel=0.02)
    assert "with all 3,931 items of these 25 topics labelled the interval is ± 0.06" in plan.reason
    assert plan.topics == pytest.approx(115, rel=0.02)
    assert plan.topics_range is not None
    assert plan.topics_range[0] < 90
    assert plan.topics_range[1] > 160


def test_fewer_labels_in_more_topics_do_the_same() -> None:
    pilot = a_pilot(between=0.001, within=0.2, n_topics=25, n_items=5_000, n_labelled=400)

    plan = plan_half_width(pilot, 0.03)

    topics = [design.topics for design in plan.designs]
    assert [design.labels_a_topic for design in plan.designs] == [5, 10, 20, 50, 100]
    assert topics == sorted(topics, reverse=True)
    assert plan.topics is not None
    assert topics[-1] >= plan.topics
    assert [design.labels for design in plan.designs] == [
        design.labels_a_topic * design.topics for design in plan.designs
    ]
    for design in plan.designs:
        like = pilot.of_topics(design.topics)
        assert (like.half_width(design.labels) or 1) <= 0.03
        fewer = pilot.of_topics(design.topics - 1)
        assert (fewer.half_width(design.labels_a_topic * (design.topics - 1)) or 1) > 0.03


@settings(max_examples=50, deadline=None)
@given(st.floats(0, 0.002), st.floats(0.01, 0.25), st.floats(0.02, 0.2))
def test_the_needed_labels_are_the_fewest_that_are_enough(between: float, within: float, wanted: float) -> None:
    pilot = a_pilot(between=between, within=within, n_topics=30, n_items=2_000)

    plan = plan_half_width(pilot, wanted)

    if plan.needed is None:
        assert plan.least is not None
        assert plan.least > wanted
    else:
        assert (pilot.half_width(plan.needed) or 1) <= wanted
        fewer = pilot.half_width(plan.needed - 1)
        assert fewer is None or fewer > wanted
        assert plan.more == max(0, plan.needed - 40)


def test_a_plan_keeps_what_it_promises() -> None:
    rng = np.random.default_rng(1)
    plan = plan_half_width(pilot_of(sampled(rng, 2_000, 4_000)), 0.05)

    assert plan.needed is not None
    came_out = [half_width(ppi_score(sampled(rng, plan.needed, 4_000)).estimate) for _ in range(40)]
    assert np.mean(came_out) == pytest.approx(0.05, rel=0.04)


@pytest.mark.parametrize(
    "shape",
    [shape for shape in SHAPES if shape.name in ("25 topics", "25 topics, whole texts", "25 topics of unequal size")],
    ids=lambda shape: shape.name,
)
def test_predicted_half_widths_come_true(shape: Shape) -> None:
    """Thirty studies of each; `make calibration-check` has many, and TREC DL 2019."""
    outcomes = simulate(shape, 30, 1971)

    assert [outcome.planned for outcome in outcomes] == [
        "three times the labels",
        "all items labelled",
        "three times the topics",
    ]
    assert all(LEAST <= outcome.ratio <= MOST for outcome in outcomes), outcomes


def test_the_plan_for_the_labels_at_hand_is_the_interval_they_have() -> None:
    """Page, `calibrate` and `plan_labels` must not contradict one another."""
    shape = Shape("a study", 25, 100, 1.0)
    rng = np.random.default_rng(4)
    study = shape.study(rng)
    labels = study.labelled(shape.weights(rng, study, 12))

    pilot = pilot_of(labels)

    assert pilot.half_width(300) == pytest.approx(half_width(ppi_score(labels).estimate), rel=0.01)


def test_where_all_is_labelled_the_plan_has_nothing_left_to_promise() -> None:
    labels = sampled(np.random.default_rng(5), 1_000, 1_000, topics=np.arange(1_000) % 20, per_topic=True)

    least = least_half_width(labels)

    assert least == pytest.approx(half_width(people_score(labels).estimate), rel=0.01)


def test_topics_labelled_whole_are_those_of_a_paired_t_test() -> None:
    rng = np.random.default_rng(6)
    topics = np.repeat(np.arange(12), 20)
    differences = np.repeat(rng.normal(0.1, 0.2, 12), 20)
    pairs = Labels(differences, differences * 0, weights=np.ones(240), topics=topics, per_topic=True)

    plan = plan_separation(pilot_of(pairs), 0.1)

    by_topic = differences[::20]
    needed = TTestPower().solve_power(effect_size=0.1 / by_topic.std(ddof=1), power=0.8, alpha=0.05)
    assert plan.topics == ceil(needed)
    assert plan.least is not None
    effect = plan.least / by_topic.std(ddof=1)
    assert TTestPower().power(effect, 12, 0.05) == pytest.approx(0.8, abs=0.002)


def test_a_planned_difference_is_found_four_times_in_five() -> None:
    """Two systems over topics that differ; the planned number of topics with ten labels each."""
    rng = np.random.default_rng(7)

    def pairs(n_topics: int, apart: float) -> Labels:
        topics = np.repeat(np.arange(n_topics), 10)
        values = rng.normal(apart, 0.15, n_topics)[topics] + rng.normal(0, 0.5, len(topics))
        return Labels(values, values * 0, weights=np.ones(len(topics)), topics=topics, per_topic=True)

    plan = plan_separation(pilot_of(pairs(200, 0.0)), 0.1)
    assert plan.topics is not None
    found = 0
    for _ in range(400):
        score = people_score(pairs(plan.topics, 0.1)).estimate
        found += score.low is not None and score.low > 0

    assert found / 400 == pytest.approx(0.8, abs=0.05)


def test_too_few_items_give_no_plan_and_say_so() -> None:
    plan = plan_half_width(a_pilot(between=0.25 / 300, n_items=300), 0.01)

    assert plan.needed is plan.more is plan.topics is None
    assert "with all 300 items labelled the interval is ± 0.056" in plan.reason


def test_a_pilot_sees_spread_and_correlation_as_the_items_were_drawn() -> None:
    people = np.array([1.0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0])
    judge = np.array([1.0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0])
    weights = np.array([1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2])
    repeated = np.repeat(np.arange(12), weights)

    pilot = pilot_of(Labels(people, judge, weights=weights.astype(float)))

    assert pilot.correlation == pytest.approx(np.corrcoef(people[repeated], judge[repeated])[0, 1])
    assert pilot.sd == pytest.approx(people[repeated].std(), rel=0.06)


def test_a_good_judge_is_worth_labels_but_not_topics() -> None:
    """With people's truth for a judge, drawing adds nothing: the labels are worth all items, and topics stay apart."""
    rng = np.random.default_rng(8)
    topics = np.repeat(np.arange(20), 50)
    truth = (rng.random(1_000) < np.repeat(rng.choice([0.1, 0.9], 20), 50)).astype(float)
    people = only(truth, rng.choice(1_000, 200, replace=False))
    labels = Labels(people, truth, weights=equal_weights(people), topics=topics, per_topic=True)

    assert labels_worth(labels, truth) == pytest.approx(1_000)
    assert labels_worth(labels, truth * 0) == pytest.approx(200)
    assert pilot_of(labels).half_width(1_000) == pytest.approx(pilot_of(labels).half_width(200), rel=0.03)


def test_nine_labels_are_no_pilot() -> None:
    people = only(np.ones(20), list(range(9)))

    with pytest.raises(NoPlan, match="9 labels are too few"):
        pilot_of(Labels(people, np.ones(20), weights=equal_weights(people)))


def test_labels_in_four_topics_say_too_little_of_topics() -> None:
    people = only(np.tile([0.0, 1.0], 100), list(range(80)))

    with pytest.raises(NoPlan, match="labels are from 4 topics"):
        pilot_of(Labels(people, np.ones(200), weights=equal_weights(people), topics=np.arange(200) // 20))


@pytest.mark.parametrize("half_width", [0, -0.1])
def test_a_half_width_of_nothing_is_refused(half_width: float) -> None:
    with pytest.raises(NoPlan, match="above 0"):
        plan_half_width(a_pilot(between=0.001), half_width)
