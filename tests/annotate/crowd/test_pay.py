"""Hourly pay, top-ups, and the interval of a median, without a database; the meter with one."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from pytest_django import DjangoAssertNumQueries

from annotate.assignments.assignments import claim_next
from annotate.crowd.pay import coverage_of, elapsed_time, hourly_pay, median_with_interval, top_up
from annotate.crowd.pay_meter import note_top_ups_as_paid, pay_meter
from annotate.models import Assignment, CrowdEntry, CrowdSession
from annotate.work.saving import save_choice
from collection.models import Item, Study
from tests.annotate.crowd_factories import (
    a_session,
    an_arrival,
    an_entry,
    completed,
    rater_of_session,
    submit_a_report,
)
from tests.annotate.factories import NOON, a_report_task, an_open_study, the_criterion


def test_three_pounds_for_twenty_minutes_are_nine_an_hour() -> None:
    assert hourly_pay(Decimal("3.00"), 1200) == pytest.approx(9.0)


@pytest.mark.parametrize(
    ("minutes", "lacks"),
    [(20, "0.00"), (10, "0.00"), (40, "3.00"), (20.01, "0.01"), (21, "0.15")],
)
def test_a_top_up_fills_up_to_the_floor_and_is_rounded_up(minutes: float, lacks: str) -> None:
    assert top_up(paid=Decimal("3.00"), seconds=minutes * 60, floor=Decimal("9.00")) == Decimal(lacks)


@pytest.mark.parametrize(
    ("n", "k", "coverage"),
    # Tables of the sign test's interval, W. J. Conover, Practical Nonparametric Statistics, table A3 (binomial, p = ½).
    [(5, 1, 0.9375), (6, 1, 0.96875), (9, 2, 0.9609375), (10, 2, 0.978515625), (20, 6, 0.958610534667969)],
)
def test_order_statistics_cover_the_median_as_the_binomial_says(n: int, k: int, coverage: float) -> None:
    assert coverage_of(n, k) == pytest.approx(coverage)


def test_no_values_have_no_median() -> None:
    assert median_with_interval([]) is None


def test_four_values_have_a_median_and_no_interval() -> None:
    found = median_with_interval([4.0, 1.0, 3.0, 2.0])

    assert found is not None
    assert (found.median, found.low, found.high, found.coverage) == (2.5, None, None, None)


def test_five_values_span_their_interval_and_it_says_that_it_covers_less() -> None:
    found = median_with_interval([5.0, 1.0, 4.0, 2.0, 3.0])

    assert found is not None
    assert (found.median, found.low, found.high, found.coverage) == (3.0, 1.0, 5.0, 0.9375)


def test_twenty_values_take_the_sixth_from_both_ends() -> None:
    found = median_with_interval([float(value) for value in range(1, 21)])

    assert found is not None
    assert (found.median, found.low, found.high) == (10.5, 6.0, 15.0)
    assert found.coverage == pytest.approx(0.9586105)


@pytest.mark.parametrize(
    ("ended", "heard", "counted", "capped"),
    [
        (29, [], 29, False),
        (30, [], 30, False),
        (31, [], 30, True),
        (24 * 60, [], 30, True),
        # 10 and 20 minutes, then a night away, 5 minutes at the end
        (1000, [10, 30, 995], 10 + 20 + 30 + 5, True),
        # two long pauses: 30 for 40, 30 for 90, and 20 that count in full
        (150, [40, 60], 30 + 20 + 30, True),
        # what is heard before or after says nothing, nor does the order
        (50, [-5, 40, 20, 70], 50, False),
    ],
)
def test_a_pause_counts_as_half_an_hour_at_most(ended: float, heard: list[float], counted: float, capped: bool) -> None:
    def at(minutes: float) -> datetime:
        return NOON + timedelta(minutes=minutes)

    found = elapsed_time(at(0), at(ended), [at(minutes) for minutes in heard])

    assert (found.seconds, found.capped) == (counted * 60, capped)


# --- The meter ------------------------------------------------------------------------------------


def a_completed_session(entry: CrowdEntry, number: int, *, minutes: float, cohort: str = "") -> CrowdSession:
    session = a_session(entry, number)
    session.cohort = cohort or session.cohort
    return completed(session, minutes=minutes)


@pytest.fixture
def entry(study: Study) -> CrowdEntry:
    return an_entry(an_open_study(study))


def test_nobody_has_come(entry: CrowdEntry) -> None:
    meter = pay_meter(entry)

    assert (meter.everybody.arrived, meter.everybody.hourly, meter.cohorts) == (0, None, [])
    assert not meter.is_below_the_floor


def test_measures_cohorts_apart_and_together(entry: CrowdEntry) -> None:
    for number, minutes in enumerate([10, 20, 30], start=1):
        a_completed_session(entry, number, minutes=minutes, cohort="pilot")
    for number, minutes in enumerate([40, 60], start=4):
        a_completed_session(entry, number, minutes=minutes, cohort="main")
    a_session(entry, 9)

    meter = pay_meter(entry)

    assert [(cohort.cohort, cohort.arrived, cohort.completed) for cohort in meter.cohorts] == [
        ("pilot", 3, 3),
        ("main", 2, 2),
        (an_arrival().cohort, 1, 0),
    ]
    assert meter.cohorts[0].median_elapsed == 20 * 60
    assert meter.everybody.hourly is not None
    assert meter.everybody.hourly.median == pytest.approx(6.0)
    assert (meter.everybody.hourly.low, meter.everybody.hourly.high) == pytest.approx((3.0, 18.0))
    assert meter.is_below_the_floor
    assert [(paid.top_up, paid.elapsed / 60) for paid in meter.everybody.below] == [
        (Decimal("6.00"), 60),
        (Decimal("3.00"), 40),
        (Decimal("1.50"), 30),
    ]
    assert meter.everybody.to_top_up == Decimal("10.50")


def test_an_idle_day_is_not_paid(entry: CrowdEntry) -> None:
    """Arrived at 12:00, opened a report at 12:10, answered at 12:20 and, back the next day, at 11:50; done at 12:00."""
    a_report_task(entry.study)
    session = a_session(entry, at=NOON)
    assignment = claim_next(study=entry.study, rater=rater_of_session(session), at=NOON + timedelta(minutes=10))
    assert assignment
    items = Item.objects.filter(asked__assignment=assignment)
    for item, minutes in zip(items, [20, 23 * 60 + 50], strict=False):
        criterion = the_criterion(entry.study, "answerability")
        at = NOON + timedelta(minutes=minutes)
        save_choice(assignment=assignment, item=item, criterion=criterion, grade=0, at=at)
    CrowdSession.objects.update(state="completed", finished_at=NOON + timedelta(hours=24))

    [paid] = pay_meter(entry).everybody.below

    # 10 + 10 + 30 (for 23 h 30 min) + 10 minutes; 9.00 for them, 3.00 were paid
    assert (paid.elapsed / 60, paid.paused, paid.top_up) == (60, True, Decimal("6.00"))


def test_elapsed_is_never_less_than_active_time(entry: CrowdEntry) -> None:
    a_report_task(entry.study)
    session = a_session(entry, at=NOON)
    submit_a_report(session)
    end = NOON + timedelta(minutes=100)
    Assignment.objects.update(active_seconds=50 * 60, touched_at=end, submitted_at=end)
    CrowdSession.objects.update(state="completed", finished_at=end)

    [paid] = pay_meter(entry).everybody.paid

    assert (paid.elapsed / 60, paid.paused) == (50, True)


def test_active_time_counts_the_tasks_of_the_session_alone(entry: CrowdEntry) -> None:
    entry.paid_time = CrowdEntry.PaidTime.ACTIVE
    entry.save()
    a_report_task(entry.study)
    first = a_session(entry, at=NOON - timedelta(hours=1))
    submit_a_report(first)
    Assignment.objects.update(active_seconds=600, submitted_at=NOON - timedelta(minutes=30))
    CrowdSession.objects.update(state="completed", finished_at=NOON)
    second = a_session(entry, session=2, at=NOON)
    CrowdSession.objects.filter(pk=second.pk).update(state="completed", finished_at=NOON + timedelta(minutes=5))

    paid = {row.session.pk: row for row in pay_meter(entry).everybody.paid}

    assert paid[first.pk].active == 600
    assert paid[first.pk].hourly == pytest.approx(18.0)
    assert (paid[second.pk].active, paid[second.pk].hourly) == (0, None)
    assert pay_meter(entry).everybody.unknown == 1


def test_a_top_up_is_counted_once_however_often_it_is_sent(entry: CrowdEntry) -> None:
    session = a_completed_session(entry, 1, minutes=40)
    owed = {session.pk: Decimal("3.00"), session.pk + 1: Decimal("50.00")}

    n_paid = [note_top_ups_as_paid(entry=entry, owed=owed) for _ in range(2)]

    session.refresh_from_db()
    assert (n_paid, session.bonus) == ([1, 0], Decimal("3.00"))
    assert pay_meter(entry).everybody.below == []


def test_more_people_cost_no_more_queries(entry: CrowdEntry, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for number in range(1, 8):
        a_completed_session(entry, number, minutes=number)

    with django_assert_num_queries(2):
        meter = pay_meter(entry)
    for number in range(8, 10):
        a_completed_session(entry, number, minutes=100)
    with django_assert_num_queries(4):  # somebody may have made a long pause
        pay_meter(entry)

    assert meter.everybody.completed == 7
