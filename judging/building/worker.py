"""What a worker does for a build when it is woken up: leases calls, asks the model, writes down what came.

A call is leased to one worker at a time and finished in one transaction with what it brought, so nothing that has a
reply is asked again, and nothing is lost but what was under way. Engine and leases are those of grading jobs.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from django.db import DatabaseError
from django.utils.timezone import now

from collection.models import Judgment
from judging.building.builds import advance, pause, pause_if_spent, send_messages
from judging.building.calls import Received, claim, request_of, store_replies
from judging.engines import Engine, EngineUnavailable, GradeRequest, Reply
from judging.grading.engine_thread import Asking
from judging.grading.holders import holder_name
from judging.grading.jobs import WrongState
from judging.grading.leases import Lease
from judging.grading.worker import ENGINE_ERRORS_IN_A_ROW, PROCESS_TOKEN, TURN_SECONDS
from judging.models import Build, GenerationCall

logger = logging.getLogger(__name__)

CLAIMED_AT_ONCE = 32
LOOK_SECONDS = 0.2


def take_turn(
    *,
    build_id: int,
    generation: int,
    engine_for: Callable[[Build], Engine],
    stopping: Callable[[], bool] = lambda: False,
    seconds: float = TURN_SECONDS,
) -> bool:
    """Write for so long. Returns whether to come back for more.

    A build that cannot go on is paused with the reason. Errors of the database are raised: the build is then found
    stalled, and queued again.
    """
    build = Build.objects.active().filter(pk=build_id, generation=generation).first()
    if build is None or pause_if_spent(build, at=now()):
        return False
    Build.objects.active().filter(pk=build.pk).update(state=Build.State.RUNNING, heartbeat_at=now())
    try:
        if not advance(build, at=now()):
            return False
        build.refresh_from_db(fields=["step"])  # the worker before may have ended between two steps
        turn = Turn(build, engine_for(build), stopping=stopping, seconds=seconds)
        turn.take()
    except DatabaseError:
        raise
    except Exception as error:
        if not isinstance(error, EngineUnavailable):
            logger.exception("Build %s cannot go on.", build.pk)
        reason = str(error) if isinstance(error, EngineUnavailable) else f"{type(error).__name__}: {error}"
        _pause(build, reason, Build.Cause.ENGINE)
        return False
    if _is_active(build):
        # Where others have all that is left in hand, they go on with what follows it.
        return advance(build, at=now()) and turn.worked
    if newer := Build.objects.active().filter(pk=build.pk).first():
        send_messages(newer)  # whoever came before found its calls in our hands
    return False


class Turn:
    """One worker's time with one build."""

    def __init__(self, build: Build, engine: Engine, *, stopping: Callable[[], bool], seconds: float) -> None:
        self.build = build
        self.engine = engine
        self.stopping = stopping
        self.until = time.monotonic() + seconds
        self.holder = f"{holder_name(PROCESS_TOKEN)}:{threading.get_ident()}"
        self.held: dict[int, None] = {}
        self.worked = False
        self.failures_in_a_row = 0

    def take(self) -> None:
        """Ask and write until the time is over, the step has nothing left or the build is not to go on."""
        asking = Asking(self.engine, over=self._over, read=_received, leaving=self.stopping)
        this = Build.objects.filter(pk=self.build.pk)
        calls = GenerationCall.objects.filter(build=self.build)
        lease = Lease(calls, holder=self.holder, held=self.held, beat=lambda at: this.update(heartbeat_at=at))
        with lease:
            try:
                self._go_on(asking)
            finally:
                # Whatever became of the turn: replies are paid for.
                try:
                    asking.close()
                finally:
                    self._store(asking.replies(0))

    def _go_on(self, asking: Asking[Received]) -> None:
        while not asking.ended:
            if asking.hungry and not self._more(asking) and not self.held:
                asking.no_more()
            self._store(asking.replies(LOOK_SECONDS))
            if self.failures_in_a_row >= ENGINE_ERRORS_IN_A_ROW:
                asking.stop()
                _pause(self.build, f"{self.failures_in_a_row} engine errors in a row.", Build.Cause.ENGINE)
            elif not _is_active(self.build) or pause_if_spent(self._fresh(), at=now()):
                asking.stop()

    def _more(self, asking: Asking[Received]) -> bool:
        """Lease what is free, and ask for it. Returns whether there was any."""
        calls = claim(self.build, holder=self.holder, most=CLAIMED_AT_ONCE, at=now())
        self.held |= dict.fromkeys(call.pk for call in calls)
        asking.ask([request_of(call) for call in calls])
        self.worked = self.worked or bool(calls)
        return bool(calls)

    def _store(self, received: list[Received]) -> None:
        if not received:
            return
        for one in received:
            failed = one.reply.ungraded == Judgment.Ungraded.ENGINE_ERROR
            self.failures_in_a_row = self.failures_in_a_row + 1 if failed else 0
        store_replies(self.build, received, at=now())
        for one in received:
            self.held.pop(one.call, None)

    def _fresh(self) -> Build:
        self.build.refresh_from_db(fields=["prompt_tokens", "completion_tokens"])
        return self.build

    def _over(self) -> bool:
        return self.stopping() or time.monotonic() >= self.until


def _received(request: GradeRequest, reply: Reply) -> Received:
    return Received(request.item_id, reply)


def _is_active(build: Build) -> bool:
    return Build.objects.active().filter(pk=build.pk, generation=build.generation).exists()


def _pause(build: Build, reason: str, cause: str) -> None:
    try:
        pause(build, reason=reason, cause=cause)
    except WrongState:
        logger.info("Build %s is no longer active.", build.pk)
