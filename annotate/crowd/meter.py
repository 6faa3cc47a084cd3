"""The pay meter: what an hour brought to the people of an entry, by cohort, against the floor."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from statistics import median

from django.db import transaction
from django.db.models import F

from annotate.crowd.pay import MedianInterval, hourly_pay, median_with_interval, top_up
from annotate.models import Assignment, CrowdEntry, CrowdSession


@dataclass(frozen=True)
class PaidSession:
    """A completed session: its times in seconds, what was paid for it, and what lacks to the floor.

    `seconds` is the time that the entry pays for. None: it has none (no active time was measured), and then
    neither an hourly pay nor a top-up is known.
    """

    session: CrowdSession
    active: float
    elapsed: float
    seconds: float | None
    paid: Decimal
    hourly: float | None
    top_up: Decimal


@dataclass(frozen=True)
class CohortPay:
    """One cohort, or all of an entry where `cohort` is empty. Medians are over completed sessions."""

    cohort: str
    arrived: int
    working: int
    paid: Sequence[PaidSession]
    median_active: float | None
    median_elapsed: float | None
    hourly: MedianInterval | None
    below: Sequence[PaidSession]

    @property
    def completed(self) -> int:
        return len(self.paid)

    @property
    def unknown(self) -> int:
        """How many completed without a time that could be paid by."""
        return sum(session.hourly is None for session in self.paid)

    @property
    def to_top_up(self) -> Decimal:
        return sum((session.top_up for session in self.below), Decimal(0))


@dataclass(frozen=True)
class PayMeter:
    entry: CrowdEntry
    everybody: CohortPay
    cohorts: Sequence[CohortPay]

    @property
    def is_below_the_floor(self) -> bool:
        hourly = self.everybody.hourly
        return hourly is not None and hourly.median < float(self.entry.floor)


def pay_meter(entry: CrowdEntry) -> PayMeter:
    """Measure an entry, in a fixed number of queries."""
    sessions = list(entry.sessions.select_related("participant__user").order_by("arrived_at", "pk"))
    active = active_seconds(entry, sessions)
    by_cohort: dict[str, list[CrowdSession]] = defaultdict(list)
    for session in sessions:
        by_cohort[session.cohort].append(session)
    return PayMeter(
        entry=entry,
        everybody=cohort_pay(entry, "", sessions, active),
        cohorts=[cohort_pay(entry, cohort, members, active) for cohort, members in by_cohort.items()],
    )


def active_seconds(entry: CrowdEntry, sessions: Sequence[CrowdSession]) -> dict[int, float]:
    """Return the active time of each session: of the tasks that its person submitted after it began."""
    arrivals: dict[int, list[tuple[datetime, int]]] = defaultdict(list)
    for session in sessions:
        arrivals[session.participant.user_id].append((session.arrived_at, session.pk))
    seconds: dict[int, float] = defaultdict(float)
    submitted = Assignment.objects.filter(
        rater__user__participant__entry=entry, task__study=entry.study_id, state=Assignment.State.SUBMITTED
    )
    for user, at, active in submitted.values_list("rater__user__pk", "submitted_at", "active_seconds"):
        assert user  # a participant
        assert at  # it is submitted
        theirs = arrivals[user]
        index = bisect_right([arrived for arrived, _ in theirs], at) - 1
        if index >= 0:
            seconds[theirs[index][1]] += active
    return seconds


def cohort_pay(entry: CrowdEntry, cohort: str, sessions: Sequence[CrowdSession], active: dict[int, float]) -> CohortPay:
    completed = [session for session in sessions if session.state == CrowdSession.State.COMPLETED]
    paid = [paid_session(entry, session, active.get(session.pk, 0.0)) for session in completed]
    below = sorted((session for session in paid if session.top_up), key=lambda session: -session.top_up)
    return CohortPay(
        cohort=cohort,
        arrived=len({session.participant_id for session in sessions}),
        working=sum(session.state == CrowdSession.State.ACTIVE for session in sessions),
        paid=paid,
        median_active=median(session.active for session in paid) if paid else None,
        median_elapsed=median(session.elapsed for session in paid) if paid else None,
        hourly=median_with_interval([session.hourly for session in paid if session.hourly is not None]),
        below=below,
    )


def paid_session(entry: CrowdEntry, session: CrowdSession, active: float) -> PaidSession:
    assert session.finished_at is not None  # it is completed
    elapsed = (session.finished_at - session.arrived_at).total_seconds()
    seconds = elapsed if entry.paid_time == CrowdEntry.PaidTime.ELAPSED else active
    paid = entry.reward + session.bonus
    known = seconds > 0
    return PaidSession(
        session=session,
        active=active,
        elapsed=elapsed,
        seconds=seconds if known else None,
        paid=paid,
        hourly=hourly_pay(paid, seconds) if known else None,
        top_up=top_up(paid=paid, seconds=seconds, floor=entry.floor) if known else Decimal(0),
    )


@transaction.atomic
def note_top_ups_as_paid(*, entry: CrowdEntry, owed: dict[int, Decimal]) -> int:
    """Count these top-ups, by the session's key, as paid. Returns how many sessions got one.

    A session gets what it still lacks at most: sending the same list twice pays nobody twice.
    """
    CrowdEntry.objects.select_for_update().get(pk=entry.pk)
    lacking = {paid.session.pk: paid.top_up for paid in pay_meter(entry).everybody.below}
    n_paid = 0
    for pk, amount in owed.items():
        if given := min(amount, lacking.get(pk, Decimal(0))):
            n_paid += CrowdSession.objects.filter(pk=pk, entry=entry).update(bonus=F("bonus") + given)
    return n_paid
