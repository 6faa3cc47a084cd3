"""Who works in a study now: what a researcher should know before they close it or change what it asks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotate.models import Assignment, CrowdSession
from annotate.sessions.sessions import State
from collection.models import Study
from stats.plurals import counted

# Of whom nothing is heard for so long is not at work.
IDLE = timedelta(minutes=30)


@dataclass(frozen=True)
class AtWork:
    """People in a session of a crowd site, and people without one who hold a task, as far as they were heard lately."""

    in_sessions: int
    without: int

    @property
    def n(self) -> int:
        return self.in_sessions + self.without

    @property
    def gates_in_words(self) -> str:
        """Say whom something changes that stands before the work."""
        if not self.n:
            return "Nobody is at work now."
        said = []
        if self.in_sessions:
            said.append(f"{counted(self.in_sessions, 'people')} in a session, for whom nothing changes")
        if self.without:
            said.append(f"{counted(self.without, 'people')} without one, with whose next task it holds")
        return f"At work now: {'; '.join(said)}."


def gates_in_words(study: Study, *, at: datetime) -> str:
    """Say whom a change of what stands before the work concerns, to the researcher who makes it."""
    return "" if study.state == Study.State.DRAFT else f" {at_work(study, at=at).gates_in_words}"


def at_work(study: Study, *, at: datetime) -> AtWork:
    """Count who works in the study now, in two queries."""
    heard = Assignment.objects.filter(task__study=study, touched_at__gt=at - IDLE)
    lately = Q(arrived_at__gt=at - IDLE) | Exists(heard.filter(rater__user=OuterRef("participant__user")))
    sessions = CrowdSession.objects.filter(lately, entry__study=study, state=State.ACTIVE)
    others = heard.open().exclude(rater__user__in=_with_a_session(study)).order_by().values("rater").distinct()
    return AtWork(sessions.count(), others.count())


def _with_a_session(study: Study) -> QuerySet[CrowdSession, Any]:
    people = CrowdSession.objects.filter(entry__study=study)
    return people.annotate(person=F("participant__user")).values("person")
