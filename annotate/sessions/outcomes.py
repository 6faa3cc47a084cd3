"""What comes next in a session, how it ends and which code its end earns: one table for all that a study may be.

A session ends when the first table says so. Arriving (`annotate.participants.arriving`), gates
(`annotate.quality.gates`) and tasks (`annotate.work.next_work`) each do their cells of it: a test walks every cell and
compares. docs/crowd.md shows the tables, and a test compares these too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse

from annotate.models import CrowdSession, ScreenOut
from annotate.sessions.sessions import GOES_ON, State, has_ended, n_submitted, session_of, share_of, work_of
from collection.models import Study, User

Because = CrowdSession.Because


# --- What comes next ----------------------------------------------------------------------------


class Next(StrEnum):
    """What somebody meets who asks for what comes next."""

    REFUSED = "is not let in, and reads why"
    BEGINS = "begins a session"
    GATE = "does what stands before the work"
    WORK = "gets the next task; the session ends when there is none"
    FINISHES = "finishes the task in hand, then the session ends"
    ENDS = "the session ends"
    IS_OVER = "sees how the session ended, with its code"


NO_GATE = ""
OUT = "screened_out"
GATES = (NO_GATE, "consent", "questionnaire", "training", "attention", OUT)


def what_comes_next(study: str, session: str, gate: str, *, has_begun: bool) -> Next:
    """Return what comes next where the study and the session are in these states and this gate stands before the work.

    An empty `session`: there is none yet. `has_begun`: a task is in hand, or was submitted in the session.
    """
    is_open, is_paused = study == Study.State.OPEN, study == Study.State.PAUSED
    if not session:
        return Next.BEGINS if is_open else Next.REFUSED
    if session not in GOES_ON or (session == State.NO_WORK and not is_open):
        return Next.IS_OVER
    if not (is_open or is_paused) or gate == OUT:
        return Next.ENDS
    if is_paused and not has_begun:
        return Next.ENDS  # nobody is trained for work that is not given out
    if gate:
        return Next.GATE
    return Next.WORK if is_open else Next.FINISHES


# --- How it ends --------------------------------------------------------------------------------


class Done(StrEnum):
    """How much was done in a session when it ended."""

    NOTHING = "no task"
    TOO_FEW = "fewer tasks judged than asked"
    ENOUGH = "the share asked, or more"


ENDS: Mapping[str, Mapping[Done, State]] = {
    because: dict(zip(Done, states, strict=True))
    for because, states in {
        Because.FULL: (State.COMPLETED, State.COMPLETED, State.COMPLETED),
        Because.NOTHING_LEFT: (State.NO_WORK, State.TOO_FEW, State.COMPLETED),
        Because.CLOSED: (State.TOO_FEW, State.TOO_FEW, State.COMPLETED),
        Because.REMOVED: (State.TOO_FEW, State.TOO_FEW, State.COMPLETED),
        Because.DECLINED: (State.NO_CONSENT, State.TOO_FEW, State.COMPLETED),
        Because.SCREENED_OUT: (State.SCREENED_OUT, State.SCREENED_OUT, State.SCREENED_OUT),
        Because.RETURNED: (State.RETURNED, State.RETURNED, State.RETURNED),
        Because.TIMED_OUT: (State.TIMED_OUT, State.TIMED_OUT, State.TIMED_OUT),
    }.items()
}
# The entry's field with the code that an end earns. The others earn none: the place goes back to the site.
CODES = {
    State.COMPLETED: "completion_code",
    State.SCREENED_OUT: "screen_out_code",
    State.NO_CONSENT: "no_consent_code",
    State.TOO_FEW: "too_few_code",
}


def code_of(session: CrowdSession) -> str:
    """Return the code that this end of a session earns; empty where it earns none.

    Who stops, and judged something, is paid for it: by the completion code, where too few have none.
    """
    field = CODES.get(State(session.state))
    code = str(getattr(session.entry, field)) if field else ""
    if not code and session.state == State.TOO_FEW and session.ended_because == Because.DECLINED:
        return session.entry.completion_code
    return code


def done_in(session: CrowdSession, because: str) -> Done:
    """Return how much was done in the session that ends for this reason."""
    share = share_of(session, stops=because == Because.DECLINED)
    if not share.judged and (because == Because.DECLINED or not share.passed_on):
        return Done.NOTHING
    return Done.ENOUGH if share.is_enough else Done.TOO_FEW


def end(session: CrowdSession, because: str, *, at: datetime) -> None:
    """End a session that goes on. One that has ended since it was read, as returned say, stays as it ended."""
    state = ENDS[because][done_in(session, because)]
    _move(session, state, from_=GOES_ON, because=because, at=at)


def end_sessions(*, study: Study, because: str, at: datetime) -> int:
    """End all sessions of the study in which somebody works. Returns how many there were."""
    working = CrowdSession.objects.filter(entry__study=study, state=State.ACTIVE)
    sessions = list(working.select_related("entry__study", "participant__user").order_by("pk"))
    for session in sessions:
        end(session, because, at=at)
    return len(sessions)


def people_whose_session_ended(study: Study) -> QuerySet[CrowdSession, int]:
    """Return the keys of people from crowd sites who work in no session of the study any more."""
    sessions = CrowdSession.objects.filter(entry__study=study)
    working = sessions.filter(state__in=GOES_ON).values("participant")
    return sessions.exclude(participant__in=working).values_list("participant__user", flat=True)


def end_session(*, study: Study, user: User, because: str, at: datetime) -> None:
    """End the person's session, if there is one that goes on. Their work is the caller's."""
    session = session_of(study=study, user=user)
    if session:
        end(session, because, at=at)


def end_if_full(*, session: CrowdSession, at: datetime) -> bool:
    """End the session if its person submitted as many tasks as one does in it. Returns whether it ended.

    Nothing is in their hands then, so nothing is unsaved when the code is shown.
    """
    quota = session.terms.tasks_per_person
    if quota is None or n_submitted(session) < quota or work_of(session).open().exists():
        return False
    end(session, Because.FULL, at=at)
    return has_ended(session)


def end_if_over(*, session: CrowdSession, gate: str, at: datetime) -> bool:
    """End the session where the table says so. Returns whether it is over."""
    study = session.entry.study.state
    has_begun = study != Study.State.PAUSED or work_of(session).exists()
    following = what_comes_next(study, session.state, gate, has_begun=has_begun)
    if following == Next.ENDS:
        reason = Because.NOTHING_LEFT if study == Study.State.PAUSED else Because.CLOSED
        end(session, Because.SCREENED_OUT if gate == OUT else reason, at=at)
    return following in {Next.ENDS, Next.IS_OVER}


def why_screened_out(reason: str) -> Because:
    return Because.DECLINED if reason == ScreenOut.Reason.CONSENT else Because.SCREENED_OUT


def resume(session: CrowdSession) -> None:
    """Go on with a session that found no work before, now that there is some."""
    if session.state == State.NO_WORK:
        _move(session, State.ACTIVE, from_=[State.NO_WORK], because="", at=None)


@transaction.atomic
def _move(session: CrowdSession, state: State, *, from_: Sequence[State], because: str, at: datetime | None) -> None:
    moved = CrowdSession.objects.filter(pk=session.pk, state__in=from_)
    moved.update(state=state, finished_at=at, ended_because=because)
    session.refresh_from_db(fields=["state", "finished_at", "ended_because"])


def address_once_over(*, study: Study, user: User) -> str:
    """Return where the person reads how their session ended; empty while it goes on, and where there is none."""
    session = session_of(study=study, user=user)
    return end_address(session) if session and has_ended(session) else ""


def end_address(session: CrowdSession) -> str:
    return reverse("annotate:crowd_end", args=[session.entry.study.name])
