"""How far a study is: by task type and by assessor, in a fixed number of queries."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Any

from django.db.models import Count, Max, Q

from annotate.assignments.places import emptied_tasks
from annotate.models import Assignment, Enrolment, Place, PlannedClosing, Task
from annotate.sessions.at_work import at_work
from collection.models import Exclusion, Judgment, Rater, Study, User
from collection.models.studies import TaskType


@dataclass(frozen=True)
class TaskTypeProgress:
    """The places of one task type: how many there are, are held, are done."""

    task_type: str
    tasks: int
    places: int
    filled: int
    submitted: int

    @property
    def open(self) -> int:
        """Places whose assessor is still at it."""
        return self.filled - self.submitted


@dataclass(frozen=True)
class AssessorProgress:
    """What one person did in a study. `median_seconds` is active time per submitted task.

    `incomplete` of the submitted tasks have a change that lacks something: what was submitted counts meanwhile.
    """

    user: User
    enrolled: bool
    adjudicates: bool
    open: int
    submitted: int
    incomplete: int
    judgments: int
    median_seconds: float | None
    last_seen: datetime | None
    excluded_because: str


@dataclass(frozen=True)
class CriterionProgress:
    """The grades that people gave under a criterion, and how many of them they are not sure of."""

    criterion: str
    grades: int
    unsure: int

    @property
    def share(self) -> float | None:
        return self.unsure / self.grades if self.grades else None


@dataclass(frozen=True)
class Progress:
    task_types: list[TaskTypeProgress] = field(default_factory=list)
    assessors: list[AssessorProgress] = field(default_factory=list)
    criteria: list[CriterionProgress] = field(default_factory=list)

    @property
    def places(self) -> int:
        return sum(row.places for row in self.task_types)

    @property
    def submitted(self) -> int:
        return sum(row.submitted for row in self.task_types)


def progress_of(study: Study) -> Progress:
    """Count the study's places and what became of them, what each of its people did, and the grades."""
    return Progress(task_types=by_task_type(study), assessors=by_assessor(study), criteria=by_criterion(study))


def by_task_type(study: Study) -> list[TaskTypeProgress]:
    tasks = dict(Task.objects.filter(study=study).order_by().values_list("task_type").annotate(n=Count("pk")))
    places: dict[str, dict[str, Any]] = {
        row["task__task_type"]: dict(row)
        for row in Place.objects.filter(task__study=study)
        .exclude(holder=None, task__in=emptied_tasks([study]))
        .order_by()
        .values("task__task_type")
        .annotate(places=Count("pk"), filled=Count("holder"))
    }
    submitted = dict(
        Assignment.objects.filter(task__study=study, state=Assignment.State.SUBMITTED)
        .values_list("task__task_type")
        .annotate(n=Count("pk"))
    )
    return [
        TaskTypeProgress(
            task_type=task_type,
            tasks=tasks[task_type],
            places=places.get(task_type, {}).get("places", 0),
            filled=places.get(task_type, {}).get("filled", 0),
            submitted=submitted.get(task_type, 0),
        )
        for task_type in TaskType
        if task_type in tasks
    ]


def by_criterion(study: Study) -> list[CriterionProgress]:
    """Return the criteria under which people gave grades, in their order."""
    grades = Judgment.objects.of_study(study).graded().filter(rater__kind=Rater.Kind.ASSESSOR)
    rows = grades.values_list("criterion__position", "criterion__name").annotate(
        n=Count("pk"), unsure=Count("pk", filter=Q(unsure=True))
    )
    return [CriterionProgress(name, n, unsure) for _, name, n, unsure in rows.order_by("criterion__position")]


def by_assessor(study: Study) -> list[AssessorProgress]:
    """Return everybody who is or was enrolled, by name."""
    assignments = Assignment.objects.filter(task__study=study)
    counts: dict[int | None, dict[str, Any]] = {
        row["rater__user"]: dict(row)
        for row in assignments.values("rater__user").annotate(
            open=Count("pk", filter=Q(state=Assignment.State.OPEN)),
            submitted=Count("pk", filter=Q(state=Assignment.State.SUBMITTED)),
            last_seen=Max("touched_at"),
        )
    }
    seconds: dict[int | None, list[float]] = defaultdict(list)
    done = assignments.filter(state=Assignment.State.SUBMITTED)
    for user, active in done.values_list("rater__user__pk", "active_seconds"):
        seconds[user].append(active)
    judgments = dict(
        Judgment.objects.of_study(study)
        .filter(rater__user__in=list(counts))
        .values_list("rater__user__pk")
        .annotate(n=Count("pk"))
    )
    changed = assignments.incomplete_again().values_list("rater__user__pk")
    incomplete = dict(changed.annotate(n=Count("pk")))
    excluded = dict(Exclusion.objects.filter(study=study, lifted_at=None).values_list("rater__user__pk", "reason"))
    nothing: dict[str, Any] = {"open": 0, "submitted": 0, "last_seen": None}
    return [
        AssessorProgress(
            user=enrolment.user,
            enrolled=enrolment.left_at is None,
            adjudicates=enrolment.adjudicates,
            open=count["open"],
            submitted=count["submitted"],
            incomplete=incomplete.get(enrolment.user_id, 0),
            judgments=judgments.get(enrolment.user_id, 0),
            median_seconds=median(seconds[enrolment.user_id]) if seconds[enrolment.user_id] else None,
            last_seen=count["last_seen"],
            excluded_because=excluded.get(enrolment.user_id, ""),
        )
        for enrolment in Enrolment.objects.filter(study=study).select_related("user").order_by("user__username")
        for count in [counts.get(enrolment.user_id, nothing)]
    ]


def progress_of_all(studies: list[Study]) -> dict[int, tuple[int, int]]:
    """Return for each study how many of its places are submitted, and how many there are."""
    places = dict(
        Place.objects.filter(task__study__in=studies)
        .exclude(holder=None, task__in=emptied_tasks(studies))
        .order_by()
        .values_list("task__study")
        .annotate(n=Count("pk"))
    )
    submitted = dict(
        Assignment.objects.filter(task__study__in=studies, state=Assignment.State.SUBMITTED)
        .values_list("task__study")
        .annotate(n=Count("pk"))
    )
    return {study.pk: (submitted.get(study.pk, 0), places.get(study.pk, 0)) for study in studies}


def closing_of(study: Study, *, at: datetime) -> dict[str, Any]:
    """Return what the page shows of closing: who works in the study now, and what is planned for when they are done."""
    planned = None
    if study.state == Study.State.PAUSED:
        planned = PlannedClosing.objects.filter(study=study).select_related("asked_by").first()
    return {"at_work": at_work(study, at=at), "closes": planned}
