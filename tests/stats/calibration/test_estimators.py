from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from stats.calibration.estimators import (
    correct,
    judge_score,
    people_score,
    post_stratified_score,
    ppi_score,
    rogan_gladen_score,
)
from stats.calibration.labels import Labels, NotALabelTable, equal_weights, weights_of_waves
from stats.calibration.ppi import corrected_mean
from stats.calibration.recalibration import crossfitted, recalibration_curve
from stats.pattern_intervals import Estimate
from stats.ratings import FloatArray
from tests.stats.labelled import TRUTH, only, sampled

NAN = np.nan

# Twelve labels and twenty items beside them, scored with ppi_py 0.2.3 (ppi_mean_pointestimate): without a judge
# .58333333, with λ = 1 .56, tuned .56339812, where ppi_py's λ has the covariance over n and ours over n − 1.
PEOPLE = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1.0])
ON_LABELLED = np.array([0.9, 0.2, 0.8, 0.4, 0.1, 0.3, 0.7, 0.6, 0.9, 0.5, 0.2, 0.8])
ON_OTHERS = np.array(
    [0.1, 0.9, 0.8, 0.3, 0.2, 0.6, 0.7, 0.7, 0.4, 0.95, 0.05, 0.5, 0.35, 0.85, 0.15, 0.65, 0.55, 0.75, 0.45, 0.25]
)


def beside(people: FloatArray, on_labelled: FloatArray, on_others: FloatArray) -> Labels:
    """Labels on the first items, none on the others, drawn with equal probabilities."""
    labels = np.concatenate([people, np.full(len(on_others), NAN)])
    return Labels(labels, np.concatenate([on_labelled, on_others]), weights=equal_weights(labels))


def value(estimate: Estimate) -> float:
    assert estimate.value is not None
    return estimate.value


def error(estimate: Estimate) -> float:
    assert estimate.se is not None
    return estimate.se


def holds(estimate: Estimate, truth: float) -> bool:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low <= truth <= estimate.high


def test_ppi_is_the_librarys() -> None:
    score = ppi_score(beside(PEOPLE, ON_LABELLED, ON_OTHERS))

    assert score.power is not None
    tuned = (0.58333333 - 0.56339812) / (0.58333333 - 0.56)
    assert score.power == pytest.approx(tuned * 12 / 11, abs=1e-6)
    assert value(score.estimate) == pytest.approx(0.58333333 - score.power * (0.58333333 - 0.56), abs=1e-7)


def test_ppi_has_the_papers_standard_error_and_a_t_interval() -> None:
    people, judge, others = (np.tile(2 * column, 3) for column in (PEOPLE, ON_LABELLED, ON_OTHERS))
    score = ppi_score(beside(people, judge, others))

    assert score.power is not None
    variance = score.power**2 * others.var(ddof=1) / 60 + (people - score.power * judge).var(ddof=1) / 36
    half = stats.t.ppf(0.975, 35) * np.sqrt(variance)
    assert error(score.estimate) == pytest.approx(np.sqrt(variance))
    assert (score.estimate.low, score.estimate.high) == pytest.approx(
        (value(score.estimate) - half, value(score.estimate) + half)
    )


def test_people_alone_are_the_textbooks_mean() -> None:
    grades = np.array([3.0, 1, 4, 2, 5, 3, 2, 4] * 4)

    score = people_score(Labels(grades, np.zeros(32), weights=np.ones(32)))

    interval = stats.ttest_1samp(grades, 0).confidence_interval()
    assert (score.estimate.low, score.estimate.high) == pytest.approx((interval.low, interval.high))
    assert score.effective_labels == pytest.approx(32)
    assert score.power is None


def test_a_share_of_yes_has_wilsons_interval_with_t() -> None:
    people = np.array([1.0] * 6 + [0.0] * 54)

    estimate = people_score(Labels(people, np.zeros(60), weights=np.ones(60))).estimate

    level = 2 * stats.norm.sf(stats.t.ppf(0.975, 59))
    wilson = proportion_confint(0.1 * 59, 59, alpha=level, method="wilson")
    assert (estimate.low, estimate.high) == pytest.approx(wilson)


