"""What was done in each session of an entry: tasks judged and passed on, active time as far as it can be, and elapsed
time without the pauses in which the server heard nothing of the assessor for long.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model, Q, QuerySet
from django.db.models.functions import Coalesce

from annotate.crowd.pay import Elapsed, elapsed_time
from annotate.models import (
    Assignment,
    AttentionAnswer,
    ConsentAnswer,
    CrowdEntry,
    CrowdSession,
    Draft,
    GuidelineReading,
    SurveyReply,
    TrainingAnswer,
    TrainingAttempt,
)
from collection.models import Comment, EarlierJudgment, Judgment

Source = tuple[type[Model], str, str]

BY_THE_ASSESSOR = Q(returned_because__in=[Assignment.Because.SKIPPED, Assignment.Because.GIVEN_BACK])
# Where it stands when an assessor did something, as model, path to the person, and time. The tasks alone tell of most
# sessions that there was no pause; the rest is looked up of the others.
# Of a session's pay, what was judged stays judged, though its labels were taken out.
JUDGED = Q(state=Assignment.State.SUBMITTED) | Q(
    returned_because=Assignment.Because.WITHDRAWN, submitted_at__isnull=False
)
OF_TASKS: tuple[Source, ...] = (
    (Assignment, "rater__user", "opened_at"),
    (Assignment, "rater__user", "revealed_at"),
    (Assignment, "rater__user", "touched_at"),
    (Assignment, "rater__user", "submitted_at"),
)
OF_ALL_ELSE: tuple[Source, ...] = (
    (Assignment, "rater__user", "returned_at"),
    (Judgment, "rater__user", "judged_at"),
    (EarlierJudgment, "rater__user", "judged_at"),
    (Draft, "assignment__rater__user", "saved_at"),
    (Comment, "rater__user", "made_at"),
    (GuidelineReading, "user", "read_at"),
    (ConsentAnswer, "user", "answered_at"),
    (SurveyReply, "user", "answered_at"),
    (TrainingAttempt, "user", "started_at"),
    (TrainingAttempt, "user", "finished_at"),
    (TrainingAnswer, "attempt__user", "answered_at"),
    (AttentionAnswer, "user", "answered_at"),
)


@dataclass
class SessionWork:
    """Tasks that were judged, tasks that were passed on, and the active seconds of what was judged.

    `claimed`: a browser told of more than had passed, so that only what had passed counts.
    """

    judged: int = 0
    passed_on: int = 0
    active: float = 0.0
    claimed: bool = False


def work_by_session(entry: CrowdEntry, sessions: Sequence[CrowdSession]) -> Mapping[int, SessionWork]:
    """Return the work of the entry's sessions, by their keys, in one query. `sessions` are all of it, by arrival.

    A task belongs to the newest session that its person had begun when they submitted it or passed it on. No session
    has more active time than it lasted: tasks may overlap.
    """
    arrivals: dict[int, list[CrowdSession]] = defaultdict(list)
    for session in sessions:
        arrivals[session.participant.user_id].append(session)
    work: dict[int, SessionWork] = defaultdict(SessionWork)
    over = Assignment.objects.filter(
        JUDGED | Q(returned_because__in=Assignment.PASSED_ON),
        rater__user__participant__entry=entry,
        task__study=entry.study_id,
    ).annotate(over_at=Coalesce("submitted_at", "returned_at"), judged=JUDGED)
    for user, judged, at, active, claimed in over.values_list(
        "rater__user__pk", "judged", "over_at", "active_seconds", "claimed_seconds"
    ):
        assert user  # a participant
        visit = _session_at(arrivals[user], at)
        if visit is None:
            continue
        done = work[visit.pk]
        if judged:
            done.judged += 1
            done.active += active
            done.claimed |= claimed is not None
        else:
            done.passed_on += 1
    for each in sessions:
        _cut(work[each.pk], each)
    return work


def _session_at(theirs: Sequence[CrowdSession], at: datetime) -> CrowdSession | None:
    index = bisect_right([session.arrived_at for session in theirs], at) - 1
    return theirs[index] if index >= 0 else None


def _cut(work: SessionWork, session: CrowdSession) -> None:
    """Count no more active time than the session lasted."""
    if session.finished_at is None:
        return
    lasted = (session.finished_at - session.arrived_at).total_seconds()
    if work.active > lasted:
        work.active, work.claimed = lasted, True


# --- How long it took ---------------------------------------------------------------------------


def elapsed_by_session(sessions: Iterable[CrowdSession]) -> Mapping[int, Elapsed]:
    """Return how long these finished sessions lasted, by their keys, in two queries at most."""
    sessions = list(sessions)
    heard: dict[int, list[datetime]] = defaultdict(list)
    found = {session.pk: _elapsed(session, ()) for session in sessions}
    for sources in (OF_TASKS, OF_ALL_ELSE):
        with_pauses = [session for session in sessions if found[session.pk].capped]
        if not with_pauses:
            break
        for user, at in _times(sources, {session.participant.user_id for session in with_pauses}):
            heard[user].append(at)
        found |= {session.pk: _elapsed(session, heard[session.participant.user_id]) for session in with_pauses}
    return found


def _elapsed(session: CrowdSession, heard: Sequence[datetime]) -> Elapsed:
    assert session.finished_at is not None
    return elapsed_time(session.arrived_at, session.finished_at, heard)


def _times(sources: Sequence[Source], users: set[int]) -> QuerySet[Any, tuple[int, datetime]]:
    """Return when these people did something; a participant's account works in one study alone."""
    first, *others = (
        model._default_manager.filter(
            BY_THE_ASSESSOR if time == "returned_at" else Q(), **{f"{person}__in": users, f"{time}__isnull": False}
        )
        .order_by()
        .values_list(person, time)
        for model, person, time in sources
    )
    return first.union(*others, all=True)
