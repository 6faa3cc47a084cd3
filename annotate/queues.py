"""What an assessor's queue shows: their studies, what is in hand, what comes next, what was submitted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotate.models import Assignment, Place, Task
from annotate.services.work import free_places
from collection.models import Guideline, Rater, Study, User

RECENT = 10


@dataclass(frozen=True)
class Queue:
    """One study as its assessor sees it. `left` counts the tasks that they may still be given."""

    study: Study
    in_hand: Assignment | None
    next_task: Task | None
    n_submitted: int
    n_left: int
    submitted: Sequence[Assignment]
    guideline: Guideline | None

    @property
    def n_all(self) -> int:
        return self.n_submitted + self.n_left + (1 if self.in_hand else 0)

    @property
    def is_done(self) -> bool:
        return self.in_hand is None and self.next_task is None


def queues_of(user: User, *, all_submitted: bool = False) -> list[Queue]:
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
    in_hand = {assignment.task.study_id: assignment for assignment in mine.open().order_by("-task__position")}
    submitted = _submitted(mine, all_submitted=all_submitted)
    n_submitted = Counter(
        mine.filter(state=Assignment.State.SUBMITTED).values_list("task__study", flat=True).order_by()
    )
    n_left = _tasks_left(studies, rater)
    guidelines = {g.study_id: g for g in Guideline.objects.filter(study__in=studies).order_by("version")}
    return [
        Queue(
            study=study,
            in_hand=in_hand.get(study.pk),
            next_task=None if study.pk in in_hand else next_task(study, rater),
            n_submitted=n_submitted[study.pk],
            n_left=n_left.get(study.pk, 0),
            submitted=submitted[study.pk],
            guideline=guidelines.get(study.pk),
        )
        for study in studies
    ]


def next_task(study: Study, rater: Rater) -> Task | None:
    """Return the task that this rater would be given now."""
    place = free_places(study=study, rater=rater).select_related("task__topic").first()
    return place.task if place else None


def _submitted(mine: QuerySet[Assignment], *, all_submitted: bool) -> defaultdict[int, list[Assignment]]:
    by_study: defaultdict[int, list[Assignment]] = defaultdict(list)
    newest_first = mine.filter(state=Assignment.State.SUBMITTED).order_by("-submitted_at", "-pk")
    for assignment in newest_first if all_submitted else newest_first[:RECENT]:
        by_study[assignment.task.study_id].append(assignment)
    return by_study


def _tasks_left(studies: Sequence[Study], rater: Rater) -> dict[int, int]:
    """Count the tasks that have a free place for this rater, now or once the report before them is submitted."""
    had = Assignment.objects.filter(task=OuterRef("pk"), rater=rater)
    free = Place.objects.filter(task=OuterRef("pk"), holder=None)
    before_had = Assignment.objects.filter(task=OuterRef("after"), rater=rater)
    before_free = Place.objects.filter(task=OuterRef("after"), holder=None)
    reachable = (
        Q(after=None)
        | Exists(before_had.exclude(state=Assignment.State.RETURNED))
        | (Exists(before_free) & ~Exists(before_had))
    )
    tasks = Task.objects.filter(Exists(free), ~Exists(had), study__in=studies, study__state=Study.State.OPEN)
    counted = tasks.filter(reachable).values("study").annotate(n=Count("pk")).order_by()
    return {row["study"]: row["n"] for row in counted}