def test_a_judge_that_runs_against_people_is_left_out() -> None:
    score = ppi_score(beside(PEOPLE, 1 - ON_LABELLED, ON_OTHERS))

    assert score.power == 0
    assert value(score.estimate) == pytest.approx(PEOPLE.mean())
    assert score.effective_labels == pytest.approx(12)


def test_a_good_judge_is_worth_many_labels_and_its_bias_is_taken_out() -> None:
    labels = sampled(np.random.default_rng(1), 400, 8_000)
    generous = Labels(labels.people, np.where(labels.judge_grades >= 2, 1.0, 0.0), weights=labels.weights)

    corrected = correct(generous)

    assert not holds(corrected.judge.estimate, TRUTH)
    assert holds(corrected.ppi.estimate, TRUTH)
    assert corrected.ppi.effective_labels is not None
    assert corrected.ppi.effective_labels > 600


def test_where_people_labelled_everything_every_correction_is_their_mean() -> None:
    rng = np.random.default_rng(2)
    labels = sampled(rng, 300, 300)

    corrected = correct(labels)

    mean = labels.people.mean()
    scores = (corrected.people, corrected.ppi, corrected.post_stratified)
    assert [value(score.estimate) for score in scores] == pytest.approx([mean] * 3)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.5, 3), st.floats(-2, 2))
def test_another_unit_of_the_grades_changes_nothing(seed: int, unit: float, zero: float) -> None:
    labels = sampled(np.random.default_rng(seed), 60, 300)
    turned = Labels(labels.people * unit + zero, labels.judge * unit + zero, weights=labels.weights)

    score, same = ppi_score(labels), ppi_score(turned)

    assert value(same.estimate) == pytest.approx(value(score.estimate) * unit + zero)
    assert error(same.estimate) == pytest.approx(error(score.estimate) * unit)


def test_the_weighted_form_is_the_plain_one_where_probabilities_are_equal() -> None:
    labels = sampled(np.random.default_rng(3), 200, 5_000)
    apart = Labels(labels.people, labels.judge, weights=labels.weights, topics=np.arange(5_000))

    plain, weighted = ppi_score(labels), ppi_score(apart)

    assert value(weighted.estimate) == pytest.approx(value(plain.estimate), abs=0.002)
    assert error(weighted.estimate) == pytest.approx(error(plain.estimate), rel=0.01)


def test_unequal_probabilities_are_undone() -> None:
    rng = np.random.default_rng(4)
    labels = sampled(rng, 4_000, 4_000)
    probabilities = np.where(labels.judge_grades >= 3, 0.2, 0.02)

    blind, off = [], []
    for _ in range(200):
        people = only(labels.people, np.flatnonzero(rng.random(4_000) < probabilities))
        blind.append(value(people_score(Labels(people, labels.judge, weights=equal_weights(people))).estimate))
        weighted = correct(Labels(people, labels.judge, labels.grades, 1 / probabilities))
        scores = (weighted.people, weighted.ppi, weighted.post_stratified)
        off.append([(value(score.estimate) - labels.people.mean()) / error(score.estimate) for score in scores])

    assert np.mean(blind) > labels.people.mean() + 0.2
    assert np.abs(np.mean(off, axis=0)).max() < 0.25
    assert np.abs(np.std(off, axis=0) - 1).max() < 0.2


def test_the_weighted_mean_is_unbiased_over_all_samples_of_a_stratified_design() -> None:
    truth, strata = np.array([1.0, 0, 1, 1, 0, 5, 3]), [range(4), range(4, 7)]

    values = []
    for first, second in product(combinations(strata[0], 2), combinations(strata[1], 1)):
        people = only(truth, [*first, *second])
        weights = np.where(np.arange(7) < 4, 2.0, 3.0)
        values.append(value(people_score(Labels(people, np.zeros(7), weights=weights)).estimate))

    assert np.mean(values) == pytest.approx(truth.mean())


