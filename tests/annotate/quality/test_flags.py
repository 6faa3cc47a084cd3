"""What deserves a look: the bounds, where they speak and where they keep silent."""

from __future__ import annotations

from itertools import groupby, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.quality.flags import (
    Agreement,
    WorkPace,
    closeness,
    disagrees,
    failed_attention,
    line_of,
    longest_run,
    low_gold,
    no_active_time,
    odd_by_chance,
    pairwise_agreement,
    pooled,
    probability_of_run,
    reads_too_fast,
    short_session,
    straight_line,
    too_fast,
    wilson,
)
from tests.simulations.flags import KINDS, flagged

# --- Time -----------------------------------------------------------------------------------------


def test_flags_whoever_needs_less_than_a_third_of_the_time() -> None:
    flag = too_fast(WorkPace([2, 2, 3, 2, 9]), map(WorkPace, [[10] * 5, [12] * 6, [11] * 5]))

    assert flag is not None
    assert flag.evidence == "Median 2.0 s per item over 5 items; others need 11.0 s at the median."


@pytest.mark.parametrize(
    ("own", "others"),
    [
        ([4.0] * 5, [[10.0] * 5]),  # quick, not too quick
        ([1.0] * 3, [[10.0] * 5]),  # by chance in 1 of 1,000
        ([1.0] * 4, [[10.0, 1.0, 10.0, 1.0, 10.0]]),  # others have such items too
        ([1.0] * 9, []),  # nobody to compare with
    ],
)
def test_keeps_silent_about_pace_without_a_reason(own: list[float], others: list[list[float]]) -> None:
    assert too_fast(WorkPace(own), map(WorkPace, others)) is None


def test_one_slow_person_does_not_make_the_others_fast() -> None:
    assert too_fast(WorkPace([10] * 5), map(WorkPace, [[11] * 5, [12] * 5, [900] * 50])) is None


def test_four_items_are_enough_where_all_are_odd() -> None:
    assert too_fast(WorkPace([2, 2, 2, 2]), map(WorkPace, [[11] * 4, [12] * 4])) is not None


def test_flags_a_pace_at_which_nobody_reads() -> None:
    flag = reads_too_fast([(6_000, 10)] * 4)  # 1,000 words in ten seconds

    assert flag is not None
    assert flag.evidence.startswith("6,000 words a minute over 4 texts")


def test_the_pace_is_that_of_all_texts_together() -> None:
    assert reads_too_fast([(6_000, 10)] * 9 + [(6_000, 1_800)]) is None
    assert reads_too_fast([(6_000, 10)] * 9 + [(6_000, 300)]) is not None


def test_nobody_is_flagged_for_skimming_where_all_skim() -> None:
    assert reads_too_fast([(6_000, 90)] * 9, others=50, of=60) is None


@pytest.mark.parametrize("readings", [[(6_000, 120)] * 9, [(6_000, 1)] * 3, [(6_000, 0)] * 9, []])
def test_keeps_silent_about_reading_without_a_reason(readings: list[tuple[int, float]]) -> None:
    assert reads_too_fast(readings) is None


# --- Sessions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("minutes", "others", "flagged"),
    [
        (0.13, [], True),  # eight seconds of ten minutes
        (1.9, [], True),
        (2.1, [], False),  # a fifth of what was announced
        (9.0, [30.0, 28.0, 33.0, 31.0, 29.0], True),  # under a third of others', who need about as long as one another
        (9.0, [30.0, 8.0, 60.0, 31.0, 12.0], False),  # others differ as much
        (9.0, [30.0], False),
        (12.0, [30.0, 28.0, 33.0, 31.0, 29.0], False),
    ],
)
def test_a_session_is_compared_with_what_was_announced_and_with_others(
    minutes: float, others: list[float], flagged: bool
) -> None:
    flag = short_session(minutes * 60, announced=600, others=[60 * other for other in others])

    assert bool(flag) is flagged


def test_flags_tasks_without_any_active_time() -> None:
    assert no_active_time(4, 0) is not None
    assert no_active_time(0, 0) is None
    assert no_active_time(4, 1.5) is None


def test_thousands_of_items_are_tested_as_few_are() -> None:
    quick, slow = WorkPace([1.0] * 1900 + [30.0] * 100), WorkPace([30.0] * 2000)

    assert too_fast(quick, [slow] * 3) is not None
    assert too_fast(slow, [quick, slow, slow]) is None
    assert reads_too_fast([(6000, 1.0)] * 3000) is not None
    assert disagrees(Agreement(0.4, 6000), [Agreement(0.9, 6000)] * 4) is not None
    assert low_gold(500, 3000, pass_mark=0.8) is not None


def test_one_of_ten_may_be_missed_whatever_the_mark() -> None:
    assert low_gold(0, 1, pass_mark=1.0) is None
    assert low_gold(199, 200, pass_mark=1.0) is None
    assert low_gold(150, 200, pass_mark=1.0) is not None


def test_a_tenth_of_odd_items_is_granted_to_everybody() -> None:
    assert odd_by_chance(4, 4, others=0, of=100) == pytest.approx(1e-4)
    assert odd_by_chance(4, 4, others=50, of=100) == pytest.approx(0.0625)


