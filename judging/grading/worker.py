"""What a worker does when it is woken up: takes chunks of the job, asks for what is missing, writes it down.

A chunk is leased to one worker at a time; the unique constraint on completions is the proof that no
pair is graded twice, whatever else goes wrong. The engine works in a thread of its own, and chunks
follow one another without a gap, so that it never waits for the tables. Nor does the worker, where a
server keeps them: it reads and fills what comes next while that writes.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from django.db import DatabaseError
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils.timezone import now

from collection.models import Item, Judgment
from collection.texts.suspicious_texts import flag_items
from judging.data.items import with_texts
from judging.engines import Engine, EngineUnavailable, GradeRequest, Heard, Reply
from judging.engines.token_quotas import note_use
from judging.grading.completions import ReadReply, write_read_replies
from judging.grading.drift import KnownIdentities, judge_anchor_items
from judging.grading.engine_thread import LOOK_SECONDS, Asking, Clock, heard_at
from judging.grading.giving_way import is_to_end
from judging.grading.holders import holder_name
from judging.grading.jobs import WrongState, finish_if_done, limit_reached, pause_job
from judging.grading.leases import Lease, claim_chunk, finish_chunk
from judging.grading.notify import send_messages
from judging.grading.writer_thread import Storing
from judging.models import Completion, GradingChunk, GradingJob, Judge, TokenUse
from judging.prompts.pairwise import asking_both_orders, read_all
from judging.prompts.rendering import requests_for

logger = logging.getLogger(__name__)

# A turn is short, so that several jobs share the workers; a job that is alone keeps its worker for longer.
TURN_SECONDS = 15.0
LONGEST_TURN_SECONDS = 60.0
# Replies are written when there are so many, or when the oldest has waited so long.
WRITE_AFTER_REPLIES = 2_000
WRITE_AFTER_SECONDS = 1.0
# So many engine errors in a row pause the job: something is wrong that more requests will not mend.
ENGINE_ERRORS_IN_A_ROW = 20
# Of so many replies at most half may be ungraded.
LOOKED_BACK_ON = 100


def take_turn(
    *,
    job_id: int,
    generation: int,
    engine_for: Callable[[Judge], Engine],
    stopping: Callable[[], bool] = lambda: False,
    seconds: float = TURN_SECONDS,
) -> bool:
    """Grade chunk after chunk of the job for so long. Returns whether to come back for more.

    A job that cannot go on is paused with the reason. Errors of the database are raised: the job is
    then found stalled, and queued again.
    """
    job = (
        GradingJob.objects.active()
        .filter(pk=job_id, generation=generation)
        .select_related("judge__template", "judge__scale", "judge__rater", "criterion__scale")
        .first()
    )
    if job is None:
        return False
    try:
        turn = Turn(job, asking_both_orders(engine_for(job.judge), job.judge), stopping=stopping, seconds=seconds)
        turn.take()
    except DatabaseError:
        raise
    except Exception as error:
        if not isinstance(error, EngineUnavailable):
            logger.exception("Job %s cannot go on.", job.pk)
        reason = str(error) if isinstance(error, EngineUnavailable) else f"{type(error).__name__}: {error}"
        _pause(job, reason, GradingJob.Cause.ENGINE)
        return False
    if finish_if_done(job=job, at=now()):
        return False
    if turn.more and not _active(job).exists():
        _leave_to_those_sent_for_since(job)
        return False
    return turn.more


class Turn:
    """One worker's time with one job."""

    def __init__(
        self, job: GradingJob, engine: Engine, *, stopping: Callable[[], bool], seconds: float = TURN_SECONDS
    ) -> None:
        self.job = job
        self.engine = engine
        self.stopping = stopping
        self.seconds = seconds
        self.began = time.monotonic()
        self.until = self.began + seconds
        self.holder = holder_name()
        # The items of the chunks in hand that are not written yet, by chunk.
        self.held: dict[int, set[int]] = {}
        self.chunk_of: dict[int, int] = {}
        self.waiting: list[ReadReply] = []
        self.more = True
        self.known = KnownIdentities(job)
        self.new_identity = ""
        self.left_out: list[ReadReply] = []
        self.failures = Failures(job)
        self.stop: Callable[[], None] = lambda: None

    def take(self) -> None:
        """Ask and write until the time is over, nothing is left or the job is not to go on."""
        asking = Asking(self.engine, over=self.over, read=self.read, leaving=self.stopping, heard=self.heard)
        self.stop = self.failures.stop = asking.stop
        this_job = GradingJob.objects.filter(pk=self.job.pk)
        lease = Lease(
            self.job.chunks.all(),
            holder=self.holder,
            held=self.held,
            beat=lambda at: this_job.update(heartbeat_at=at),
        )
        with lease, Storing(self._write) as self.storing, ExitStack() as at_the_end:
            # The last named comes first, and each is done whatever became of those before: replies are paid for.
            at_the_end.callback(self._tick_off)
            at_the_end.callback(lambda: self._store(asking.replies(0)))
            at_the_end.callback(self._tick_off)
            at_the_end.callback(asking.close)
            self._go_on(asking)
        # What was in hand and is not done was given back: somebody has to take it again.
        self.more = self.more or bool(self.held)
        if self.new_identity:
            paid_for = [(row.prompt_tokens, row.completion_tokens) for row in self.left_out]
            note_use(self.job.judge, self.job.created_by, TokenUse.For.ANCHOR_CHECK, paid_for, at=now())
            judge_anchor_items(
                self.job,
                self.engine,
                identity=self.new_identity,
                pause=lambda reason: _pause(self.job, reason, GradingJob.Cause.DRIFT),
                stopping=self.stopping,
            )

    def read(self, request: GradeRequest, reply: Reply) -> ReadReply:
        """Read a reply, in the engine's thread."""
        row = completion_of(request, reply)
        self.failures.count(row)
        return row

    def heard(self) -> Heard:
        return heard_at(began=self.job.started_at, replied=self.job.replied_at)

    def over(self) -> bool:
        return self.stopping() or time.monotonic() >= self.until

    def _go_on(self, asking: Asking[ReadReply]) -> None:
        writing = Clock(WRITE_AFTER_SECONDS)
        while not asking.ended:
            if asking.hungry:
                requests = self._next_requests()
                if requests is None:
                    self.more = False
                    asking.no_more()
                else:
                    asking.ask(requests)
            if not asking.hungry and self.storing.written_within(LOOK_SECONDS):
                self._tick_off()
                self._look_around()
            in_a_hurry = asking.hungry or self.storing.under_way
            self._take_in(asking.replies(0 if in_a_hurry else WRITE_AFTER_SECONDS))
            if len(self.waiting) >= WRITE_AFTER_REPLIES or writing.due():
                self._tick_off()
                self._look_around()
                self._store()
                writing.again()
                self._stay_if_alone()
            if self.new_identity:
                asking.stop()
        if self.failures.many:
            self._tick_off()
            _pause(self.job, self.failures.many, self.failures.cause)

    def _next_requests(self) -> list[GradeRequest] | None:
        """Return what is missing of the next free chunk; None if there is no chunk any more."""
        chunk = claim_chunk(self.job, holder=self.holder, at=now())
        if chunk is None:
            return None
        items = missing_of(self.job, chunk)
        self.held[chunk.pk] = {item.pk for item in items}
        self.chunk_of |= dict.fromkeys(self.held[chunk.pk], chunk.pk)
        if not items:
            self._finish(chunk.pk)
        flag_items(items)
        return requests_for(self.job.judge, items)

    def _take_in(self, rows: Sequence[ReadReply]) -> None:
        """Take what was read to be written. Replies of a server that changed are left out: their pairs stay missing."""
        for row in rows:
            if self.known.good(row):
                self.waiting.append(row)
            else:
                self.new_identity = row.engine_identity
                self.left_out.append(row)

    def _store(self, rows: Sequence[ReadReply] = ()) -> None:
        """Begin to write these and all that waits."""
        self._take_in(rows)
        waiting, self.waiting = self.waiting, []
        if waiting:
            self.storing.begin(waiting)

    def _write(self, batch: Sequence[ReadReply]) -> None:
        """Write a batch, in the thread that stores."""
        write_read_replies(self.job, batch, at=now())

    def _tick_off(self) -> None:
        """Wait for the batch that is being written, if one is, and finish the chunks that it completes.

        A batch that failed is kept, and tried once more when the turn ends.
        """
        batch, error = self.storing.take_back()
        if error is not None:
            self.waiting = [*batch, *self.waiting]
            raise error
        for row in batch:
            chunk = self.chunk_of.pop(row.item_id, None)
            if chunk is not None:
                self.held[chunk].discard(row.item_id)
                if not self.held[chunk]:
                    self._finish(chunk)

    def _finish(self, chunk: int) -> None:
        del self.held[chunk]
        finish_chunk(chunk)

    def _look_around(self) -> None:
        """Stop if the job or its researcher has spent what they may, or if somebody paused it or cancelled it.

        A turn in whose place somebody waits for something else ends.
        """
        if reached := limit_reached(self.job, at=now()):
            _pause(self.job, *reached)
        if is_to_end():
            self.until = time.monotonic()
        try:
            self.job.replied_at = _active(self.job).values_list("replied_at", flat=True).get()  # to others too
        except GradingJob.DoesNotExist:
            self.stop()

    def _stay_if_alone(self) -> None:
        """Prolong the turn if nobody else has work: at each turn's end the engine runs empty for a moment."""
        at = time.monotonic()
        near_the_end = self.until - min(2 * WRITE_AFTER_SECONDS, self.seconds / 2)
        latest = self.began + LONGEST_TURN_SECONDS - self.seconds
        if near_the_end <= at < self.until and self.until < latest and not _others_wait(self.job):
            self.until += self.seconds


