"""The pay meter: what an hour brought to the people of an entry, by cohort, against the floor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

from django.db import transaction
from django.db.models import F

from annotate.crowd.pay import Elapsed, MedianInterval, hourly_pay, median_with_interval, top_up
from annotate.crowd.session_work import SessionWork, elapsed_by_session, work_by_session
from annotate.models import CrowdEntry, CrowdSession


@dataclass(frozen=True)
class PaidSession:
    """A completed session: its times in seconds, what was paid for it, and what lacks to the floor.

    `elapsed` counts a pause as half an hour at most, but is never less than the active time; `paused`: there was a
    longer one. `seconds` is the time that the entry pays for. None: it has none (no active time was measured), and then
    neither an hourly pay nor a top-up is known. `claimed`: a browser told of more active time than had passed, so that
    only what had passed counts.
    """

    session: CrowdSession
    active: float
    elapsed: float
    paused: bool
    claimed: bool
    seconds: float | None
    paid: Decimal
    hourly: float | None
    top_up: Decimal


@dataclass(frozen=True)
class CohortPay:
    """One cohort, or all of an entry where `cohort` is empty. Medians are over completed sessions.

    `too_few` sessions ended without the completion code, for too few of their tasks were judged.
    """

    cohort: str
    arrived: int
    working: int
    too_few: int
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
    def capped(self) -> bool:
        """Whether one below the floor told of more active time than had passed."""
        return any(session.claimed for session in self.below)

    @property
    def paused(self) -> bool:
        """Whether one below the floor made a pause that does not count in full."""
        return any(session.paused for session in self.below)

    @property
    def to_top_up(self) -> Decimal:
        return sum((session.top_up for session in self.below), Decimal(0))


@dataclass(frozen=True)
class PayMeter:
    """`work` is what was done in each session, by its key."""

    entry: CrowdEntry
    everybody: CohortPay
    cohorts: Sequence[CohortPay]
    work: Mapping[int, SessionWork]

    @property
    def is_below_the_floor(self) -> bool:
        hourly = self.everybody.hourly
        return hourly is not None and hourly.median < float(self.entry.floor)


def pay_meter(entry: CrowdEntry) -> PayMeter:
    """Measure an entry, in a fixed number of queries."""
    sessions = list(entry.sessions.select_related("participant__user").order_by("arrived_at", "pk"))
    work = work_by_session(entry, sessions)
    elapsed = elapsed_by_session(each for each in sessions if each.state == CrowdSession.State.COMPLETED)
    by_cohort: dict[str, list[CrowdSession]] = defaultdict(list)
    for session in sessions:
        by_cohort[session.cohort].append(session)
    return PayMeter(
        entry=entry,
        everybody=cohort_pay("", sessions, work, elapsed),
        cohorts=[cohort_pay(cohort, members, work, elapsed) for cohort, members in by_cohort.items()],
        work=work,
    )


def cohort_pay(
    cohort: str,
    sessions: Sequence[CrowdSession],
    work: Mapping[int, SessionWork],
    elapsed: Mapping[int, Elapsed],
) -> CohortPay:
    completed = [session for session in sessions if session.state == CrowdSession.State.COMPLETED]
    paid = [paid_session(session, work[session.pk], elapsed[session.pk]) for session in completed]
    below = sorted((session for session in paid if session.top_up), key=lambda session: -session.top_up)
    return CohortPay(
        cohort=cohort,
        arrived=len({session.participant_id for session in sessions}),
        working=sum(session.state == CrowdSession.State.ACTIVE for session in sessions),
        too_few=sum(session.state == CrowdSession.State.TOO_FEW for session in sessions),
        paid=paid,
        median_active=median(session.active for session in paid) if paid else None,
        median_elapsed=median(session.elapsed for session in paid) if paid else None,
        hourly=median_with_interval([session.hourly for session in paid if session.hourly is not None]),
        below=below,
    )


def paid_session(session: CrowdSession, work: SessionWork, lasted: Elapsed) -> PaidSession:
    """Return what the session brought, by the terms that it began with."""
    entry = session.terms
    elapsed = max(lasted.seconds, work.active)
    seconds = elapsed if entry.paid_time == CrowdEntry.PaidTime.ELAPSED else work.active
    paid = entry.reward + session.bonus
    known = seconds > 0
    return PaidSession(
        session=session,
        active=work.active,
        elapsed=elapsed,
        paused=lasted.capped,
        claimed=work.claimed,
        seconds=seconds if known else None,
        paid=paid,
        hourly=hourly_pay(paid, seconds) if known else None,
        top_up=top_up(paid=paid, seconds=seconds, floor=entry.floor) if known else Decimal(0),
    )


@transaction.atomic
def note_top_ups_as_paid(*, entry: CrowdEntry, owed: dict[int, Decimal]) -> int:
    """Count these top-ups, by the session's key, as paid. Returns how many sessions got one.

    A session gets what it still lacks at most: sending the same list twice pays nobody twice. One that stands in a
    payment by Prolific whose end is not known yet gets nothing.
    """
    CrowdEntry.objects.select_for_update().get(pk=entry.pk)
    under_way = {int(pk) for request in entry.site_requests.all() if request.is_open_payment for pk in request.amounts}
    below = pay_meter(entry).everybody.below
    lacking = {paid.session.pk: paid.top_up for paid in below if paid.session.pk not in under_way}
    n_paid = 0
    for pk, amount in owed.items():
        if given := min(amount, lacking.get(pk, Decimal(0))):
            n_paid += CrowdSession.objects.filter(pk=pk, entry=entry).update(bonus=F("bonus") + given)
    return n_paid