def test_waves_that_learn_from_earlier_ones_are_unbiased_together() -> None:
    """Two of five at random; then one of the other three, with probabilities that depend on what the two said."""
    truth, totals = np.array([4.0, 0, 1, 7, 2]), []

    for first in combinations(range(5), 2):
        left = [row for row in range(5) if row not in first]
        sizes = np.array([1.0 + row * truth[list(first)].sum() for row in left])
        for row, probability in zip(left, sizes / sizes.sum(), strict=True):
            waves, chances = np.zeros(5, dtype=np.int64), np.full(5, 2 / 5)
            waves[row], chances[row] = 1, probability
            drawn = np.isin(np.arange(5), [*first, row])
            weights = weights_of_waves(waves, chances, drawn=drawn)
            totals.append((np.nansum(weights * truth), probability / 10))

    assert sum(total * chance for total, chance in totals) == pytest.approx(truth.sum())


def test_a_grades_share_weighs_what_people_say_there() -> None:
    """Grade 0: 20 items, people's mean .2; grade 1: 30 items, .6; nobody graded 10, .4: (4 + 18 + 4)/60."""
    judge = np.repeat([0.0, 1.0, NAN], [20, 30, 10])
    people = np.full(60, NAN)
    people[:5], people[20:25], people[50:55] = [1, 0, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0]

    score = post_stratified_score(Labels(people, judge, weights=equal_weights(people)))

    assert value(score.estimate) == pytest.approx(26 / 60)
    assert "ungraded" in score.warnings[-1]


def test_the_recalibration_curve_shows_each_grade_and_rises() -> None:
    judge = np.repeat([0.0, 1.0, 2.0, NAN], 4)
    people = np.array([0, 0, NAN, NAN, 1, 1, 0, NAN, 1, 0, NAN, NAN, 1, NAN, NAN, NAN])

    curve = recalibration_curve(Labels(people, judge, weights=equal_weights(people)))

    assert [(point.grade, point.n_items, point.n_labelled) for point in curve] == [
        (0, 4, 2),
        (1, 4, 3),
        (2, 4, 2),
        (None, 4, 1),
    ]
    assert [point.people.value for point in curve] == pytest.approx([0, 2 / 3, 1 / 2, 1])
    assert [point.isotonic for point in curve] == pytest.approx([0, 3 / 5, 3 / 5, 1])
    assert curve[3].people.reason == "1 item is too few for an interval, which takes 30"


def test_sparse_grades_are_recalibrated_and_no_item_sees_its_own_label() -> None:
    rng = np.random.default_rng(5)
    labels = sampled(rng, 100, 2_000)
    fine = Labels(labels.people, labels.judge, labels.judge_grades + rng.random(2_000), labels.weights)

    score = post_stratified_score(fine)

    own = np.flatnonzero(fine.labelled)[0]
    turned = Labels(fine.people.copy(), fine.judge, fine.grades, fine.weights)
    turned.people[own] = 1 - turned.people[own]
    assert "isotonic" in score.method
    assert holds(score.estimate, TRUTH)
    assert crossfitted(turned)[own] == crossfitted(fine)[own]


def judged(people: FloatArray, sensitivity: float, specificity: float) -> FloatArray:
    """What a judge says who errs exactly so often; unlabelled items it calls a yes as often as labelled ones."""
    said = np.zeros(len(people))
    for value, share in ((1, sensitivity), (0, 1 - specificity)):
        rows = np.flatnonzero(people == value)
        said[rows[: round(share * len(rows))]] = 1
    return said


def test_rogan_and_gladen_undo_the_judges_errors() -> None:
    """Se .8, Sp .9 and a true share of .3 make an apparent share of .31 among items that people did not label."""
    people = np.array([1.0] * 50 + [0.0] * 50 + [NAN] * 2_000)
    said = judged(people, 0.8, 0.9)
    said[100:720] = 1

    score = rogan_gladen_score(Labels(people, said), label_shift=True)

    assert value(score.estimate) == pytest.approx(((620 + 45) / 2_100 + 0.9 - 1) / 0.7)
    assert holds(score.estimate, 0.3)


