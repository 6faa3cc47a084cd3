"""Servers that speak OpenAI's chat completions or completions: vLLM's first of all, one or many.

Each is asked first what it is and what it really honours (`judging.engines.server_probe`). The constraint is
sent in its own way, and the reply is still read by the strict rule of `judging.prompts.grade_parsing`.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

import httpx

from collection.http import TRANSIENT, Answer, Client, ReplyTooBig
from collection.models import Judgment
from judging.engines import PAID_REPLIES_MAY_TAKE, EngineState, EngineUnavailable, GradeRequest, LettingGo, Reply
from judging.engines.constraints import Endpoint, constraint_parameters, log_probability_parameters, sampling_parameters
from judging.engines.http import MOST_BYTES, Access, Place, post, wait_in_steps
from judging.engines.messages import completion_prompt, conversation, room_for
from judging.engines.pool import Member, Pool, Remember
from judging.engines.prefetch import Feed
from judging.engines.request_size import RequestSize
from judging.engines.responses import NotOneReplyEach, Question, read_answer
from judging.engines.server_probe import BEHIND, Findings, path_of
from judging.engines.thinking import MOST_ROOM, ROOM, SLOWEST, Thinking

# Prompts of one request together: a body that any server takes.
MOST_CHARACTERS = 1_000_000

TOO_MANY = 429
# A reply that ran out of tokens while the model was thinking is asked for once more, with so many times the room.
MORE = 2
# Tokens in which a server that ends the thinking itself writes that down.
END_OF_THINKING = 16
# So often it is asked whether somebody has paused or cancelled while nothing comes back.
LOOK_SECONDS = 0.2
# A batch takes along what comes so shortly behind its last request.
GATHER_SECONDS = 0.02

NO_SERVER = "No model server is configured that you may use. Add one (Judges, Model servers), or set JUDGE_BASE_URL."

# Of one turn.
MOST_THREADS = 256

Batch = Sequence[GradeRequest]
Replies = list[tuple[GradeRequest, Reply]]


class OpenAIEngine:
    """Sends prompts to the servers, many at a time, and repeats what failed for a passing reason."""

    def __init__(
        self,
        *,
        servers: Sequence[Access],
        model: str,
        decoding: Mapping[str, Any],
        timeout: float = 120.0,
        prompts_at_once: int = 32,
        attempts: int = 5,
        first_delay: float = 1.0,
        patience: float = 180.0,
        known: Mapping[Place, Findings] | None = None,
        remember: Remember | None = None,
    ) -> None:
        """`remember` is told what was learnt of a server."""
        if not servers:
            raise EngineUnavailable(NO_SERVER)
        self.model = model
        self.decoding = decoding
        self.endpoint: Endpoint = "completions" if decoding.get("endpoint") == "completions" else "chat"
        self.concurrency = min(sum(server.concurrency for server in servers), MOST_THREADS)
        self.timeout = timeout
        self.attempts = attempts
        self.first_delay = first_delay
        # Set at each use: researchers see and accept other names of the model while the engine is kept.
        self.other_names: Collection[str] | None = ()
        # Set at each use too: somebody waits for the replies.
        self.urgent = False
        self.pace = RequestSize(prompts_at_once)
        # Attempts that failed, by item: a turn may be over before the last of them.
        self.failed_attempts: dict[int, int] = {}

        def new_clients() -> list[Client]:
            return [server.client(timeout=timeout) for server in servers]

        self._new_clients = new_clients
        self.pool = Pool(
            list(zip(new_clients(), servers, strict=True)),
            model=model,
            endpoint=self.endpoint,
            timeout=timeout,
            decoding=decoding,
            first_delay=first_delay,
            patience=patience,
            known=known,
            remember=remember,
        )

    def state(self) -> EngineState:
        try:
            self.pool.look()
        except EngineUnavailable as error:
            return EngineState(available=False, reason=str(error))
        up = [member.findings for member in self.pool.members if member.up and member.findings is not None]
        if not up:
            return EngineState(available=False, reason=" ".join(member.problem for member in self.pool.members))
        server = up[0].server
        return EngineState(
            available=True,
            identity=server.identity,
            models=server.models,
            details={"kind": server.kind, "version": server.version, "context_length": server.context_length},
        )

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        """Hand on each reply as it comes, also while the next request is waited for: it may follow from a reply."""
        self.pool.look(stopping)
        with Feed(requests) as feed:
            yield from self._as_they_come(_Waiting(feed), stopping)

    def _as_they_come(self, waiting: _Waiting, stopping: Callable[[], bool]) -> Iterator[tuple[GradeRequest, Reply]]:
        gone: EngineUnavailable | None = None
        letting_go = LettingGo(stopping, seconds=PAID_REPLIES_MAY_TAKE)
        executor = ThreadPoolExecutor(self.concurrency, thread_name_prefix="judge")
        running: set[Future[Replies]] = set()
        try:
            while not letting_go.due():
                while len(running) < self.concurrency and gone is None and not stopping():
                    seconds = GATHER_SECONDS if running else LOOK_SECONDS
                    batch = waiting.next_batch(self._prompts_at_once(), first_within=seconds, by_text=self.pool.several)
                    if not batch:
                        break
                    running.add(executor.submit(self.replies_to, batch, stopping))
                if not running and (gone is not None or stopping() or waiting.ended):
                    break
                done, running = wait(running, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
                for future in done:
                    try:
                        yield from future.result()
                    except EngineUnavailable as error:
                        gone = error  # what is under way elsewhere is kept
        finally:
            if running:  # they keep their connections until they time out; whoever comes next has others
                self.pool.use(self._new_clients())
            executor.shutdown(wait=not running, cancel_futures=True)
        if gone is not None:
            raise gone

    def replies_to(self, batch: Batch, stopping: Callable[[], bool], before: Reply | None = None) -> Replies:
        """Send the prompts until all have a reply; fewer if told to stop meanwhile. Raises EngineUnavailable.

        A prompt whose reply ran out of tokens while the model was thinking is sent a second time, with more, alone:
        `before` is its first reply then.
        """
        problem, failed_at, findings = "", None, None
        began = time.perf_counter()
        while (tries := max(self.failed_attempts.get(request.item_id, 0) for request in batch)) < self.attempts:
            member = self._next_server(batch, failed_at, tries, stopping)
            if member is None or member.findings is None:
                return []
            findings, crowded = member.findings, False
            try:
                answer = self._send(batch, member, body := self._body(batch, findings, before))
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                # It is gone, not failing: that counts against our patience, not against the prompts.
                self.pool.lost(member, f"{member.address} cannot be reached: {error or type(error).__name__}.")
                failed_at = None
                continue
            except httpx.RequestError as error:
                problem = member.without_address(failure_in_words(error))
                self.pool.failed(member, f"{member.address}: {problem}")
            except ReplyTooBig:
                self.pool.succeeded(member)
                problem = f"The reply is longer than {MOST_BYTES:,} bytes."
                if len(batch) == 1:
                    return self._given_up(batch, findings, began, problem)
            except BaseException:
                self.pool.failed(member, f"{member.address}: a reply could not be read.")
                raise
            else:
                if answer.status == 404 and not self.pool.still_serves(member):
                    failed_at = None
                    continue
                if answer.status not in TRANSIENT:
                    self.pool.succeeded(member)
                    if self.pool.adapt(member, answer, body):
                        continue
                    replies = self._read(batch, answer, self._asked(findings, began, body), stopping)
                    if before is None:
                        return [one for each in replies for one in self._with_more_room(each, stopping)]
                    return [(request, after(before, reply)) for request, reply in replies]
                problem = member.without_address(f"The server answered {answer.status}: {answer.excerpt}")
                crowded = answer.status == TOO_MANY or answer.rest is not None
                if answer.rest is None:
                    self.pool.failed(member, f"{member.address}: {problem}")
                else:
                    self.pool.rest(member, answer.rest)
            if len(batch) > 1 and not crowded:
                # One of them may be the reason, or they were too many for the time.
                self.pace.slow_down(len(batch))
                return self._in_halves(batch, stopping)
            failed_at = member
            for request in batch:
                self.failed_attempts[request.item_id] = tries + 1
        if before is not None:
            return self._final(batch, [before])
        assert findings is not None  # an attempt was made
        return self._given_up(batch, findings, began, f"{problem} Tried {self.attempts} times.")

    def _with_more_room(self, first: tuple[GradeRequest, Reply], stopping: Callable[[], bool]) -> Replies:
        request, reply = first
        return self.replies_to([request], stopping, reply) if reply.ran_out else [first]

    def _next_server(
        self, batch: Batch, failed_at: Member | None, tries: int, stopping: Callable[[], bool]
    ) -> Member | None:
        """Return the server to ask, after a pause if the only one failed; None where work shall stop."""
        if failed_at is not None and not self.pool.has_another(failed_at) and not self._pause(tries, stopping):
            return None
        return self.pool.take(stopping, avoid=failed_at, text=batch[0].text, urgent=self.urgent)

    def _asked(self, findings: Findings, began: float, body: Mapping[str, Any] | None = None) -> Question:
        sent = None if body is None else parameters_of(body)
        return Question(self.model, findings, time.perf_counter() - began, sent, self.other_names)

    def _given_up(self, batch: Batch, findings: Findings, began: float, problem: str) -> Replies:
        asked = self._asked(findings, began)
        return self._final(batch, [asked.engine_error(problem) for _ in batch])

    def _prompts_at_once(self) -> int:
        takers = [member.findings for member in self.pool.members if member.findings is not None]
        return self.pace.size if takers and all(findings.abilities.many for findings in takers) else 1

    def _body(self, batch: Batch, findings: Findings, before: Reply | None) -> dict[str, Any]:
        body = request_body(
            batch, model=self.model, endpoint=self.endpoint, findings=findings, decoding=self.decoding, before=before
        )
        return body if self.urgent or not findings.abilities.priority else {"priority": BEHIND} | body

    def _send(self, batch: Batch, member: Member, body: Mapping[str, Any]) -> Answer:
        began = time.perf_counter()
        answer = post(
            member.client,
            path_of(self.endpoint, many=len(batch) > 1),
            body,
            timeout=self.timeout + self._thinking_seconds(batch, member),
            most=MOST_BYTES * len(batch),
        )
        if answer.status == 200:
            self.pace.learn(len(batch), time.perf_counter() - began)
        return answer

    def _thinking_seconds(self, batch: Batch, member: Member) -> float:
        found = member.findings
        return 0.0 if found is None else MORE * room_to_think(batch[0], found, self.decoding) / SLOWEST

    def _read(self, batch: Batch, answer: Answer, asked: Question, stopping: Callable[[], bool]) -> Replies:
        try:
            return self._final(batch, read_answer(answer, batch, asked))
        except NotOneReplyEach:
            return self._in_halves(batch, stopping)

    def _final(self, batch: Batch, replies: Sequence[Reply]) -> Replies:
        for request in batch:
            self.failed_attempts.pop(request.item_id, None)
        return list(zip(batch, replies, strict=True))

    def _in_halves(self, batch: Batch, stopping: Callable[[], bool]) -> Replies:
        """Send the halves one after the other: whatever ails one prompt shall not cost the others their grade."""
        half = len(batch) // 2
        replies = self.replies_to(batch[:half], stopping)
        return replies if stopping() else replies + self.replies_to(batch[half:], stopping)

    def _pause(self, tries: int, stopping: Callable[[], bool]) -> bool:
        """Wait before another attempt, longer each time and never in step with others."""
        delay = self.first_delay * 2 ** (tries - 1)
        return wait_in_steps(min(delay, 30.0) * random.uniform(0.5, 1.0), stopping)  # noqa: S311


def failure_in_words(error: httpx.RequestError) -> str:
    """Say what became of a request that got no reply."""
    late = isinstance(error, httpx.TimeoutException)
    what = f"No reply in time ({type(error).__name__})" if late else f"The connection failed: {error}"
    return f"{what.rstrip('.')}."


class _Waiting:
    """Requests that are not sent yet, handed out in their order."""

    def __init__(self, feed: Feed[GradeRequest]) -> None:
        self._feed = feed
        self._here: deque[GradeRequest] = deque()

    @property
    def ended(self) -> bool:
        return self._feed.ended and not self._here

    def next_batch(self, most: int, *, first_within: float, by_text: bool) -> list[GradeRequest]:
        """Return up to so many that can be asked in one request: those with the same choices and room.

        `by_text`: and about the same text, which is for one of several servers.

        No batch waits until it is full: what is missing may follow from the replies to what is here.
        """
        while len(self._here) < most:
            came = self._feed.take(most - len(self._here), seconds=GATHER_SECONDS if self._here else first_within)
            if not came:
                break
            self._here += came
        batch: list[GradeRequest] = []
        characters = 0
        while self._here and len(batch) < most and characters < MOST_CHARACTERS:
            if batch and _asked_alike(self._here[0], by_text=by_text) != _asked_alike(batch[0], by_text=by_text):
                break
            batch.append(self._here.popleft())
            characters += len(batch[-1].prompt) + len(batch[-1].system)
        return batch


def _asked_alike(request: GradeRequest, *, by_text: bool) -> tuple[object, ...]:
    return request.choices, request.reply_tokens, request.sampling, request.text if by_text else ""


def request_body(
    batch: Batch,
    *,
    model: str,
    endpoint: Endpoint,
    findings: Findings,
    decoding: Mapping[str, Any],
    before: Reply | None = None,
) -> dict[str, Any]:
    """Return the body of one request for one prompt or many; all of them have the same choices.

    `before` is a reply that ran out of tokens while the model was thinking: this one gets more.
    """
    abilities, first = findings.abilities, batch[0]
    thinking = room_to_think(first, findings, decoding, before)
    body: dict[str, Any] = {
        "model": model,
        "temperature": decoding.get("temperature", 0),
        "max_tokens": room_to_reply(first, findings) + thinking,
    }
    if endpoint == "chat":
        conversations = [conversation(request) for request in batch]
        body["messages"] = conversations if len(batch) > 1 else conversations[0]
    else:
        prompts = [completion_prompt(request) for request in batch]
        body["prompt"] = prompts if len(batch) > 1 else prompts[0]
    if first.constrained:
        body |= constraint_parameters(abilities.constraint, first.choices)
        body |= log_probability_parameters(endpoint, 0 if thinking else abilities.log_probabilities)
    if "seed" in decoding:
        body["seed"] = decoding["seed"]
    if first.sampling is not None:
        body |= sampling_parameters(first.sampling, abilities.constraint)
    if thinking and abilities.budget:
        body[abilities.budget] = thinking
        body["max_tokens"] += END_OF_THINKING
    return abilities.dialect.spoken(body | dict(abilities.switch) | decoding.get("extra", {}))


def room_to_reply(request: GradeRequest, findings: Findings) -> int:
    """Return the tokens that a reply gets without its thinking."""
    return request.reply_tokens or room_for(request.choices, named=findings.abilities.constraint == "json_object")


def room_to_think(
    request: GradeRequest, findings: Findings, decoding: Mapping[str, Any], before: Reply | None = None
) -> int:
    """Return the tokens that a reply gets for thinking: MORE times as many where they did not do before."""
    abilities, context_length = findings.abilities, findings.server.context_length
    thinks = abilities.thinks if request.constrained else abilities.thinks_freely
    room = Thinking.of(decoding).room(thinks=thinks, context_length=context_length)
    if before is None:
        return room
    left = MOST_ROOM if context_length is None else context_length - (before.prompt_tokens or 0)
    left -= room_to_reply(request, findings) + (END_OF_THINKING if abilities.budget else 0)
    return max(room, min(MORE * (room or ROOM), left))


def parameters_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was sent beside the model's name and the texts."""
    return {name: value for name, value in body.items() if name not in {"model", "messages", "prompt"}}


def after(before: Reply | None, reply: Reply) -> Reply:
    """Return the reply with what the attempt before it took, if there was one: that is paid for too.

    Where the server took no second attempt, the first one stays.
    """
    if before is None:
        return reply
    if reply.ungraded in {Judgment.Ungraded.TOO_LONG, Judgment.Ungraded.ENGINE_ERROR}:
        return before
    return replace(
        reply,
        prompt_tokens=_sum(before.prompt_tokens, reply.prompt_tokens),
        completion_tokens=_sum(before.completion_tokens, reply.completion_tokens),
        cached_tokens=_sum(before.cached_tokens, reply.cached_tokens),
        thinking_tokens=_sum(before.thinking_tokens, reply.thinking_tokens),
    )


def _sum(first: int | None, second: int | None) -> int | None:
    return first if second is None else second + (first or 0)
