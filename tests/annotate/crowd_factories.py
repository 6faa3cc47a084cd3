"""Makes entries for crowd sites, and people who come by them."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

from annotate.assignments.assignments import claim_next
from annotate.models import Assignment, CrowdEntry, CrowdSession
from annotate.participants.arrivals import Arrival
from annotate.participants.arriving import arrive
from collection.models import Rater, Study
from tests.annotate.factories import NOON, a_submitted_report

PID, COHORT, SESSION = "5f0000000000000000000001", "6a0000000000000000000001", "7b0000000000000000000001"


def an_entry(study: Study, site: str = "prolific", **fields: object) -> CrowdEntry:
    """An entry that pays 3.00 for 20 minutes against a floor of 9.00, and codes for every end."""
    defaults: dict[str, object] = {
        "completion_code": "CDONE",
        "screen_out_code": "COUT",
        "no_consent_code": "CNO",
        "reward": Decimal("3.00"),
        "floor": Decimal("9.00"),
        "estimated_minutes": 20,
        "contact": "rosa@example.org",
    }
    return CrowdEntry.objects.create(study=study, site=site, **{**defaults, **fields})


def an_arrival(number: int = 1, *, session: int | None = None, cohort: str = COHORT) -> Arrival:
    """The person of this number, in the session of that number."""
    return Arrival(
        crowd_id=f"5f{number:022d}", cohort=cohort, session_id=f"7b{number if session is None else session:022d}"
    )


def a_session(entry: CrowdEntry, number: int = 1, *, session: int | None = None, at: datetime = NOON) -> CrowdSession:
    return arrive(entry=entry, arrival=an_arrival(number, session=session), at=at)


def completed(session: CrowdSession, *, minutes: float) -> CrowdSession:
    """The session, completed after so long without a pause of more than 25 minutes."""
    session.state = CrowdSession.State.COMPLETED
    session.finished_at = session.arrived_at + timedelta(minutes=minutes)
    session.save()
    user = session.participant.user
    for number in range(1, int(minutes / 25) + 1):
        at = session.arrived_at + timedelta(minutes=25 * number)
        user.training_attempts.create(
            study=session.entry.study, number=user.training_attempts.count() + 1, started_at=at, finished_at=at
        )
    return session


def rater_of_session(session: CrowdSession) -> Rater:
    return Rater.objects.get(user=session.participant.user)


def submit_a_report(session: CrowdSession) -> None:
    """Claim what comes next, a report, and submit it at noon, or when the session began if that is later."""
    assignment = claim_next(study=session.entry.study, rater=rater_of_session(session), at=NOON)
    assert assignment is not None
    a_submitted_report(assignment, [1, 0, 0])
    Assignment.objects.filter(pk=assignment.pk).update(submitted_at=max(NOON, session.arrived_at))


def address(entry: CrowdEntry, number: int = 1, *, session: int | None = None) -> str:
    """The link as Prolific makes it."""
    arrival = an_arrival(number, session=session)
    query = f"PROLIFIC_PID={arrival.crowd_id}&STUDY_ID={arrival.cohort}&SESSION_ID={arrival.session_id}"
    return f"/p/{entry.token}/?{query}"