# --- Straight lines -------------------------------------------------------------------------------


def test_finds_the_longest_run() -> None:
    assert longest_run([1, 0, 0, 0, 1, 1]) == (0, 3)


@given(p=st.floats(0.05, 0.95), n=st.integers(1, 9), length=st.integers(1, 9))
def test_the_probability_of_a_run_is_that_of_counting_all_sequences(p: float, n: int, length: int) -> None:
    counted = 0.0
    for draws in product([0, 1], repeat=n):
        if any(draw and sum(1 for _ in run) >= length for draw, run in groupby(draws)):
            counted += p ** sum(draws) * (1 - p) ** (n - sum(draws))

    assert probability_of_run(p=p, n=n, length=length) == pytest.approx(counted)


def test_flags_a_line_that_others_do_not_draw() -> None:
    flag = straight_line(line_of([0] * 40), map(line_of, [[0, 1] * 20, [1, 1, 0] * 13]), grades=2, criterion="utility")

    assert flag is not None
    assert "utility: grade 0 40 times in a row, of 40; others’ longest run is 2" in flag.evidence
    assert "less than 1 in a billion" in flag.evidence


@pytest.mark.parametrize(
    ("own", "others"),
    [
        ([0.0] * 40, [[0.0] * 40]),  # an empty report: everybody says so
        ([0.0] * 40, [[0.0] * 39 + [1.0] * 2]),  # longer, and no wonder
        ([0.0] * 9, [[0.0, 1.0] * 20]),  # by chance in 2 of 1,000
        ([0.0] * 15, [[0.0] * 12 + [1.0] * 12]),  # what comes, comes again
        ([0.0] * 40, []),  # nobody to compare with
        ([0.0, 1.0] * 20, [[0.0, 1.0] * 20]),
    ],
)
def test_keeps_silent_about_lines_without_a_reason(own: list[float], others: list[list[float]]) -> None:
    assert straight_line(line_of(own), map(line_of, others), grades=2, criterion="utility") is None


# --- Agreement ------------------------------------------------------------------------------------


def test_nearness_follows_the_scale() -> None:
    assert closeness(1, 2, width=None) == 0
    assert closeness(1, 2, width=5) == pytest.approx(0.8)
    assert closeness(3, 3, width=0) == 1


def test_agreement_counts_the_items_that_two_share() -> None:
    agreement = pairwise_agreement([{1: 0, 2: 0}, {1: 1, 2: 0, 3: 1}, {3: 1}])

    assert agreement == {(1, 2): Agreement(0.5, 2), (1, 3): Agreement(1, 1), (2, 3): Agreement(0, 1)}


def test_a_mean_of_agreements_weighs_their_pairs() -> None:
    assert pooled([Agreement(1, 30), Agreement(0.5, 10)]) == Agreement(0.875, 40)
    assert pooled([]) is None


def test_flags_an_agreement_far_below_the_others() -> None:
    flag = disagrees(Agreement(0.4, 50), [Agreement(0.8, 50), Agreement(0.85, 50), Agreement(0.9, 30)], readers=2)

    assert flag is not None
    assert flag.evidence == "Agreement 0.40 over 50 pairs; others have 0.85 at the median."


@pytest.mark.parametrize(
    ("own", "others"),
    [
        (Agreement(0.75, 50), [Agreement(0.8, 50)] * 3),  # within the margin
        (Agreement(0.1, 7), [Agreement(0.8, 50)] * 3),  # by chance in 2 of 1,000
        (Agreement(0.1, 50), [Agreement(0.8, 50)]),  # nobody to compare the others with
        (Agreement(0.4, 50), [Agreement(0.5, 50), Agreement(0.9, 50), Agreement(0.7, 50)]),  # all are apart
        (None, [Agreement(0.8, 50)] * 3),
    ],
)
def test_keeps_silent_about_agreement_without_a_reason(own: Agreement | None, others: list[Agreement]) -> None:
    assert disagrees(own, others) is None


# --- Checks ---------------------------------------------------------------------------------------


def test_one_failed_check_of_two_that_count_is_no_flag() -> None:
    assert failed_attention(1, 3, counts_from=2) is None
    assert failed_attention(2, 3, counts_from=2) is not None
    assert failed_attention(1, 1, counts_from=1) is not None


def test_wilsons_interval_has_its_published_value() -> None:
    # Newcombe 1998, Statistics in Medicine 17, table I: 15 of 148, method 3.
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)


@pytest.mark.parametrize(
    ("right", "n", "flagged"),
    [(1, 10, True), (5, 10, False), (10, 10, False), (0, 4, False), (0, 6, True), (40, 100, True)],
)
def test_flags_gold_that_is_surely_below_the_mark(right: int, n: int, flagged: bool) -> None:
    assert (low_gold(right, n, pass_mark=0.7) is not None) is flagged


# --- How often ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_tasks", [2, 4, 20])
def test_honest_people_are_seldom_flagged_and_those_who_click_through_always(n_tasks: int) -> None:
    honest, careless = flagged(n_tasks, 20, 7)

    assert max(honest[kind] for kind in KINDS) <= 1.5
    assert careless["any"] == 100