def test_rogan_and_gladen_have_the_textbooks_variance() -> None:
    rng = np.random.default_rng(6)
    labels = sampled(rng, 400, 100_000)
    yes, judged_yes = labels.people == 1, labels.judge == 1

    estimate = rogan_gladen_score(labels, label_shift=True).estimate

    n_yes, n_no = yes.sum(), (labels.people == 0).sum()
    se, sp, p = judged_yes[yes].mean(), (~judged_yes)[labels.people == 0].mean(), judged_yes.mean()
    share = (p + sp - 1) / (se + sp - 1)
    variance = p * (1 - p) / 1e5 + share**2 * se * (1 - se) / n_yes + (1 - share) ** 2 * sp * (1 - sp) / n_no
    assert value(estimate) == pytest.approx(share)
    assert error(estimate) == pytest.approx(np.sqrt(variance) / (se + sp - 1), rel=0.01)


def test_rogan_and_gladens_interval_is_fiellers() -> None:
    """Every share in it makes p + Sp − 1 and Se + Sp − 1 agree within t standard errors, and its ends just do."""
    people = np.array([1.0] * 60 + [0.0] * 80)
    labels = Labels(people, judged(people, 0.75, 0.7))

    estimate = rogan_gladen_score(labels, label_shift=True).estimate

    def deviation(share: float) -> float:
        said = labels.judge
        above = (said - said.mean()) / 140
        of_yes = np.where(people == 1, (said - 0.75) / 60, 0) * np.sqrt(60 / 59)
        of_no = np.where(people == 0, (1 - said - 0.7) / 80, 0) * np.sqrt(80 / 79)
        influence = above + of_no - share * (of_yes + of_no)
        return abs(float(said.mean()) + 0.7 - 1 - share * 0.45) / float(np.sqrt(influence @ influence))

    assert estimate.low is not None
    assert estimate.high is not None
    # Se and Sp have a little more than their own variance: that of one more label of each kind.
    assert [deviation(estimate.low), deviation(estimate.high)] == pytest.approx([stats.t.ppf(0.975, 138)] * 2, rel=0.02)


def test_rogan_and_gladen_stay_within_0_and_1() -> None:
    people = np.array([1.0] * 40 + [0.0] * 40 + [NAN] * 400)
    said = judged(people, 0.8, 0.8)

    nobody = rogan_gladen_score(Labels(people, said), label_shift=True).estimate
    said[80:] = 1
    everybody = rogan_gladen_score(Labels(people, said), label_shift=True).estimate

    assert (nobody.value, nobody.low) == (0, 0)
    assert (everybody.value, everybody.high) == (1, 1)
    assert 0 < (nobody.high or 0) < 0.2
    assert 0.8 < (everybody.low or 1) < 1


def test_a_judge_that_may_tell_no_more_than_chance_corrects_nothing() -> None:
    """Se .6 and Sp .5 on 40 labels: .1 more than chance, give or take .3."""
    people = np.array([1.0] * 20 + [0.0] * 20 + [NAN] * 100)

    estimate = rogan_gladen_score(Labels(people, judged(people, 0.6, 0.5)), label_shift=True).estimate

    assert estimate.value is None
    assert "sum to 0.100 more than 1, and may sum to 0." in estimate.reason
    assert "the judge may be no better than chance" in estimate.reason


