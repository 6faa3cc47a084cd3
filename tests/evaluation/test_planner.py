from __future__ import annotations

from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.power import NormalIndPower, TTestPower

from evaluation.calibration import ppi_score
from evaluation.labels import Labels, equal_weights
from evaluation.planner import (
    NoPlan,
    Pilot,
    allocate,
    labels_for_half_width,
    pairs_to_separate,
    pilot_of,
    plan_half_width,
    plan_separation,
    spreads,
    strata_of,
    topics_to_separate,
)
from tests.evaluation.labelled import only, sampled

NAN = np.nan


@pytest.mark.parametrize(("correlation", "n"), [(0, 384), (0.5, 293), (0.7, 203), (0.8, 145), (0.9, 78)])
def test_a_judge_that_agrees_with_people_saves_labels(correlation: float, n: int) -> None:
    assert labels_for_half_width(0.05, sd=0.5, correlation=correlation, n_judged=5_000) == n


@given(st.floats(0.01, 0.2), st.floats(0, 0.99), st.integers(0, 100_000))
def test_the_planned_labels_have_the_standard_error_of_ppi(
    half_width: float, correlation: float, n_judged: int
) -> None:
    n = labels_for_half_width(half_width, sd=0.5, correlation=correlation, n_judged=n_judged)

    def planned(labels: int) -> float:
        return 1.959964 * sqrt(0.25 / labels * (1 - correlation**2 * n_judged / (n_judged + labels)))

    assert planned(n + 1) <= half_width * 1.000001
    assert n < 2 or planned(n - 1) >= half_width * 0.999999


def test_without_a_judge_pairs_are_those_of_a_power_analysis() -> None:
    pairs = pairs_to_separate(0.1, sd=0.4, correlation=0, n_judged=0, power=0.9)

    exact = NormalIndPower(ddof=0).solve_power(effect_size=0.25, power=0.9, alpha=0.05, ratio=0)
    assert pairs == round(exact)


@pytest.mark.parametrize(
    "differences", [[0.1, 0.3, -0.1, 0.2, 0.0, 0.15, NAN], [0.1, 0.3, 0.2, 0.25], [1.0, 1.3, 0.8], [1.0, 1.01, 0.99]]
)
def test_topics_are_those_of_a_paired_t_test(differences: list[float]) -> None:
    n_topics = topics_to_separate(differences)

    effect = float(np.nanmean(differences) / np.nanstd(differences, ddof=1))
    power = TTestPower()
    assert power.power(effect, n_topics, 0.05) >= 0.8
    assert n_topics == 2 or power.power(effect, n_topics - 1, 0.05) < 0.8


@pytest.mark.parametrize("differences", [[0.1], [0.1, 0.1, 0.1], [0.1, -0.1]])
def test_a_pilot_without_a_difference_gives_no_number_of_topics(differences: list[float]) -> None:
    with pytest.raises(NoPlan):
        topics_to_separate(differences)


@given(st.floats(0, 0.95), st.integers(500, 20_000))
def test_a_plan_counts_the_labels_out_of_the_items_that_the_judge_has_alone(correlation: float, n_items: int) -> None:
    plan = plan_half_width(Pilot(0.5, correlation, 1.0, 40, n_items), 0.06)

    assert plan.needed is not None
    alone = labels_for_half_width(0.06, sd=0.5, correlation=correlation, n_judged=n_items - plan.needed)
    assert abs(plan.needed - alone) <= 1
    assert plan.more == max(0, plan.needed - 40)


def test_a_plan_keeps_what_it_promises() -> None:
    rng = np.random.default_rng(1)
    plan = plan_half_width(pilot_of(sampled(rng, 2_000, 4_000)), 0.05)

    assert plan.needed is not None
    estimates = [ppi_score(sampled(rng, plan.needed, 4_000)).estimate for _ in range(40)]
    half_widths = [(one.high or 0) / 2 - (one.low or 0) / 2 for one in estimates]
    assert np.mean(half_widths) == pytest.approx(0.05, rel=0.04)


def test_too_few_items_give_no_plan_and_say_so() -> None:
    plan = plan_half_width(Pilot(0.5, 0.9, 1.0, 40, 300), 0.01)

    assert plan.needed is plan.more is None
    assert "300 items are too few" in plan.reason


