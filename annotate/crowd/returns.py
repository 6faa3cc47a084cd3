"""What the site says of sessions: some are returned, and what was done in them goes back; this can be undone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction

from annotate.assignments.assignments import take_back_assignment
from annotate.assignments.kept_work import bring_back, kept_of
from annotate.crowd import prolific
from annotate.models import CrowdEntry, CrowdSession, Enrolment
from annotate.sessions.outcomes import Because
from annotate.sessions.sessions import GOES_ON, GONE, State, work_of
from annotate.studies.lifecycle import enrol, unenrol


class NotToBeUndone(Exception):
    """The return of this session stays."""


@transaction.atomic
def return_session(*, session: CrowdSession, at: datetime, state: State = State.RETURNED) -> bool:
    """Take back what was done in a session that the site does not pay: its places are free, its labels history.

    Returns whether anything changed; doing it twice changes nothing.
    """
    stored = _held(session)
    if stored.state in GONE:
        return False
    study, user = stored.participant.study, stored.participant.user
    # Locked, so that what is kept of each is how it stood when it went.
    assignments = list(work_of(stored).select_for_update(of=("self",)).order_by("pk"))
    taken_back = {
        "at": at.isoformat(),
        "state": stored.state,
        "because": stored.ended_because,
        "finished_at": stored.finished_at.isoformat() if stored.finished_at else None,
        "work": kept_of(assignments),
    }
    for assignment in assignments:
        take_back_assignment(assignment=assignment, at=at)
    if not has_come_again(stored) and Enrolment.objects.filter(study=study, user=user).exists():
        unenrol(study=study, user=user, at=at)
    stored.taken_back, stored.state, stored.finished_at = taken_back, state, stored.finished_at or at
    stored.ended_because = Because.RETURNED if state == State.RETURNED else Because.TIMED_OUT
    stored.save(update_fields=["taken_back", "state", "finished_at", "ended_because"])
    session.state, session.finished_at = stored.state, stored.finished_at
    return True


@transaction.atomic
def undo_return(*, session: CrowdSession, at: datetime) -> None:
    """Bring back what was done in a returned session, as long as nobody else has its places.

    Raises NotToBeUndone and PlacesGone; nothing has changed then.
    """
    stored = _held(session)
    kept = stored.taken_back
    if stored.state not in GONE or kept is None:
        raise NotToBeUndone(
            f"The session of {stored.participant} was not returned here, or they have since withdrawn their consent or "
            "had their personal data erased."
        )
    if kept["state"] in GOES_ON and has_come_again(stored):
        raise NotToBeUndone(f"{stored.participant} has since continued in another session. This one stays returned.")
    returned_at = datetime.fromisoformat(kept["at"])
    bring_back(kept["work"], returned_at=returned_at, at=at)
    study, user = stored.participant.study, stored.participant.user
    if Enrolment.objects.filter(study=study, user=user, left_at=returned_at).exists():
        enrol(study=study, user=user, at=at)
    stored.state, stored.ended_because, stored.taken_back = kept["state"], kept.get("because", ""), None
    stored.finished_at = datetime.fromisoformat(kept["finished_at"]) if kept["finished_at"] else None
    stored.save(update_fields=["state", "ended_because", "taken_back", "finished_at"])
    session.state, session.finished_at = stored.state, stored.finished_at


def _held(session: CrowdSession) -> CrowdSession:
    held = CrowdSession.objects.select_for_update(of=("self",))
    return held.select_related("participant__user", "participant__study").get(pk=session.pk)


def has_come_again(session: CrowdSession) -> bool:
    """Whether the person has a later session."""
    return session.participant.sessions.filter(arrived_at__gt=session.arrived_at).exists()


@dataclass
class StatusesRead:
    """What a file of statuses changed."""

    known: int = 0
    returned: list[CrowdSession] = field(default_factory=list)
    timed_out: list[CrowdSession] = field(default_factory=list)
    timed_out_but_completed: list[CrowdSession] = field(default_factory=list)
    unknown: int = 0


@transaction.atomic
def take_statuses(*, entry: CrowdEntry, submissions: Iterable[prolific.Submission], at: datetime) -> StatusesRead:
    """Keep how Prolific says each submission stands; who returned theirs or ran out of time gives the places back.

    Whoever completed here and was timed out there keeps their labels: the researcher may still pay them. A return
    that the researcher has undone stays undone until the site says something else.
    Raises BrokenFile while reading, and then nothing has changed.
    """
    submissions = list(submissions)
    ids = [submission.session_id for submission in submissions]
    stored = CrowdSession.objects.filter(entry=entry, session_id__in=ids).select_related("participant__user")
    sessions = {session.session_id: session for session in stored}
    read = StatusesRead()
    changed = []
    for submission in submissions:
        session = sessions.get(submission.session_id)
        if session is None:
            read.unknown += 1
            continue
        read.known += 1
        is_news = session.site_status != submission.status
        if is_news:
            session.site_status = submission.status
            changed.append(session)
        if submission.status == prolific.RETURNED:
            if is_news and return_session(session=session, at=at):
                read.returned.append(session)
        elif submission.status == prolific.TIMED_OUT:
            if session.state == State.COMPLETED:
                read.timed_out_but_completed.append(session)
            elif is_news and return_session(session=session, at=at, state=State.TIMED_OUT):
                read.timed_out.append(session)
    CrowdSession.objects.bulk_update(changed, ["site_status"], batch_size=500)
    return read