class Failures:
    """Counts what goes wrong, in the engine's thread, and stops it when that is too much: `many` then says why."""

    def __init__(self, job: GradingJob) -> None:
        self.job = job
        self.many = ""
        self.cause = GradingJob.Cause.ENGINE
        self.stop: Callable[[], None] = lambda: None
        self._in_a_row = 0
        self._last: deque[str] = deque(maxlen=LOOKED_BACK_ON)

    def count(self, row: ReadReply) -> None:
        """Stop at so many errors in a row, or if most of the last replies are ungraded and nobody said to go on."""
        self._in_a_row = self._in_a_row + 1 if row.ungraded == Judgment.Ungraded.ENGINE_ERROR else 0
        if self._in_a_row == ENGINE_ERRORS_IN_A_ROW:
            self.many = f"{self._in_a_row} engine errors in a row, the last: {row.error}"
            self.stop()
        self._last.append(row.ungraded)
        if self.many or not row.ungraded or self.job.goes_on_ungraded or len(self._last) < LOOKED_BACK_ON:
            return
        kinds = Counter(kind for kind in self._last if kind)
        if 2 * kinds.total() > LOOKED_BACK_ON:
            listed = ", ".join(f"{count} {Judgment.Ungraded(kind).label}" for kind, count in kinds.most_common())
            self.many = (
                f"Of the last {LOOKED_BACK_ON} replies {kinds.total()} are ungraded ({listed}), the last: {row.error}"
            )
            self.cause = GradingJob.Cause.UNGRADED
            self.stop()


