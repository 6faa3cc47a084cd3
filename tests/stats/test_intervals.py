from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from stats.intervals import (
    COEFFICIENT,
    DIFFERENCE_OF_SHARES,
    SHARE,
    UNBOUNDED,
    Range,
    Sample,
    binomial_tail,
    effective_number,
    interval,
    mean_interval,
    ratio_interval,
    share_of_items,
    student_tail,
)

RANGES = st.sampled_from([SHARE, COEFFICIENT, DIFFERENCE_OF_SHARES])


@given(RANGES, st.floats(0, 1), st.floats(0, 2), st.integers(5, 60), st.integers(30, 1_000))
def test_a_bounded_figure_stays_in_its_bounds_and_is_never_certain(
    within: Range, place: float, error: float, n_topics: int, n_items: int
) -> None:
    value = within.low + place * (within.high - within.low)

    found = interval(value, error, Sample(n_topics, n_items), within=within)

    if found.low is None or found.high is None:
        assert found.reason
    else:
        assert within.low <= found.low <= value + 1e-12
        assert value - 1e-12 <= found.high <= within.high
        assert found.high > found.low


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (Sample(1, 400), "1 topic is too few for an interval, which takes 5"),
        (Sample(4, 400), "4 topics are too few for an interval, which takes 5"),
        (Sample(12, 29), "29 items are too few for an interval, which takes 30"),
        (Sample(None, 29, unit="pairs"), "29 pairs are too few for an interval, which takes 30"),
    ],
)
def test_a_small_sample_has_a_value_and_a_reason(sample: Sample, reason: str) -> None:
    found = interval(0.5, 0.1, sample, within=SHARE)

    assert (found.value, found.low, found.high, found.reason) == (0.5, None, None, reason)


@pytest.mark.parametrize("sample", [Sample(5, 30), Sample(5), Sample(None, 30)])
def test_a_sample_just_large_enough_has_an_interval(sample: Sample) -> None:
    assert interval(0.5, 0.1, sample, within=SHARE).low is not None


def test_an_independent_share_has_wilsons_interval_with_t() -> None:
    found = share_of_items(12, 100)

    quantile = stats.t.ppf(0.975, 99)
    middle, half = (0.12 + quantile**2 / 200) / (1 + quantile**2 / 100), quantile / (1 + quantile**2 / 100)
    half *= math.sqrt(0.12 * 0.88 / 100 + quantile**2 / 40_000)
    assert found.low == pytest.approx(middle - half)
    assert found.high == pytest.approx(middle + half)


def test_a_share_that_is_the_same_in_every_topic_counts_its_items_as_independent() -> None:
    found = ratio_interval([10.0] * 8, [20.0] * 8, within=SHARE)

    assert found.value == 0.5
    assert found.low == pytest.approx(interval(0.5, math.sqrt(0.25 / 160), Sample(8, 160), within=SHARE).low)


def test_a_difference_that_is_the_same_in_every_topic_has_a_reason() -> None:
    found = mean_interval([0.25] * 12, within=DIFFERENCE_OF_SHARES)

    assert (found.low, found.reason) == (None, "the same in every topic, which tells nothing of its spread")


def test_a_mean_without_bounds_has_students_interval() -> None:
    values = [3.0, 1, 4, 2, 5, 3, 2, 4]

    found = mean_interval(values, within=UNBOUNDED)

    theirs = stats.ttest_1samp(values, 0).confidence_interval()
    assert found.low == pytest.approx(theirs.low)
    assert found.high == pytest.approx(theirs.high)
    assert found.over == "8 topics"


def test_one_large_topic_among_small_ones_counts_for_little_more_than_itself() -> None:
    assert effective_number([10.0] * 7) == pytest.approx(7)
    assert effective_number([100.0] + [1.0] * 6) == pytest.approx(1.12, abs=0.01)


def test_topics_without_items_have_no_say() -> None:
    with_empty, without = (
        ratio_interval([*some], [*of], within=SHARE)
        for some, of in (
            ([3.0, 0, 5, 6, 7, 9], [10.0, 0, 10, 10, 10, 10]),
            ([3.0, 5, 6, 7, 9], [10.0, 10, 10, 10, 10]),
        )
    )

    assert with_empty == without


def test_an_estimate_says_over_how_many_topics_it_is() -> None:
    found = mean_interval([0.2, 0.4, 0.6, 0.5, 0.9, 0.1], within=SHARE)

    assert found.as_dict() == {
        "value": pytest.approx(0.45),
        "low": found.low,
        "high": found.high,
        "n_topics": 6,
        "n_items": None,
    }
    assert found.interval_in_words(2) == "0.19 to 0.74, 6 topics"


def test_an_estimate_without_an_interval_says_why() -> None:
    found = mean_interval([0.2, 0.4, 0.6], within=SHARE)

    assert found.as_dict()["reason"] == "3 topics are too few for an interval, which takes 5"
    assert found.interval_in_words() == "3 topics are too few for an interval, which takes 5"
    assert found.cells[1:] == (None, None, found.se, 3, None, found.reason)


def test_a_mean_of_skewed_values_has_a_wider_interval_and_its_own_standard_error() -> None:
    skewed, even = [0.0, 0.0, 0.02, 0.05, 0.03, 0.3], [0.4, 0.4, 0.42, 0.45, 0.43, 0.7]

    near, far = (mean_interval(values, within=SHARE) for values in (skewed, even))
    plain = interval(near.value or 0, near.se, Sample(n_topics=6), within=SHARE)

    assert near.se == pytest.approx(far.se)
    assert near.high is not None
    assert plain.high is not None
    assert near.high > plain.high + 0.03
    assert interval(far.value or 0, far.se, Sample(n_topics=6), within=SHARE).high == pytest.approx(far.high, abs=0.02)


# --- Tails ----------------------------------------------------------------------------------------


def test_students_t_has_its_tabulated_values() -> None:
    # Student 1908 and every table since: the upper .1 % points.
    for freedom, t in ((1, 318.309), (2, 22.327), (3, 10.215), (10, 4.144), (29, 3.396)):
        assert student_tail(t, freedom) == pytest.approx(0.001, rel=1e-3)


def test_a_binomial_tail_is_exact_at_its_ends_and_for_thousands() -> None:
    assert [binomial_tail(k, 4, 0.1) for k in (0, 4)] == [1.0, pytest.approx(1e-4)]
    assert [binomial_tail(1, 3, p) for p in (0.0, 1.0)] == [0.0, 1.0]
    assert binomial_tail(5001, 10_001, 0.5) == pytest.approx(0.5)
