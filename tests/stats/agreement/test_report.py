from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from stats.agreement import coefficients
from stats.agreement import report as agreement_module
from stats.agreement.report import Agreement, measure_agreement
from stats.pattern_intervals import Estimate
from stats.ratings import CountPatterns, Level, LevelDoesNotFit, Ratings, count_patterns, pair_patterns
from tests.stats.worked_examples import (
    FOUR_OBSERVERS,
    FOURTEEN_RATERS,
    NAN,
    SAS_TABLE,
    TWO_ABSTRACTORS,
    ratings_of,
    ratings_of_counts,
    ratings_of_two,
)

ONE_TO_FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)


def value(agreement: Agreement, name: str) -> float | None:
    return agreement.statistics[name].value


def width(figure: Estimate) -> float:
    assert figure.low is not None
    assert figure.high is not None
    return figure.high - figure.low


@pytest.fixture(params=["library", "ours"])
def whose(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs a test with the libraries' point values, and with ours."""
    if request.param == "ours":
        monkeypatch.setattr(agreement_module, "LARGEST_LIBRARY_TABLE", 0)
    return str(request.param)


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_is_krippendorffs_on_his_four_observers(whose: str, level: Level, alpha: float) -> None:
    agreement = measure_agreement(ratings_of(FOUR_OBSERVERS, ONE_TO_FIVE, level))

    assert value(agreement, "krippendorff_alpha") == pytest.approx(alpha, abs=0.0005)


def test_missing_ratings_are_taken_as_gwet_takes_them() -> None:
    agreement = measure_agreement(ratings_of(FOUR_OBSERVERS, ONE_TO_FIVE, "nominal"))

    assert value(agreement, "percent_agreement") == pytest.approx(0.81818, abs=5e-6)
    assert value(agreement, "fleiss_kappa") == pytest.approx(0.76117, abs=5e-6)
    assert value(agreement, "gwet_ac1") == pytest.approx(0.77544, abs=5e-6)
    assert (agreement.n_items, agreement.n_pairable, agreement.n_ratings) == (12, 11, 41)


@pytest.mark.parametrize(
    ("level", "ac2"), [("nominal", 0.775), ("ordinal", 0.899), ("interval", 0.914), ("ratio", 0.857)]
)
def test_ac2_weighs_by_the_level_as_gwet_does(level: Level, ac2: float) -> None:
    agreement = measure_agreement(ratings_of(FOUR_OBSERVERS, ONE_TO_FIVE, level))

    assert value(agreement, "gwet_ac2") == pytest.approx(ac2, abs=0.0005)


def test_jackknife_errors_are_near_gwets() -> None:
    agreement = measure_agreement(ratings_of(FOUR_OBSERVERS, ONE_TO_FIVE, "nominal"))

    assert agreement.statistics["fleiss_kappa"].se == pytest.approx(0.15302, rel=0.15)
    assert agreement.statistics["gwet_ac1"].se == pytest.approx(0.14295, rel=0.15)


def test_fleiss_kappa_is_fleisss(whose: str) -> None:
    agreement = measure_agreement(ratings_of_counts(FOURTEEN_RATERS))

    assert value(agreement, "fleiss_kappa") == pytest.approx(0.210, abs=0.0005)


def test_agreement_kappa_and_ac1_part_where_kappa_is_paradoxical() -> None:
    """Gwet (2008): 125 items, 118 yes and yes, 5 yes and no, 2 no and yes."""
    agreement = measure_agreement(ratings_of_two([[118, 5], [2, 0]], "nominal"))

    assert value(agreement, "percent_agreement") == pytest.approx(0.944)
    assert agreement.pairs[0].kappa.value == pytest.approx(-0.0234, abs=5e-5)
    assert value(agreement, "gwet_ac1") == pytest.approx(0.941, abs=0.0005)


def test_randolph_kappa_is_that_of_his_calculator() -> None:
    agreement = measure_agreement(ratings_of_counts([[6, 1, 0], [0, 7, 0]]))

    assert value(agreement, "randolph_kappa") == pytest.approx(0.785714, abs=6e-6)


def test_cohens_kappas_are_those_of_irrcac() -> None:
    agreement = measure_agreement(ratings_of_two(TWO_ABSTRACTORS))

    pair = agreement.pairs[0]
    assert pair.kappa.value == pytest.approx(0.7964094, abs=5e-8)
    assert pair.linear.value == pytest.approx(0.843, abs=0.0005)
    assert pair.quadratic.value == pytest.approx(0.892, abs=0.0005)
    assert pair.kappa.se == pytest.approx(0.0589, abs=0.002)
    assert value(agreement, "gwet_ac1") == pytest.approx(0.8493305, abs=5e-8)


def test_cohens_kappas_and_errors_are_those_of_sas() -> None:
    pair = measure_agreement(ratings_of_two(SAS_TABLE)).pairs[0]

    assert pair.kappa.value == pytest.approx(0.4842, abs=5e-5)
    assert pair.linear.value == pytest.approx(0.4701, abs=5e-5)
    assert pair.kappa.se == pytest.approx(0.1380, rel=0.1)


def test_unused_grades_of_the_scale_count() -> None:
    rows = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 1.0]]

    two = measure_agreement(ratings_of(rows, (0.0, 1.0), "ordinal"))
    six = measure_agreement(ratings_of(rows, (0.0, 1.0, 2.0, 3.0, 4.0, 5.0), "ordinal"))

    assert value(two, "randolph_kappa") == pytest.approx((0.75 - 1 / 2) / (1 - 1 / 2))
    assert value(six, "randolph_kappa") == pytest.approx((0.75 - 1 / 6) / (1 - 1 / 6))
    assert value(two, "fleiss_kappa") == pytest.approx(value(six, "fleiss_kappa"))


