"""Which place an assessor may take next, under the study's design."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from math import ceil
from typing import Any

from django.db import transaction
from django.db.models import Case, Exists, F, Max, OuterRef, Q, QuerySet, Value, When

from annotate.assignments.design import Design, design_of
from annotate.assignments.topic_shares import begun_by, hold_share, is_shared_by_topic, open_to
from annotate.models import Assignment, Draft, Enrolment, Place, Task, TaskItem
from annotate.models.work import AssignmentQuerySet
from annotate.notices.notices import Kind, notify, without_work
from collection.judgments.compiled_sql import compiled
from collection.judgments.inserting import update_row
from collection.models import AnswerToRevise, Judgment, Rater, Study

_random = random.SystemRandom()
# A task that was claimed ahead goes, after so long, to whoever else has nothing left.
AHEAD_FOR = timedelta(minutes=2)


def take_place(*, study: Study, rater: Rater, enrolment: Enrolment, at: datetime) -> Place | None:
    """Seat the rater at the next place for them, and return it. None: there is none for them now.

    Many raters at once pass by one another's locked places; SQLite, which has no such locks, lets one
    transaction in at a time.
    """
    design, by_topic = design_of(study), is_shared_by_topic(study)
    full = quota_is_full(study, rater, design)
    if full and not design.control_share and not by_topic:
        return None
    if by_topic:
        Study.objects.select_for_update().get(pk=study.pk)  # nobody begins the same share meanwhile
    start = start_of(enrolment, design)
    place = lock_next(study, rater, design, start, only_begun=full)
    while place is None and release_next_batch(study, at=at):
        place = lock_next(study, rater, design, start, only_begun=full)
    if place is not None:
        if by_topic:
            hold_share(place, rater)
        place.holder = rater
        update_row(Place, place.pk, {"holder": rater.pk})
    return place


def lock_next(study: Study, rater: Rater, design: Design, start: int, *, only_begun: bool) -> Place | None:
    by_topic = is_shared_by_topic(study)
    lock = _lock_of(even=design.even, only_begun=only_begun, from_start=bool(start), by_topic=by_topic)
    place = next(iter(lock(study=study.pk, rater=rater.pk, start=start, batch=released(study))), None)
    if not design.control_share:
        return place
    control = next_control(study, rater, start)
    if control is None or (place is not None and turn_of(place.task, start) < turn_of(control, start)):
        return place
    Task.objects.select_for_update().get(pk=control.pk)
    last = control.places.aggregate(last=Max("number"))["last"] or 0
    return Place.objects.create(task=control, number=last + 1)


@cache
def _lock_of(*, even: bool, only_begun: bool, from_start: bool, by_topic: bool) -> Callable[..., list[Place]]:
    """Return the query, compiled once for each shape of a design, that locks the next free place for a rater."""

    @compiled
    def lock(*, study: int, rater: int, start: int, batch: int) -> QuerySet[Place]:
        places = _free_places(
            study,
            rater,
            start if from_start else 0,
            even=even,
            only_begun=only_begun,
            by_topic=by_topic,
            batch=batch,
            free=NOBODYS,
        )
        return places.select_for_update(of=("self",), skip_locked=True)[:1]

    return lock


def turn_of(task: Task, start: int) -> tuple[bool, int]:
    """Where the task comes in the round of an assessor who starts at this position."""
    return task.position < start, task.position


# --- What may be taken --------------------------------------------------------------------------


NOBODYS = Q(holder=None)


def vacant(studies: Iterable[Study], *, but_of: Rater, at: datetime) -> Q:
    """Places that somebody who asks may get: nobody's, and those that their assessors left alone or hold ahead."""
    places = NOBODYS
    for study in studies:
        # Found once, not place by place.
        places |= Q(pk__in=held_ahead(study=study, at=at).exclude(rater=but_of).values("place"))
        if limit := left_alone_since(study, at=at):
            left_alone = Assignment.objects.filter(place=OuterRef("pk"), touched_at__lt=limit).open()
            places |= Q(Exists(left_alone.exclude(rater=but_of)), task__study=study)
    return places


def held_ahead(*, study: Study, at: datetime) -> AssignmentQuerySet:
    """Return what was claimed a while ago behind a task that its assessor is still at, and nothing is saved of."""
    before = Q(opened_at__lt=OuterRef("opened_at")) | Q(opened_at=OuterRef("opened_at"), pk__lt=OuterRef("pk"))
    at_work = Assignment.objects.filter(before, task__study=study, rater=OuterRef("rater"), set_aside_at=None).open()
    judged = Judgment.objects.filter(item__asked__assignment=OuterRef("pk"), rater=OuterRef("rater"))
    drafted = Draft.objects.filter(assignment=OuterRef("pk"))
    claimed = Assignment.objects.filter(task__study=study, opened_at__lte=at - AHEAD_FOR, set_aside_at=None).open()
    return claimed.filter(Exists(at_work), ~Exists(judged), ~Exists(drafted))


