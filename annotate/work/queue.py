"""What an assessor's queue shows: their studies, what is in hand, what comes next, what was submitted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from annotate.assignments.design import design_of
from annotate.assignments.errors import TAKES_CHOICES
from annotate.assignments.places import due, emptied_tasks, left_of_quota, next_task, own_answers, vacant
from annotate.assignments.topic_shares import is_shared_by_topic, open_to
from annotate.models import Assignment, Place, Task
from annotate.sessions.sessions import began_of_session, within_session
from annotate.work.pace import minutes_left, pace_of
from collection.judgments.compiled_sql import compiled
from collection.models import Guideline, Rater, Study, User

RECENT = 10
# How long “of 97” may be older than the tasks.
COUNTED_FOR = timedelta(minutes=5)


@dataclass(frozen=True)
class Queue:
    """One study as its assessor sees it. `incomplete` are submitted tasks with a change that lacks something, by key.

    `n_submitted` counts those of their session, where they came from a crowd site; `n_left` the tasks that they may
    still be given, `n_in_hand` the current one, those that are claimed ahead and those that are `set_aside`.
    """

    study: Study
    in_hand: Assignment | None
    next_task: Task | None
    n_submitted: int
    n_left: int
    n_in_hand: int
    submitted: Sequence[Assignment]
    guideline: Guideline | None
    adjudicates: bool = False
    pace: float | None = None
    set_aside: Sequence[Assignment] = ()
    incomplete: Mapping[int, Assignment] = field(default_factory=dict)

    @property
    def minutes_left(self) -> int | None:
        """About how long the rest takes at this assessor's pace, in minutes; None where that cannot be said."""
        return minutes_left(self.pace, self.n_left + self.n_in_hand)

    @property
    def n_all(self) -> int:
        return self.n_submitted + self.n_left + self.n_in_hand


def queues_of(user: User, *, all_submitted: bool = False, at: datetime) -> list[Queue]:
    """Return the queues of the studies in which this person works, drafts left out."""
    rater = Rater.objects.filter(user=user).first()
    if rater is None:
        return []
    studies = list(
        Study.objects.filter(enrolments__user=user, enrolments__left_at=None)
        .exclude(state=Study.State.DRAFT)
        .order_by("-created_at")
    )
    mine = Assignment.objects.filter(rater=rater, task__study__in=studies).select_related(
        "task__topic", "task__report", "task__passage"
    )
    held = list(mine.open().order_by("-opened_at", "-pk"))
    n_in_hand = Counter(assignment.task.study_id for assignment in held)
    aside: defaultdict[int, list[Assignment]] = defaultdict(list)
    for assignment in held:
        if assignment.set_aside_at:
            aside[assignment.task.study_id].append(assignment)
    in_hand = {assignment.task.study_id: assignment for assignment in held if not assignment.set_aside_at}
    submitted = _submitted(mine, all_submitted=all_submitted)
    n_submitted = Counter(
        mine.filter(state=Assignment.State.SUBMITTED)
        .exclude(submitted_at__lt=began_of_session(user, study=OuterRef("task__study")))
        .values_list("task__study", flat=True)
        .order_by()
    )
    n_left = within_session(user, _tasks_left(studies, rater, at=at))
    incomplete = list(mine.incomplete_again().order_by("submitted_at", "pk"))
    adjudicated = set(user.enrolments.filter(left_at=None, adjudicates=True).values_list("study_id", flat=True))
    guidelines = {g.study_id: g for g in Guideline.objects.filter(study__in=studies).order_by("version")}
    return [
        Queue(
            study=study,
            in_hand=in_hand.get(study.pk) if study.state in TAKES_CHOICES else None,
            next_task=None if study.pk in in_hand else next_task(study, rater, at=at),
            n_submitted=n_submitted[study.pk],
            n_left=n_left.get(study.pk, 0),
            n_in_hand=n_in_hand[study.pk],
            set_aside=aside[study.pk] if study.state in TAKES_CHOICES else [],
            submitted=submitted[study.pk],
            guideline=guidelines.get(study.pk),
            adjudicates=study.pk in adjudicated,
            incomplete={one.pk: one for one in incomplete if one.task.study_id == study.pk},
            pace=pace_of(study, rater) if n_submitted[study.pk] else None,
        )
        for study in studies
    ]


