"""The life of a build: started, paused, gone on with, done again from a step, cancelled, finished.

A build is the set of its calls without a reply. Messages in the broker only wake workers up; whatever happens to
them, what is missing can be read from the tables.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from celery import current_app
from django.db import transaction
from django.db.models import F, Q
from django.utils.timezone import now
from kombu.exceptions import OperationalError

from collection.models import Collection, User
from collection.signs_of_life import heard_of
from judging.building.calls import NO_REPLY, pipeline_of, plan, step_of, topics_of, unfinished
from judging.building.chain.asked import judge_of
from judging.building.drafts import Request, draft
from judging.building.prompt_files import BadPrompt, StepPrompt
from judging.building.sources import CannotBuild, check_new_run, usual_name
from judging.engines.token_quotas import QuotaSpent, check_quota, quota_for
from judging.grading.holders import holder_name
from judging.grading.jobs import JobLimits, LimitReached, WrongState
from judging.grading.leases import Lease, held, lapsed, take
from judging.grading.spending import spent
from judging.models import Build, GenerationCall

# What refuses a build, or to go on with it.
REFUSALS = (CannotBuild, BadPrompt, WrongState, LimitReached, QuotaSpent)

logger = logging.getLogger(__name__)

State = Build.State
PATIENCE = timedelta(seconds=45)


@transaction.atomic
def start_build(collection: Collection, asked: Request, *, by: User | None, at: datetime) -> Build:
    """Store the build with its first calls, and send for workers. Raises CannotBuild, BadPrompt and QuotaSpent."""
    build, _ = draft(collection, asked, by=by, at=at)
    judge = judge_of(build)
    for writer in (build, judge) if judge else (build,):
        check_quota(writer, by, at=at)
    build.save()
    if judge and not asked.run:
        check_new_run(collection, usual_name(build))
    plan(build, topics_of(build), at=at)
    send_messages(build)
    return build


# --- From step to step --------------------------------------------------------------------------


@transaction.atomic
def advance(build: Build, *, at: datetime) -> bool:
    """Go to the next step if this one has nothing left to ask. Returns whether there is something to ask now.

    A build that waits for review between its steps stays where it is until somebody goes on with it.
    """
    locked = Build.objects.select_for_update(no_key=True).get(pk=build.pk)
    topics: list[Any] | None = None
    while locked.active:
        if unfinished(locked).exists():
            return True
        topics = topics_of(locked) if topics is None else topics
        if plan(locked, topics, at=at):
            continue
        last = locked.step + 1 == len(pipeline_of(locked).steps)
        if last or locked.reviews_steps:
            _set(locked, state=State.DONE if last else State.REVIEW, finished_at=at if last else None, heartbeat_at=at)
            return False
        _set(locked, step=locked.step + 1)
        send_messages(locked)
    return False


def _set(build: Build, **values: Any) -> None:
    Build.objects.filter(pk=build.pk).update(**values)
    for name, value in values.items():
        setattr(build, name, value)


@transaction.atomic
def go_on(build: Build, *, limits: JobLimits | None = None, at: datetime) -> None:
    """Resume a paused build, under other limits if there are, or begin the next step of one that was reviewed.

    Raises WrongState, and LimitReached if what it may spend is spent.
    """
    locked = Build.objects.select_for_update().get(pk=build.pk)
    if locked.state not in (State.PAUSED, State.REVIEW):
        raise WrongState(f"This build is {locked.get_state_display()}: there is nothing to go on with.")
    changes: dict[str, Any] = asdict(limits) if limits else {}
    for name, value in changes.items():
        setattr(locked, name, value)
    if reached := spent(locked, quota_for(locked, locked.created_by, at=at), at=at):
        raise LimitReached(f"{reached[0]} Raise it to go on.")
    if locked.state == State.REVIEW:
        changes["step"] = locked.step + 1
    _queue(locked, at=at, **changes)
    build.refresh_from_db()
    advance(build, at=at)
    build.refresh_from_db()


@transaction.atomic
def do_again(
    build: Build,
    *,
    step: str,
    prompt: StepPrompt | None = None,
    kind: str = "",
    seed: int | None = None,
    at: datetime,
) -> None:
    """Do a step and those behind it again, with another prompt (of this kind of its calls) or seed if one is given.

    Calls of before are set aside with their products, unless they come out the same: then their replies are used.
    What was added to the collection stays there. Raises WrongState, CannotBuild and BadPrompt.
    """
    locked = Build.objects.select_for_update().get(pk=build.pk)
    if locked.active:
        raise WrongState("Pause the build first: a worker is at it.")
    names = [one.name for one in pipeline_of(locked).steps]
    if step not in names or names.index(step) > locked.step:
        raise CannotBuild(f"There is no step “{step}” that was begun.")
    number = names.index(step)
    if prompt is not None:
        slot = pipeline_of(locked).steps[number].slot(kind)
        if slot not in pipeline_of(locked).slots:
            raise CannotBuild(f"There is no prompt “{slot}”.")
        pipeline_of(locked).slots[slot].check(prompt)
        locked.prompts[slot] = prompt.as_stored()
    locked.calls.filter(step__in=names[number:]).update(set_aside=True)
    _queue(locked, at=at, step=number, prompts=locked.prompts, seed=locked.seed if seed is None else seed)
    build.refresh_from_db()
    advance(build, at=at)
    build.refresh_from_db()


@transaction.atomic
def ask_again(build: Build, *, at: datetime) -> int:
    """Ask once more for what the engine gave no reply to, in the step that is worked on. Returns how many calls.

    Raises WrongState.
    """
    locked = Build.objects.select_for_update().get(pk=build.pk)
    if locked.state == State.CANCELLED:
        raise WrongState("This build is cancelled.")
    failed = without_reply(locked)
    count: int = failed.update(finished_at=None, faults=[])
    if count:
        _queue(locked, at=at)
    build.refresh_from_db()
    return count


def without_reply(build: Build) -> Any:
    """Return the step's calls to which the engine gave no reply."""
    finished = build.calls.filter(step=step_of(build).name, set_aside=False, finished_at__isnull=False, reply="")
    keys = [pk for pk, faults in finished.values_list("pk", "faults") if faults and faults[0]["kind"] == NO_REPLY]
    return GenerationCall.objects.filter(pk__in=keys)