def test_one_rater_has_no_agreement_and_a_reason() -> None:
    agreement = measure_agreement(ratings_of([[1.0], [2.0]], (1.0, 2.0), "ordinal"))

    assert {figure.reason for figure in agreement.statistics.values()} == {"one rater only"}
    assert agreement.pairs == ()


def test_raters_who_never_met_have_no_agreement_and_a_reason() -> None:
    agreement = measure_agreement(ratings_of([[1.0, NAN], [NAN, 2.0]], (1.0, 2.0), "ordinal"))

    assert {figure.reason for figure in agreement.statistics.values()} == {"no item has two ratings"}
    assert agreement.pairs[0].kappa.reason == "no item was graded by both"


@pytest.mark.parametrize("scale", [(1.0,), (0.0, 1.0, 2.0)])
def test_one_grade_only_leaves_kappa_undefined_and_agreement_perfect(scale: tuple[float, ...]) -> None:
    agreement = measure_agreement(ratings_of([[1.0, 1.0]] * 5, scale, "ordinal"))

    assert value(agreement, "percent_agreement") == 1.0
    assert value(agreement, "gwet_ac1") == 1.0
    assert value(agreement, "randolph_kappa") == 1.0
    for name in ("fleiss_kappa", "krippendorff_alpha"):
        assert value(agreement, name) is None
        assert "only one grade" in agreement.statistics[name].reason
    assert "only one grade" in agreement.pairs[0].linear.reason


def test_the_same_ratings_give_the_same_intervals() -> None:
    first = measure_agreement(ratings_of(FOUR_OBSERVERS, ONE_TO_FIVE, "ordinal"))
    second = measure_agreement(ratings_of(FOUR_OBSERVERS, ONE_TO_FIVE, "ordinal"))

    assert first == second


def test_intervals_over_topics_are_wider_where_topics_differ() -> None:
    rng = np.random.default_rng(3)
    rows, topics = [], []
    for topic in range(30):
        agree = rng.random() < 0.5
        for _ in range(20):
            grade = float(rng.integers(0, 2))
            rows.append([grade, grade if agree else 1 - grade])
            topics.append(topic)

    over_items = measure_agreement(ratings_of(rows, (0.0, 1.0), "nominal")).statistics["percent_agreement"]
    over_topics = measure_agreement(ratings_of(rows, (0.0, 1.0), "nominal", topics)).statistics["percent_agreement"]

    assert over_items.value == over_topics.value
    assert width(over_topics) > 2 * width(over_items)


def test_one_topic_gives_values_without_intervals() -> None:
    agreement = measure_agreement(ratings_of(FOUR_OBSERVERS, ONE_TO_FIVE, "ordinal", [0] * 12))

    figure = agreement.statistics["fleiss_kappa"]
    assert figure.value is not None
    assert (figure.low, figure.high) == (None, None)


def test_the_ratio_level_refuses_negative_grades() -> None:
    with pytest.raises(LevelDoesNotFit, match="of 0 or more"):
        ratings_of([[-1.0, 1.0]], (-1.0, 0.0, 1.0), "ratio")


def test_an_interval_level_refuses_labels() -> None:
    with pytest.raises(LevelDoesNotFit, match="numeric grades"):
        Ratings(np.zeros((1, 1), np.int16), ("good", "bad"), "interval", ["a"], ["b"])