def nth_of_all(assignment: Assignment, user: User, *, at: datetime) -> tuple[int, int | None]:
    """Return which of their tasks in the study this is for the assessor, and how many these are in all.

    The first is 1; in a session of a crowd site it is the first of that session. One that is claimed ahead comes after
    the one that is still in hand. In all are what was submitted, what is in hand and what they may still be given, as
    last counted; None where the study hands nothing out.
    """
    study, rater = assignment.task.study, assignment.rater
    (counts,) = _turn(assignment=assignment.pk, study=study.pk, rater=rater.pk, user=user.pk)
    nth = counts["before"] + 1
    if study.state != Study.State.OPEN:
        return nth, None

    def in_all() -> int:
        return int(counts["all"]) + within_session(user, _tasks_left([study], rater, at=at)).get(study.pk, 0)

    # Counting what is left goes through all tasks of the study: too much for every page.
    counted = cache.get_or_set(f"tasks-in-all:{study.pk}:{rater.pk}", in_all, COUNTED_FOR.total_seconds())
    return nth, max(int(counted or 0), counts["all"])


@compiled
def _turn(*, assignment: int, study: int, rater: int, user: int) -> QuerySet[Assignment, Any]:
    """How many tasks the rater has or had in the study, and how many of them come before this one of theirs."""
    given = Assignment.objects.filter(rater=rater, task__study=study).exclude(state=Assignment.State.RETURNED)
    given = given.exclude(submitted_at__lt=began_of_session(user, study=study))
    comes_before = Q(state=Assignment.State.SUBMITTED) | Q(pk__lt=assignment)
    counts = {"all": Count("pk"), "before": Count("pk", filter=comes_before)}
    return given.order_by().values("rater").annotate(**counts).values("all", "before")  # type: ignore[misc]


def _submitted(mine: QuerySet[Assignment], *, all_submitted: bool) -> defaultdict[int, list[Assignment]]:
    """Return what was submitted, by study, the newest first: all of it, or the last few of each study."""
    by_study: defaultdict[int, list[Assignment]] = defaultdict(list)
    newest_first = mine.filter(state=Assignment.State.SUBMITTED).order_by("-submitted_at", "-pk")
    if not all_submitted:
        order = [F("submitted_at").desc(), F("pk").desc()]
        nth = Window(RowNumber(), partition_by="task__study", order_by=order)
        newest_first = newest_first.annotate(nth=nth).filter(nth__lte=RECENT)
    for assignment in newest_first:
        by_study[assignment.task.study_id].append(assignment)
    return by_study


def _tasks_left(studies: Sequence[Study], rater: Rater, *, at: datetime) -> dict[int, int]:
    """Count the tasks that have a free place for this rater, now or once the report before them is submitted."""
    places = vacant(studies, but_of=rater, at=at)
    if by_topic := [study.pk for study in studies if is_shared_by_topic(study)]:
        places &= ~Q(task__study__in=by_topic) | open_to(rater)
    had = Assignment.objects.filter(task=OuterRef("pk"), rater=rater)
    free = Place.objects.filter(places, task=OuterRef("pk"))
    before_had = Assignment.objects.filter(task=OuterRef("after"), rater=rater)
    before_free = Place.objects.filter(places, task=OuterRef("after"))
    reachable = (
        Q(after=None)
        | Exists(before_had.exclude(state=Assignment.State.RETURNED))
        | (Exists(before_free) & ~Exists(before_had))
    )
    in_released_batches = Q(pk=None)
    for study in studies:
        in_released_batches |= Q(study=study, batch__lte=due(study))
    own = own_answers(rater, task="pk")
    tasks = Task.objects.filter(in_released_batches, ~Exists(had), ~Exists(own), study__state=Study.State.OPEN)
    offered = tasks.filter(Exists(free) | Q(everyone=True)).filter(reachable).exclude(pk__in=emptied_tasks(studies))
    ordinary = Count("pk", filter=Q(everyone=False))
    counts = offered.values("study").annotate(ordinary=ordinary, controls=Count("pk") - ordinary).order_by()
    counted = {row["study"]: (row["ordinary"], row["controls"]) for row in counts}
    return {study.pk: _within_quota(study, rater, *counted.get(study.pk, (0, 0))) for study in studies}


def _within_quota(study: Study, rater: Rater, ordinary: int, controls: int) -> int:
    left = left_of_quota(study, rater, design_of(study))
    return controls + (ordinary if left is None else max(0, min(ordinary, left)))