def pause(build: Build, *, reason: str = "", cause: str = "") -> None:
    """Pause the build; replies in progress are kept. Raises WrongState."""
    _move(build, Build.ACTIVE, "paused", state=State.PAUSED, reason=reason, pause_cause=cause)


def cancel(build: Build, *, at: datetime) -> None:
    """Never begin another call. What was written and accepted stays. Raises WrongState."""
    _move(build, [*Build.ACTIVE, State.PAUSED, State.REVIEW], "cancelled", state=State.CANCELLED, finished_at=at)


def _move(build: Build, states: Iterable[str], done: str, **values: object) -> None:
    """Change the state in one statement, so that of two who try one wins, and void the messages that are on the way."""
    moved = Build.objects.filter(pk=build.pk, state__in=list(states)).update(generation=F("generation") + 1, **values)
    build.refresh_from_db()
    if not moved:
        raise WrongState(f"This build is {build.get_state_display()}: it cannot be {done}.")


def _queue(build: Build, *, at: datetime, **changes: Any) -> None:
    build.generation += 1
    _set(
        build,
        generation=build.generation,
        state=State.QUEUED,
        queued_at=at,
        heartbeat_at=None,
        finished_at=None,
        reason="",
        pause_cause="",
        **changes,
    )
    send_messages(build)


def pause_if_spent(build: Build, *, at: datetime) -> bool:
    """Pause the build if it has reached a limit, or its researcher the quota. Returns whether it has."""
    reached = spent(build, quota_for(build, build.created_by, at=at), at=at)
    if reached is None:
        return False
    try:
        pause(build, reason=reached[0], cause=reached[1])
    except WrongState:
        logger.info("Build %s is no longer active.", build.pk)
    return True


# --- Workers ------------------------------------------------------------------------------------


@contextmanager
def in_hand(build: Build) -> Iterator[str]:
    """Hold the build while this lasts. Yields the holder's name; nothing where somebody else has it, who does the work.

    Who asks a model for a build, or does what follows it, holds it.
    """
    this, holder = Build.objects.filter(pk=build.pk), holder_name()
    if not take(this, holder=holder, at=now()):
        yield ""
        return
    with Lease(this, holder=holder, held={build.pk: None}, beat=lambda at: this.update(heartbeat_at=at)):
        yield holder


def send_messages(build: Build) -> None:
    """Wake a worker up when the transaction is through."""
    pk, generation, queue = build.pk, build.generation, build.queue
    transaction.on_commit(lambda: _send(pk, generation, queue))


def _send(pk: int, generation: int, queue: str | None) -> None:
    to: dict[str, Any] = {"queue": queue} if queue else {}
    try:
        current_app.send_task("judging.build", args=[pk, generation], retry=False, **to)
    except OperationalError:
        # The build is in the database; the next look for stalled ones sends them.
        logger.warning("The broker does not answer; build %s waits until it does.", pk, exc_info=True)


def requeue_stalled_builds(*, at: datetime, patience: timedelta = PATIENCE) -> list[Build]:
    """Send again for workers of builds whose messages or workers are lost, and of those that have tokens again."""
    requeued = []
    for build in Build.objects.active():
        this = Build.objects.filter(pk=build.pk)
        orphaned = this.filter(lapsed(at)).update(holder="", leased_until=None)
        heard = this.filter(held(at)).exists() or heard_of(
            build.queued_at, build.heartbeat_at, at=at, patience=patience
        )
        if heard and not orphaned:
            continue
        unchanged = Build.objects.active().filter(pk=build.pk, generation=build.generation)
        if unchanged.update(generation=F("generation") + 1, queued_at=at):
            build.refresh_from_db()
            send_messages(build)
            requeued.append(build)
    for build in Build.objects.filter(state=State.PAUSED, pause_cause=Build.Cause.QUOTA):
        if not spent(build, quota_for(build, build.created_by, at=at), at=at):
            go_on(build, at=at)
    return requeued


def reviewable(build: Build) -> Q:
    """Return which products may be decided about now: those of the step that is worked on, before the next begins."""
    return Q(step=step_of(build).name, call__set_aside=False)


def left_out_of(build: Build) -> Mapping[str, str]:
    """Return the topics that lacked what the pipeline needs, each with why."""
    left: Mapping[str, str] = build.options.get("left_out", {})
    return left