def left_of(job: GradingJob, chunk: GradingChunk) -> QuerySet[Item]:
    """Return the chunk's items that miss this attempt's completion.

    Each is looked up by itself: the index leads to it. Asked about all of them at once, PostgreSQL, which knows
    nothing of a judge that just began, reads everything that the judge has done so far, for every chunk again.
    """
    done = Completion.objects.filter(
        judge=job.judge_id, criterion=job.criterion_id, item=OuterRef("pk"), attempt=job.attempt
    )
    return Item.objects.filter(pk__in=chunk.item_ids).alias(done=Subquery(done.values("pk")[:1])).filter(done=None)


def missing_of(job: GradingJob, chunk: GradingChunk) -> list[Item]:
    """Return the same in the chunk's order, with all that a prompt needs; each text is read once."""
    by_key = {item.pk: item for item in with_texts(left_of(job, chunk))}
    return [by_key[pk] for pk in chunk.item_ids if pk in by_key]


def completion_of(request: GradeRequest, reply: Reply) -> ReadReply:
    """Read the reply and return what is stored of it."""
    reading, other_order = read_all(request, reply)
    return ReadReply(
        item_id=request.item_id,
        grade=reading.grade,
        ungraded=reading.ungraded,
        reply=reply.text,
        error=reading.error,
        finish_reason=reply.finish_reason,
        score=reply.score,
        log_probabilities=dict(reply.log_probabilities) if reply.log_probabilities else None,
        expected_grade=reading.expected_grade,
        entropy=reading.entropy,
        prompt_tokens=reply.prompt_tokens,
        cached_tokens=reply.cached_tokens,
        completion_tokens=reply.completion_tokens,
        seconds=reply.seconds,
        engine_identity=reply.identity,
        other_order=other_order,
        cut_texts=dict(request.cut) or None,
        thinking=reply.thinking,
        thinking_tokens=reply.thinking_tokens,
        sent=dict(reply.sent) if reply.sent else None,
    )


def _active(job: GradingJob) -> QuerySet[GradingJob]:
    return GradingJob.objects.active().filter(pk=job.pk, generation=job.generation)


def _leave_to_those_sent_for_since(job: GradingJob) -> None:
    """Send for workers again if the job was queued anew: those who came before found its chunks in our hands."""
    anew = GradingJob.objects.active().filter(pk=job.pk).select_related("judge").first()
    if anew:
        send_messages(anew)


def _others_wait(job: GradingJob) -> bool:
    return GradingJob.objects.active().exclude(pk=job.pk).exists()


def _pause(job: GradingJob, reason: str, cause: GradingJob.Cause) -> bool:
    """Pause the job; returns whether it was this call that did."""
    try:
        pause_job(job=job, reason=reason, cause=cause)
    except WrongState:
        logger.info("Job %s is no longer active.", job.pk)
        return False
    return True
