"""What comes next for an assessor in a study, for the pages and the API alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from annotate.assignments.assignments import AHEAD, claim, hand_out
from annotate.models import Assignment, CrowdSession, Enrolment
from annotate.participants.sessions import (
    end_for_lack_of_work,
    end_if_full,
    has_all_its_tasks,
    has_ended,
    resume,
    session_of,
)
from annotate.quality.gates import next_gate
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

    Where they came from a crowd site, their session ends when nothing is left for them, and goes on when there is; its
    tasks are counted, so none is claimed ahead.
    """
    session = session_of(study=study, user=user)
    if session and has_ended(session):
        return NextWork(ended=session)
    if gate := next_gate(study=study, user=user):
        return NextWork(gate=gate)
    if session and end_if_full(session=session, at=at):
        return NextWork(ended=session)
    raters = _rater_of(user=user.pk)
    fresh = not (session and has_all_its_tasks(session))
    in_hand = claim(study=study, rater=raters[0], at=at, ahead=0 if session else ahead, fresh=fresh) if raters else []
    if not in_hand and session:
        end_for_lack_of_work(session=session, at=at)
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