def test_items_of_a_topic_that_vary_together_take_more_labels() -> None:
    rng = np.random.default_rng(2)
    topics = np.repeat(np.arange(40), 50)
    truth = (rng.random(2_000) < np.repeat(rng.choice([0.1, 0.9], 40), 50)).astype(float)
    people = only(truth, rng.choice(2_000, 400, replace=False))

    alike = pilot_of(Labels(people, truth * 0, weights=equal_weights(people), topics=topics))
    apart = pilot_of(Labels(people, truth * 0, weights=equal_weights(people)))

    assert apart.design_effect == 1
    assert alike.design_effect == pytest.approx(1 + 9 * 0.64, rel=0.4)
    with_topics, without = plan_separation(alike, 0.3), plan_separation(apart, 0.3)
    assert with_topics.needed is not None
    assert without.needed is not None
    assert with_topics.needed > 3 * without.needed


def test_a_pilot_sees_spread_and_correlation_as_the_items_were_drawn() -> None:
    people = np.array([1.0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0])
    judge = np.array([1.0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0])
    weights = np.array([1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2])
    repeated = np.repeat(np.arange(12), weights)

    pilot = pilot_of(Labels(people, judge, weights=weights.astype(float)))

    assert pilot.correlation == pytest.approx(np.corrcoef(people[repeated], judge[repeated])[0, 1])
    assert pilot.sd == pytest.approx(people[repeated].std(), rel=0.06)


def test_nine_labels_are_no_pilot() -> None:
    people = only(np.ones(20), list(range(9)))

    with pytest.raises(NoPlan, match="9 labels are too few"):
        pilot_of(Labels(people, np.ones(20), weights=equal_weights(people)))


@pytest.mark.parametrize("half_width", [0, -0.1])
def test_a_half_width_of_nothing_is_refused(half_width: float) -> None:
    with pytest.raises(NoPlan, match="above 0"):
        labels_for_half_width(half_width, sd=0.5, correlation=0, n_judged=0)


def test_labels_go_where_there_is_most_to_learn() -> None:
    given_to = allocate(np.array([1_000, 1_000, 50]), np.array([0.1, 0.4, 0.0]), 102)

    assert given_to.tolist() == [20, 80, 2]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 7), st.integers(0, 4)), min_size=1, max_size=3), st.data())
def test_no_allocation_in_whole_numbers_has_less_variance(strata: list[tuple[int, int]], data: st.DataObject) -> None:
    sizes, sds = np.array([size for size, _ in strata]), np.array([float(sd) for _, sd in strata])
    least = np.minimum(sizes, 2)
    n = data.draw(st.integers(int(least.sum()), int(sizes.sum())))

    found = allocate(sizes, sds, n)

    def variance(labels: Any) -> float:
        return float(((sizes * sds) ** 2 / np.array(labels)).sum())

    others = product(*(range(low, high + 1) for low, high in zip(least, sizes, strict=True)))
    assert found.sum() == n
    assert (found >= least).all()
    assert (found <= sizes).all()
    assert variance(found) <= min(variance(other) for other in others if sum(other) == n) + 1e-9


@pytest.mark.parametrize("n", [3, 21])
def test_an_allocation_below_the_floors_or_above_the_items_is_refused(n: int) -> None:
    with pytest.raises(NoPlan, match="need 4 at least and hold 20"):
        allocate(np.array([10, 10]), np.array([1.0, 1.0]), n)


def test_strata_are_grades_parted_by_disagreement() -> None:
    grades = np.array([0.0, 0, 0, 3, 3, NAN])

    strata = strata_of(grades, np.array([0.1, 0.1, 0.5, 0.2, 0.4, NAN]))

    assert strata.names == ("grade 0", "grade 0, disputed", "grade 3", "grade 3, disputed", "ungraded")
    assert strata.numbers.tolist() == [0, 0, 1, 2, 3, 4]
    assert strata.sizes.tolist() == [2, 1, 1, 1, 1]


def test_a_stratum_whose_few_labels_agree_is_not_taken_for_certain() -> None:
    people = np.array([1.0, 1, 1, 0, 1, 0, 1, 0, NAN])
    strata = strata_of(np.array([0.0, 0, 0, 1, 1, 1, 1, 1, 2]))

    found = spreads(Labels(people, np.zeros(9), weights=np.ones(9)), strata)

    common = 1.2 / 6
    assert found**2 == pytest.approx([2 * common / 4, (1.2 + 2 * common) / 6, common])


def test_without_labels_all_strata_spread_alike() -> None:
    strata = strata_of(np.array([0.0, 1, 1]))

    assert spreads(Labels(np.full(3, NAN), np.zeros(3)), strata).tolist() == [1, 1]