@pytest.mark.parametrize(
    ("people", "judge", "declared", "reason"),
    [
        ([1, 1, 0, 0], [1, 0, 1, 0], True, "the judge is no better than chance"),
        ([1, 1, 0, 0], [1, 1, 0, 0], False, "label shift was not declared"),
        ([1, 2, 0, 0], [1, 1, 0, 0], True, "the values are not yes and no"),
        ([1, 0, 0, 0], [1, 1, 0, 0], True, "fewer than two items are labelled yes"),
        ([1, 1, 0, 0], [1, 1, 0, 0], True, "4 items are too few for an interval"),
    ],
)
def test_rogan_and_gladen_are_refused_where_they_do_not_hold(
    people: Any, judge: Any, declared: bool, reason: str
) -> None:
    labels = Labels(np.array(people, float), np.array(judge, float), weights=np.ones(4))

    score = rogan_gladen_score(labels, label_shift=declared)

    assert score.estimate.value is None
    assert reason in score.estimate.reason


def test_ungraded_replies_stay_in_the_denominators() -> None:
    people = np.array([1.0, 0, 1, 0, NAN, NAN, NAN, NAN])
    judge = np.array([1.0, 0, NAN, NAN, 1, 1, NAN, 0])

    corrected = correct(Labels(people, judge, weights=equal_weights(people)))

    assert value(corrected.judge.estimate) == pytest.approx(3 / 8)
    assert corrected.as_dict()["ungraded_share"] == pytest.approx(3 / 8)
    assert "3 of 8 replies ungraded: they count as no" in corrected.judge.warnings


def test_a_mean_of_grades_has_no_value_for_ungraded_replies_and_says_so() -> None:
    score = judge_score(Labels(np.full(4, NAN), np.array([2.0, 4, NAN, 3])))

    assert value(score.estimate) == pytest.approx(3)
    assert score.warnings == ("1 of 4 replies ungraded: they are left out",)


def test_a_judge_without_any_grade_leaves_people_alone() -> None:
    labels = Labels(PEOPLE, np.full(12, NAN), weights=np.ones(12))

    corrected = correct(labels)

    assert corrected.judge.estimate.reason == "the judge graded no item"
    assert corrected.ppi.estimate == corrected.people.estimate


def test_labels_that_nobody_drew_say_which_scores_they_cannot_give() -> None:
    everybody = np.tile(PEOPLE, 10)

    corrected = correct(Labels(only(everybody, list(range(80))), everybody), label_shift=True)

    unknown = "the probabilities with which the labelled items were drawn are not recorded"
    for score in (corrected.people, corrected.ppi, corrected.post_stratified):
        assert score.estimate.reason == unknown
    assert corrected.judge.estimate.value == pytest.approx(7 / 12)
    assert corrected.rogan_gladen.estimate.value == pytest.approx(7 / 12)


def test_few_labels_are_warned_of() -> None:
    people = np.array([1.0] * 30 + [0.0] * 3)

    warnings = people_score(Labels(people, people, weights=np.ones(33))).warnings

    assert warnings == (
        "33 labels; with fewer than 50, intervals are too short",
        "3 labels of the rarer class; with fewer than 10, intervals are too short",
    )


@pytest.mark.parametrize(("n_labels", "reason"), [(0, "no item"), (1, "one item")])
def test_fewer_than_two_labels_give_no_score(n_labels: int, reason: str) -> None:
    people = only(PEOPLE, list(range(n_labels)))

    score = ppi_score(Labels(people, PEOPLE, weights=np.ones(12)))

    assert reason in score.estimate.reason


def test_topics_are_left_out_one_by_one() -> None:
    rng = np.random.default_rng(7)
    topics = rng.integers(0, 12, 200)
    grades = rng.normal(size=200) + topics / 6

    estimate = people_score(Labels(grades, np.zeros(200), weights=np.ones(200), topics=topics)).estimate

    left = np.array([grades[topics != topic].mean() for topic in range(12)])
    fit = sm.OLS(grades, np.ones(200)).fit(cov_type="cluster", cov_kwds={"groups": topics}, use_t=True)
    assert error(estimate) == pytest.approx(np.sqrt(11 / 12 * ((left - left.mean()) ** 2).sum()))
    assert error(estimate) == pytest.approx(fit.bse[0], rel=0.1)