cells = st.one_of(st.integers(0, 4), st.just(None))


@st.composite
def matrices(draw: st.DrawFn, missing: bool = True) -> list[list[float]]:
    n_raters = draw(st.integers(2, 5))
    cell = cells if missing else st.integers(0, 4)
    rows = draw(st.lists(st.lists(cell, min_size=n_raters, max_size=n_raters), min_size=2, max_size=25))
    return [[NAN if grade is None else float(grade) for grade in row] for row in rows]


SCALE = (0.0, 1.0, 2.0, 3.0, 4.0)


@settings(max_examples=300, deadline=None)
@given(matrices(), st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
@pytest.mark.slow
def test_alpha_equals_the_librarys(rows: list[list[float]], level: Level) -> None:
    ratings = ratings_of(rows, SCALE, level)
    patterns = count_patterns(ratings)
    pairable = patterns.counts[patterns.counts.sum(axis=1) >= 2]

    ours = coefficients.krippendorff_alpha(patterns.frequencies[None, :], patterns, level, ratings.numbers)[0]

    if (pairable.sum(axis=0) > 0).sum() < 2:
        assert np.isnan(ours)
    else:
        theirs = krippendorff.alpha(np.array(rows).T, value_domain=SCALE, level_of_measurement=level)
        assert ours == pytest.approx(theirs, abs=1e-12)


@settings(max_examples=300, deadline=None)
@given(matrices(missing=False))
@pytest.mark.slow
def test_fleiss_and_randolph_equal_statsmodels(rows: list[list[float]]) -> None:
    ratings = ratings_of(rows, SCALE, "nominal")
    patterns = count_patterns(ratings)
    table = np.array([[row.count(grade) for grade in SCALE] for row in rows])

    fleiss = coefficients.fleiss_kappa(patterns.frequencies[None, :], patterns)[0]
    randolph = coefficients.randolph_kappa(patterns.frequencies[None, :], patterns)[0]

    assert randolph == pytest.approx(statsmodels_fleiss(table, method="randolph"), abs=1e-12)
    if (table.sum(axis=0) > 0).sum() < 2:
        assert np.isnan(fleiss)
    else:
        assert fleiss == pytest.approx(statsmodels_fleiss(table), abs=1e-12)


@settings(max_examples=300, deadline=None)
@given(matrices(missing=False), st.sampled_from(["plain", "linear", "quadratic"]))
def test_cohens_kappa_equals_scikit_learns(rows: list[list[float]], weighting: str) -> None:
    ratings = ratings_of(rows, SCALE, "ordinal")
    patterns = pair_patterns(ratings, 0, 1)
    first, second = ([int(row[column]) for row in rows] for column in (0, 1))

    differences = coefficients.pair_differences(weighting, ratings.numbers)
    ours = coefficients.cohen_kappa(patterns.frequencies[None, :], patterns, differences)[0]

    if len({*first, *second}) < 2:
        assert np.isnan(ours)
    else:
        weights = None if weighting == "plain" else weighting
        theirs = cohen_kappa_score(first, second, labels=range(5), weights=weights)
        assert ours == pytest.approx(theirs, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(matrices())
def test_both_ways_of_counting_patterns_agree(rows: list[list[float]]) -> None:
    ratings = ratings_of(rows, SCALE, "ordinal")
    topics = np.arange(len(rows)) % 3

    by_rater = count_patterns(ratings)
    wide = ratings_of([row + [NAN] * 12 for row in rows], SCALE, "ordinal", topics.tolist())
    by_row = count_patterns(wide)

    def as_set(patterns: CountPatterns) -> set[tuple[tuple[float, ...], float]]:
        return {(tuple(counts), n) for counts, n in zip(patterns.counts, patterns.frequencies, strict=True)}

    assert as_set(by_rater) == as_set(by_row)
    assert by_row.by_topic.sum(axis=0).tolist() == by_row.frequencies.tolist()


@settings(max_examples=60, deadline=None)
@given(matrices())
def test_an_interval_holds_its_value(rows: list[list[float]]) -> None:
    agreement = measure_agreement(ratings_of(rows, SCALE, "ordinal"))

    figures = [*agreement.statistics.values(), *(pair.quadratic for pair in agreement.pairs)]
    for figure in figures:
        if figure.low is not None and figure.high is not None and figure.value is not None:
            assert figure.low <= figure.value <= figure.high
        assert (figure.low is None) == bool(figure.reason)
