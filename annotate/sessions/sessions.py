"""A session of somebody from a crowd site: which one it is, and what was done in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil

from django.db.models import DateTimeField, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from annotate.models import Assignment, CrowdSession
from annotate.models.work import AssignmentQuerySet
from collection.judgments.compiled_sql import compiled
from collection.models import Study, User

State = CrowdSession.State
# A session that found no work goes on when there is some again.
GOES_ON = (State.ACTIVE, State.NO_WORK)
GONE = (State.RETURNED, State.TIMED_OUT)
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def session_of(*, study: Study, user: User) -> CrowdSession | None:
    """Return the person's newest session in the study; None for people who came another way."""
    newest = _newest_session(study=study.pk, user=user.pk)
    return newest[0] if newest else None


@compiled
def _newest_session(*, study: int, user: int) -> QuerySet[CrowdSession]:
    sessions = CrowdSession.objects.filter(participant__user=user, participant__study=study)
    return sessions.select_related("entry__study", "participant__user").order_by("-arrived_at", "-pk")[:1]


def has_ended(session: CrowdSession) -> bool:
    return session.state not in GOES_ON


# --- What was done in it ------------------------------------------------------------------------


def work_of(session: CrowdSession) -> AssignmentQuerySet:
    """Return the assignments that belong to the session: submitted during it, or in the person's hands now."""
    later = _later(session)
    submitted = Q(state=Assignment.State.SUBMITTED) & _during(session, later, "submitted_at")
    in_hand = Q(pk=None) if later else Q(state=Assignment.State.OPEN)
    return _had(session).filter(in_hand | submitted)


def passed_on_in(session: CrowdSession) -> AssignmentQuerySet:
    """Return the assignments that the person had in the session and passed on without judging them."""
    passed_on = Q(returned_because__in=Assignment.PASSED_ON) & _during(session, _later(session), "returned_at")
    return _had(session).filter(passed_on)


def _had(session: CrowdSession) -> AssignmentQuerySet:
    return Assignment.objects.of(session.participant.user).filter(task__study=session.participant.study_id)


def _later(session: CrowdSession) -> CrowdSession | None:
    return session.participant.sessions.filter(arrived_at__gt=session.arrived_at).order_by("arrived_at").first()


def _during(session: CrowdSession, later: CrowdSession | None, field: str) -> Q:
    until = Q(**{f"{field}__lt": later.arrived_at}) if later else Q()
    return Q(**{f"{field}__gte": session.arrived_at}) & until


def n_submitted(session: CrowdSession) -> int:
    return work_of(session).filter(state=Assignment.State.SUBMITTED).count()


def began_of_session(user: User | int, *, study: int | OuterRef) -> Coalesce:
    """Return, for a query, when the person's newest session began; long ago for people who came another way."""
    sessions = CrowdSession.objects.filter(participant__user=user, participant__study=study)
    newest = sessions.order_by("-arrived_at", "-pk").values("arrived_at")[:1]
    return Coalesce(Subquery(newest), Value(LONG_AGO, output_field=DateTimeField()))


def within_session(user: User, n_left: Mapping[int, int]) -> dict[int, int]:
    """Return how many of the tasks left, by study, the person is still given in their session. In hand counts as given.

    For people who came another way these are the same numbers.
    """
    session = CrowdSession.objects.filter(participant__user=user).select_related("entry", "participant__user").last()
    if session is None or session.terms.tasks_per_person is None:
        return dict(n_left)
    study = session.entry.study_id
    still = max(0, session.terms.tasks_per_person - work_of(session).count())
    return {**n_left, study: 0 if has_ended(session) else min(n_left.get(study, 0), still)}


def has_all_its_tasks(session: CrowdSession) -> bool:
    """Whether what the person submitted in the session and still has, aside too, is as much as one does in it."""
    quota = session.terms.tasks_per_person
    return quota is not None and work_of(session).count() >= quota


@dataclass(frozen=True)
class Share:
    """How many tasks the person judged in a session, how many they passed on, and how many had to be judged."""

    judged: int
    passed_on: int
    needed: int

    @property
    def had(self) -> int:
        return self.judged + self.passed_on

    @property
    def is_enough(self) -> bool:
        return self.judged >= self.needed


def share_of(session: CrowdSession, *, stops: bool = False) -> Share:
    """Return what of the session's tasks its person judged, against the share that the entry asks for.

    It is a share of the tasks that they had; where they stop (`stops`) of all that one person does, if that is known.
    """
    judged, passed_on = n_submitted(session), passed_on_in(session).count()
    had, most = judged + passed_on, session.terms.tasks_per_person
    asked = had if most is None else most if stops else min(had, most)
    return Share(judged, passed_on, ceil(asked * session.terms.least_judged / 100))