def test_the_judge_is_used_as_far_as_topics_say() -> None:
    """25 of 100 topics are labelled whole. The judge knows items well but errs by topic, and so tells little."""
    rng = np.random.default_rng(8)
    topics = np.repeat(np.arange(100), 20)
    truth = rng.normal(size=2_000)
    judge = truth + rng.normal(0, 3, 100)[topics]
    people = only(truth, np.flatnonzero(topics < 25))
    labels = Labels(people, judge, weights=equal_weights(people), topics=topics)

    score = ppi_score(labels)

    alone = ppi_score(Labels(people, judge, weights=equal_weights(people), topics=np.arange(2_000)))
    assert alone.power is not None
    assert score.power is not None
    assert score.power < 0.5 * alone.power
    assert error(score.estimate) < 1.05 * error(people_score(labels).estimate)


def test_topics_that_are_far_apart_do_not_throw_a_fair_judge_away() -> None:
    powers = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        topics = np.repeat(np.arange(15), 60)
        wanted, said = rng.normal(0, 2.5, 15)[topics], rng.logistic(0, 1, 900)
        judge = np.asarray(wanted + 0.6 * said + 0.4 * rng.logistic(0, 1, 900) > 0, dtype=np.float64)
        labelled = rng.random((15, 60)).argsort(axis=1).ravel() < 20
        people = np.where(labelled, wanted + said > 0, np.nan)
        labels = Labels(people, judge, judge, np.where(labelled, 3.0, np.nan), topics, per_topic=True)
        powers.append(corrected_mean(labels, judge).power)

    assert min(powers) > 0.6


def test_a_few_labelled_topics_have_the_spread_of_a_few() -> None:
    """Ten topics of a hundred are labelled whole: nine degrees of freedom, not ninety-nine."""
    rng = np.random.default_rng(9)
    topics = np.repeat(np.arange(100), 10)
    people = only(rng.normal(size=100)[topics], np.flatnonzero(topics < 10))

    estimate = people_score(Labels(people, people * 0, weights=equal_weights(people), topics=topics)).estimate

    means = people[:100:10]
    assert error(estimate) == pytest.approx(means.std(ddof=1) / np.sqrt(10))
    assert estimate.high == pytest.approx(means.mean() + stats.t.ppf(0.975, 9) * error(estimate))
    assert estimate.over == "10 topics"


def test_a_mean_over_topics_counts_each_topic_once() -> None:
    people, topics = np.array([1.0, 1, 1, 1, 0, 0]), np.array([0, 0, 0, 0, 1, 1])

    labels = Labels(people, people, weights=np.ones(6), topics=topics, per_topic=True)

    assert value(people_score(labels).estimate) == pytest.approx(1 / 2)
    assert value(judge_score(labels).estimate) == pytest.approx(1 / 2)


def test_one_topic_has_a_score_and_no_interval() -> None:
    estimate = people_score(Labels(PEOPLE, PEOPLE, weights=np.ones(12), topics=np.zeros(12, int))).estimate

    assert estimate.value == pytest.approx(7 / 12)
    assert (estimate.low, estimate.reason) == (None, "1 topic is too few for an interval, which takes 5")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"judge": np.zeros(2)}, "differ in length"),
        ({"weights": np.array([1.0, NAN, 1])}, "no weight above 0"),
        ({"per_topic": True}, "needs the topic"),
    ],
)
def test_tables_that_cannot_be_are_refused(arguments: dict[str, Any], message: str) -> None:
    columns = {"people": np.array([1.0, 0, NAN]), "judge": np.zeros(3)} | arguments

    with pytest.raises(NotALabelTable, match=message):
        Labels(**columns)


def test_what_is_printed_has_no_value_without_a_reason() -> None:
    corrected = correct(sampled(np.random.default_rng(10), 60, 300)).as_dict()

    assert corrected["n_labelled"] == 60
    assert corrected["scores"]["rogan_gladen"] == {
        "value": None,
        "reason": "label shift was not declared",
        "method": "Rogan–Gladen",
    }
    assert corrected["scores"]["ppi"].keys() >= {"value", "low", "high", "se", "effective_labels", "lambda"}
