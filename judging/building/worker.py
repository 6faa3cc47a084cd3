"""What a worker does for a build when it is woken up: takes it in hand, asks the model, writes down what came.

A build is in the hands of one worker at a time, and a call is finished in one transaction with what it brought, so
nothing that has a reply is asked again, and nothing is lost but what was under way. Engine and leases are those of
grading jobs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.db import DatabaseError
from django.utils.timezone import now

from collection.models import Judgment
from judging.building.builds import advance, in_hand, pause, pause_if_spent, send_messages
from judging.building.calls import Received, request_of, store_replies, unfinished
from judging.engines import Engine, EngineUnavailable, GradeRequest, Heard, Reply
from judging.grading.engine_thread import Asking, heard_at
from judging.grading.giving_way import is_to_end
from judging.grading.jobs import WrongState
from judging.grading.worker import ENGINE_ERRORS_IN_A_ROW, TURN_SECONDS
from judging.models import Build

logger = logging.getLogger(__name__)

ASKED_AT_ONCE = 32
LOOK_SECONDS = 0.2


def take_turn(
    *,
    build_id: int,
    generation: int,
    engine_for: Callable[[Build], Engine],
    stopping: Callable[[], bool] = lambda: False,
    seconds: float = TURN_SECONDS,
) -> bool:
    """Write for so long, unless somebody else has the build in hand. Returns whether to come back for more.

    A build that cannot go on is paused with the reason. Errors of the database are raised: the build is then found
    stalled, and queued again.
    """
    build = Build.objects.active().filter(pk=build_id, generation=generation).first()
    if build is None:
        return False
    with in_hand(build) as holder:
        if not holder:
            return False
        more = _turn(build, holder, engine_for, stopping=stopping, seconds=seconds)
    if not more and (newer := Build.objects.active().filter(pk=build.pk).first()):
        send_messages(newer)  # who came for it meanwhile found it in our hands
    return more


def _turn(
    build: Build, holder: str, engine_for: Callable[[Build], Engine], *, stopping: Callable[[], bool], seconds: float
) -> bool:
    if pause_if_spent(build, at=now()):
        return False
    Build.objects.active().filter(pk=build.pk).update(state=Build.State.RUNNING, heartbeat_at=now())
    try:
        if not advance(build, at=now()):
            return False
        build.refresh_from_db(fields=["step"])  # the worker before may have ended between two steps
        turn = Turn(build, holder, engine_for(build), stopping=stopping, seconds=seconds)
        turn.take()
    except DatabaseError:
        raise
    except Exception as error:
        if not isinstance(error, EngineUnavailable):
            logger.exception("Build %s cannot go on.", build.pk)
        reason = str(error) if isinstance(error, EngineUnavailable) else f"{type(error).__name__}: {error}"
        _pause(build, reason, Build.Cause.ENGINE)
        return False
    return turn.goes_on and advance(build, at=now())


class Turn:
    """One worker's time with one build."""

    def __init__(
        self, build: Build, holder: str, engine: Engine, *, stopping: Callable[[], bool], seconds: float
    ) -> None:
        self.build = build
        self.this = Build.objects.active().filter(pk=build.pk, generation=build.generation, holder=holder)
        self.engine = engine
        self.stopping = stopping
        self.until = time.monotonic() + seconds
        self.asked: set[int] = set()
        self.failures_in_a_row = 0

    def take(self) -> None:
        """Ask and write until the time is over, the step has nothing left or the build is not to go on."""
        asking = Asking(self.engine, over=self._over, read=_received, leaving=self.stopping, heard=self._heard)
        try:
            self._go_on(asking)
        finally:
            # Whatever became of the turn: replies are paid for.
            try:
                asking.close()
            finally:
                self._store(asking.replies(0))

    @property
    def goes_on(self) -> bool:
        """Whether the build is to go on, and still in our hands."""
        return self.this.exists()

    def _go_on(self, asking: Asking[Received]) -> None:
        while not asking.ended:
            if asking.hungry and not self._more(asking) and not self.asked:
                asking.no_more()
            self._store(asking.replies(LOOK_SECONDS))
            if is_to_end():
                self.until = time.monotonic()
            if self.failures_in_a_row >= ENGINE_ERRORS_IN_A_ROW:
                asking.stop()
                _pause(self.build, f"{self.failures_in_a_row} engine errors in a row.", Build.Cause.ENGINE)
            elif not self.goes_on or pause_if_spent(self._fresh(), at=now()):
                asking.stop()

    def _more(self, asking: Asking[Received]) -> bool:
        """Ask for what is missing and not under way. Returns whether there was any."""
        calls = unfinished(self.build).exclude(pk__in=self.asked).order_by("pk")[:ASKED_AT_ONCE]
        self.asked.update(call.pk for call in calls)
        asking.ask([request_of(call) for call in calls])
        return bool(calls)

    def _store(self, received: list[Received]) -> None:
        if not received:
            return
        for one in received:
            failed = one.reply.ungraded == Judgment.Ungraded.ENGINE_ERROR
            self.failures_in_a_row = self.failures_in_a_row + 1 if failed else 0
        store_replies(self.build, received, at=now())
        self.asked.difference_update(one.call for one in received)

    def _fresh(self) -> Build:
        self.build.refresh_from_db(fields=["n_calls", "prompt_tokens", "completion_tokens", "replied_at"])
        return self.build

    def _heard(self) -> Heard:
        return heard_at(began=self.build.queued_at, replied=self.build.replied_at)

    def _over(self) -> bool:
        return self.stopping() or time.monotonic() >= self.until


def _received(request: GradeRequest, reply: Reply) -> Received:
    return Received(request.item_id, reply)


def _pause(build: Build, reason: str, cause: str) -> None:
    try:
        pause(build, reason=reason, cause=cause)
    except WrongState:
        logger.info("Build %s is no longer active.", build.pk)
