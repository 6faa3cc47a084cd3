"""What comes next for an assessor in a study, for the pages and the API alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from annotate.assignments.assignments import AHEAD, claim, hand_out
from annotate.assignments.errors import TAKES_CHOICES
from annotate.models import Assignment, CrowdSession, Enrolment
from annotate.quality.gates import address_of_gate, next_gate, next_gate_name
from annotate.sessions.outcomes import Because, end, end_if_full, end_if_over, resume
from annotate.sessions.sessions import has_all_its_tasks, session_of
from collection.judgments.compiled_sql import compiled
from collection.models import Rater, Study, User


@dataclass(frozen=True)
class NextWork:
    """One of three, or none of them: then nothing is left for now.

    `assignment` is in the person's hands, and so is what comes after it, `ahead`; `gate` is the address of what they
    must do before they may work; `ended` is their session at a crowd site, which is over.
    """

    assignment: Assignment | None = None
    gate: str | None = None
    ended: CrowdSession | None = None
    ahead: Sequence[Assignment] = ()


def next_work(*, study: Study, user: User, at: datetime, ahead: int = 0) -> NextWork:
    """Put the next task into the person's hands, or say what comes instead.

    Where they came from a crowd site, their session ends when `annotate.sessions.outcomes` says so or nothing is left
    for them; its tasks are counted, so none is claimed ahead.
    """
    session = session_of(study=study, user=user)
    if session is None and study.state not in TAKES_CHOICES:
        return NextWork()
    gate = next_gate_name(study=study, user=user)
    if session and end_if_over(session=session, gate=gate or "", at=at):
        return NextWork(ended=session)
    if gate:
        return NextWork(gate=address_of_gate(gate, study))
    if session and end_if_full(session=session, at=at):
        return NextWork(ended=session)
    raters = _rater_of(user=user.pk)
    fresh = not (session and has_all_its_tasks(session))
    in_hand = claim(study=study, rater=raters[0], at=at, ahead=0 if session else ahead, fresh=fresh) if raters else []
    if not in_hand and session:
        end(session, Because.NOTHING_LEFT, at=at)
        return NextWork(ended=session)
    if session:
        resume(session)
    return _in_order(in_hand)


def work_behind_gates(*, enrolment: Enrolment | None, study: Study, user: User, rater: Rater, at: datetime) -> NextWork:
    """Do what `next_work` does for somebody who came from no crowd site, with tasks ahead.

    Their enrolment is held by the caller's transaction.
    """
    if gate := next_gate(study=study, user=user):
        return NextWork(gate=gate)
    in_hand = hand_out(enrolment=enrolment, rater=rater, at=at, ahead=AHEAD) if enrolment else []
    return _in_order(in_hand)


def _in_order(in_hand: Sequence[Assignment]) -> NextWork:
    return NextWork(assignment=in_hand[0], ahead=in_hand[1:]) if in_hand else NextWork()


@compiled
def _rater_of(*, user: int) -> QuerySet[Rater]:
    return Rater.objects.filter(user=user)