def left_alone_since(study: Study, *, at: datetime) -> datetime | None:
    """Return since when a task must be untouched to go to somebody else; None: it never does."""
    minutes = design_of(study).timeout_minutes
    return at - timedelta(minutes=minutes) if minutes else None


def free_places(
    *,
    study: Study,
    rater: Rater,
    start: int = 0,
    only_begun: bool = False,
    batch: int | None = None,
    free: Q = NOBODYS,
) -> QuerySet[Place]:
    """Places that this rater may take now, in the order in which they are handed out to them.

    `only_begun` is for a rater whose quota is full: what everyone sees comes beside it, and so does the rest of a topic
    that they began where work is shared by topic. `batch` is the last one that is handed out, `free` which places
    count as free.
    """
    even, by_topic = design_of(study).even, is_shared_by_topic(study)
    batch = batch or released(study)
    return _free_places(
        study.pk, rater.pk, start, even=even, only_begun=only_begun, by_topic=by_topic, batch=batch, free=free
    )


def _free_places(
    study: int, rater: int, start: int, *, even: bool, only_begun: bool, by_topic: bool, batch: int, free: Q
) -> QuerySet[Place]:
    places = (
        Place.objects.filter(free, task__study=study, task__study__state=Study.State.OPEN)
        .filter(task__batch__lte=batch)
        .filter(offered_to(rater, task="task"))
        .select_related("task__topic", "task__report", "task__passage")
    )
    begun = [Case(When(begun_by(rater), then=Value(0)), default=Value(1))] if by_topic else []
    if only_begun:
        places = places.filter(Q(task__everyone=True) | (Q(begun_by(rater)) if by_topic else Q()))
    if by_topic:
        places = places.filter(task_by_task(open_to(rater)))
    turn = [*([after_the_start("task__position", start)] if start else []), F("task__position").asc()]
    if even:
        return places.order_by(*begun, "number", *turn)
    return places.order_by(*begun, *turn, "number")


def next_control(
    study: Study, rater: Rater, start: int = 0, *, batch: int | None = None, free: Q = NOBODYS
) -> Task | None:
    """Return the next task that everyone sees and that this rater has not had, where no place of it is free."""
    tasks = study.tasks.filter(everyone=True, study__state=Study.State.OPEN, batch__lte=batch or released(study))
    places = Place.objects.filter(free, task=OuterRef("pk"))
    order = [after_the_start("position", start), F("position").asc()]
    return tasks.filter(offered_to(rater, task="pk"), ~Exists(places)).order_by(*order).first()


def next_task(study: Study, rater: Rater, *, at: datetime) -> Task | None:
    """Return the task that this rater would be given if they asked now, without giving it.

    Asking also frees the places of those whose time has run out, and releases the next batch if it is due.
    """
    design = design_of(study)
    full = quota_is_full(study, rater, design)
    if full and not design.control_share and not is_shared_by_topic(study):
        return None
    enrolment = Enrolment.objects.filter(study=study, user=rater.user_id).first()
    start = (enrolment.start if enrolment else None) or 0
    free = vacant([study], but_of=rater, at=at)

    def next_up_to(batch: int) -> Task | None:
        places = free_places(study=study, rater=rater, start=start, only_begun=full, batch=batch, free=free)
        place = places.select_related("task__topic").first()
        control = next_control(study, rater, start, batch=batch, free=free) if design.control_share else None
        offered = [task for task in (place.task if place else None, control) if task is not None]
        return min(offered, key=lambda task: turn_of(task, start), default=None)

    task = next_up_to(batch := released(study))
    if task is None and (later := due(study)) > batch:
        task = next_up_to(later)
    return task


def offered_to(rater: Rater | int, *, task: str) -> Q:
    """Tasks that the rater has not had, and whose report, if they wait for one, the rater has submitted.

    Nobody is offered an answer of their own to revise, nor a task of which everything was masked.
    """
    mine = Assignment.objects.filter(rater=rater)
    after = "after" if task == "pk" else f"{task}__after"
    submitted_before = mine.filter(task=OuterRef(after), state=Assignment.State.SUBMITTED)
    unknown = ~Q(Exists(mine.filter(task=OuterRef(task)))) & ~Q(Exists(own_answers(rater, task=task)))
    is_offered = task_by_task(unknown & Q(Exists(still_asked(task=task))))
    return is_offered & (Q(**{after: None}) | Q(Exists(submitted_before)))


def task_by_task(condition: Q) -> Q:
    """Have the condition looked up for each task as it comes.

    PostgreSQL would make joins of it, and go through all tasks of a study, many times, to hand out one.
    """
    return Q(Case(When(condition, then=Value(value=True)), default=Value(value=False)))


