"""Active time is what the browser tells, as far as so much time has passed since the task was opened."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.test import Client

from annotate.assignments.assignments import claim_next, return_assignment, submit_assignment
from annotate.crowd.pay_meter import pay_meter
from annotate.models import Assignment, CrowdEntry, CrowdSession
from annotate.sessions.outcomes import Because, end
from annotate.work.saving import save_choice
from collection.models import Judgment, Study, User
from tests.annotate.crowd_factories import a_session, an_entry, rater_of_session
from tests.annotate.factories import NOON, a_report_task, an_open_study, in_hands_of, the_criterion

A_DAY = 24 * 60 * 60.0


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


@pytest.fixture
def reading(study: Study, ada: User) -> Assignment:
    """Ada has had the report of the first topic, with three questions, since noon."""
    return in_hands_of(ada, a_report_task(study))


def answer_all(assignment: Assignment, seconds: float, *, at: datetime) -> None:
    """Answer each question, each having taken so long as the browser says."""
    for asked in assignment.asked.select_related("item"):
        save_choice(
            assignment=assignment,
            item=asked.item,
            criterion=the_criterion(assignment.task.study, "answerability"),
            grade=0,
            seconds=seconds,
            at=at,
        )


def test_no_answer_took_longer_than_the_task_was_open(reading: Assignment) -> None:
    answer_all(reading, A_DAY, at=after(20))

    assert set(Judgment.objects.values_list("seconds", flat=True)) == {20.0}


def test_no_task_took_longer_than_it_was_open(reading: Assignment) -> None:
    answer_all(reading, 20, at=after(20))

    submit_assignment(assignment=reading, at=after(25))

    reading.refresh_from_db()
    assert (reading.active_seconds, reading.claimed_seconds) == (25.0, 60.0)


def test_what_was_told_beyond_is_noted(reading: Assignment) -> None:
    first = reading.asked.select_related("item")[0]
    criterion = the_criterion(reading.task.study, "answerability")
    answer_all(reading, 1, at=after(20))
    save_choice(assignment=reading, item=first.item, criterion=criterion, grade=0, seconds=A_DAY, at=after(20))
    save_choice(assignment=reading, item=first.item, criterion=criterion, grade=0, seconds=1, at=after(20))

    submit_assignment(assignment=reading, at=after(25))

    reading.refresh_from_db()
    assert reading.claimed_seconds == A_DAY


def test_a_rounded_second_is_no_claim(reading: Assignment) -> None:
    answer_all(reading, 7, at=after(20))

    submit_assignment(assignment=reading, at=after(20))

    reading.refresh_from_db()
    assert (reading.active_seconds, reading.claimed_seconds) == (20.0, None)


def test_what_goes_back_took_no_longer_either(reading: Assignment) -> None:
    answer_all(reading, A_DAY, at=after(20))

    return_assignment(assignment=reading, at=after(30))

    reading.refresh_from_db()
    assert (reading.active_seconds, reading.claimed_seconds) == (30.0, A_DAY)


# --- Pay ----------------------------------------------------------------------------------------------


@pytest.fixture
def entry(study: Study) -> CrowdEntry:
    """An entry that pays by active time."""
    return an_entry(an_open_study(study), paid_time=CrowdEntry.PaidTime.ACTIVE)


def a_session_of_one_task(entry: CrowdEntry, *, told: float, took: float) -> CrowdSession:
    """Somebody comes at noon, and submits one task after it `took` so long; the browser has `told` another time."""
    a_report_task(entry.study)
    session = a_session(entry)
    assignment = claim_next(study=entry.study, rater=rater_of_session(session), at=NOON)
    assert assignment is not None
    answer_all(assignment, told, at=after(took))
    submit_assignment(assignment=assignment, at=after(took))
    end(session, Because.NOTHING_LEFT, at=after(took))
    return session


def test_a_day_that_the_browser_makes_up_is_not_paid(entry: CrowdEntry) -> None:
    a_session_of_one_task(entry, told=A_DAY, took=30)

    (paid,) = pay_meter(entry).everybody.paid

    assert (paid.active, paid.top_up, paid.claimed) == (30.0, Decimal("0.00"), True)


def test_tasks_that_overlap_are_paid_for_the_time_of_the_session(entry: CrowdEntry) -> None:
    session = a_session_of_one_task(entry, told=100, took=300)
    Assignment.objects.update(active_seconds=3000, claimed_seconds=None)  # as of several, open at the same time

    (paid,) = pay_meter(entry).everybody.paid

    assert paid.session == session
    assert (paid.active, paid.claimed) == (300.0, True)


def test_who_is_paid_says_whose_time_was_capped(entry: CrowdEntry, client: Client, rosa: User) -> None:
    entry.floor = Decimal("900.00")
    entry.save()
    a_session_of_one_task(entry, told=A_DAY, took=30)
    client.force_login(rosa)

    page = client.get(f"/studies/{entry.study.name}/crowd/").text
    table = client.get(f"/studies/{entry.study.name}/crowd/prolific/top-ups.csv").text.splitlines()

    assert "more active time than had passed" in page
    assert dict(zip(table[0].split(","), table[1].split(","), strict=True))["active_capped"] == "yes"
