"""What comes next for an assessor in a study, for the pages and the API alike."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from annotate.assignments.assignments import claim_next
from annotate.models import Assignment, CrowdSession
from annotate.participants.sessions import end_for_lack_of_work, end_if_full, has_ended, resume, session_of
from annotate.quality.gates import next_gate
from collection.judgments.compiled_sql import compiled
from collection.models import Rater, Study, User


@dataclass(frozen=True)
class NextWork:
    """One of three, or none of them: then nothing is left for now.

    `assignment` is in the person's hands; `gate` is the address of what they must do before they may work; `ended` is
    their session at a crowd site, which is over.
    """

    assignment: Assignment | None = None
    gate: str | None = None
    ended: CrowdSession | None = None


def next_work(*, study: Study, user: User, at: datetime) -> NextWork:
    """Put the next task into the person's hands, or say what comes instead.

    Where they came from a crowd site, their session ends when nothing is left for them, and goes on when there is.
    """
    session = session_of(study=study, user=user)
    if session and has_ended(session):
        return NextWork(ended=session)
    if gate := next_gate(study=study, user=user):
        return NextWork(gate=gate)
    if session and end_if_full(session=session, at=at):
        return NextWork(ended=session)
    raters = _rater_of(user=user.pk)
    assignment = claim_next(study=study, rater=raters[0], at=at) if raters else None
    if assignment is None and session:
        end_for_lack_of_work(session=session, at=at)
        return NextWork(ended=session)
    if session:
        resume(session)
    return NextWork(assignment=assignment)


@compiled
def _rater_of(*, user: int) -> QuerySet[Rater]:
    return Rater.objects.filter(user=user)