def still_asked(*, task: str) -> QuerySet[TaskItem]:
    """Items of the task whose rubric element is not masked."""
    return TaskItem.objects.filter(task=OuterRef(task)).exclude(item__element__masked=True)


def emptied_tasks(studies: Iterable[Study]) -> QuerySet[Task, Any]:
    """Return the tasks of which everything was masked: they are handed out no more, and nobody waits for them."""
    with_masked = Task.objects.filter(study__in=list(studies), items__element__masked=True).order_by()
    return with_masked.exclude(Exists(still_asked(task="pk"))).values("pk")


def own_answers(rater: Rater | int, *, task: str) -> QuerySet[AnswerToRevise]:
    """Answers of this rater that the task asks somebody to revise."""
    return AnswerToRevise.objects.filter(item__task_item__task=OuterRef(task), writer=rater)


def after_the_start(position: str, start: int) -> Case:
    """Order what stands at or after the start before what stands before it."""
    return Case(When(**{f"{position}__gte": start}, then=Value(0)), default=Value(1))


# --- Quotas, rounds and batches -------------------------------------------------------------------


def quota_is_full(study: Study, rater: Rater, design: Design) -> bool:
    """Whether this rater holds as many tasks as the design grants one assessor."""
    left = left_of_quota(study, rater, design)
    return left is not None and left <= 0


def left_of_quota(study: Study, rater: Rater, design: Design) -> int | None:
    """Return how many tasks this rater may still get beside those that everyone sees; None: no limit."""
    quota = quota_of(study, design)
    if quota is None:
        return None
    held = Assignment.objects.filter(task__study=study, rater=rater).exclude(state=Assignment.State.RETURNED)
    return quota - held.filter(task__everyone=False).count()


def quota_of(study: Study, design: Design) -> int | None:
    """Return the most tasks that one assessor gets beside those that everyone sees; None: no limit."""
    limits = [design.quota] if design.quota else []
    if design.even:
        people = study.enrolments.filter(left_at=None).count()
        places = Place.objects.filter(task__study=study, task__everyone=False).count()
        limits.append(ceil(places / max(people, 1)))
    return min(limits, default=None)


def start_of(enrolment: Enrolment, design: Design) -> int:
    """Return where this assessor's round starts, drawn once and stored."""
    if not design.own_order:
        return 0
    if enrolment.start is None:
        last = Task.objects.filter(study=enrolment.study_id).aggregate(last=Max("position"))["last"] or 0
        leading = Task.objects.filter(study=enrolment.study_id, after=None, position__lte=_random.randint(0, last))
        enrolment.start = leading.aggregate(last=Max("position"))["last"] or 0
        enrolment.save(update_fields=["start"])
    return enrolment.start


def released(study: Study) -> int:
    """Return the number of the last batch that is handed out."""
    return study.released_batch


def due(study: Study) -> int:
    """Return the number of the last batch that is handed out to whoever asks now."""
    batch = released(study)
    in_batches = design_of(study).batch_size is not None
    while in_batches and study.tasks.filter(batch__gt=batch).exists() and batch_is_done(study, batch):
        batch += 1
    return batch


@dataclass(frozen=True)
class Batches:
    """How many batches of a study's tasks there are, and how many are released."""

    released: int
    all: int

    @property
    def left(self) -> bool:
        return self.released < self.all

    @property
    def next(self) -> int:
        return self.released + 1


def batches_of(study: Study) -> Batches:
    last = study.tasks.aggregate(last=Max("batch"))["last"] or 1
    return Batches(released=min(released(study), last), all=last)


@transaction.atomic
def release_next_batch(study: Study, *, at: datetime, by_hand: bool = False) -> bool:
    """Release the next batch, if there is one and the one before is submitted or `by_hand`. Returns whether it was."""
    locked = Study.objects.select_for_update().get(pk=study.pk)
    batch = released(locked)
    if not locked.tasks.filter(batch__gt=batch).exists() or not (by_hand or batch_is_done(locked, batch)):
        return False
    locked.released_batch = study.released_batch = batch + 1
    locked.batches_released_at[str(batch + 1)] = at.isoformat()
    locked.save(update_fields=["released_batch", "batches_released_at"])
    if locked.state == Study.State.OPEN:
        notify(without_work(locked), study=locked, kind=Kind.NEW_WORK, at=at)
    return True


def batch_is_done(study: Study, batch: int) -> bool:
    """Whether every place of the batch's tasks, and of those before, is submitted."""
    places = Place.objects.filter(task__study=study, task__batch__lte=batch, task__everyone=False)
    submitted = Assignment.objects.filter(
        task__study=study, task__batch__lte=batch, task__everyone=False, state=Assignment.State.SUBMITTED
    )
    emptied = emptied_tasks([study])
    return submitted.exclude(task__in=emptied).count() >= places.exclude(task__in=emptied).count()
