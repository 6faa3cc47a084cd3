"""What grades: one small interface over a server, a small model of our own and a count of words.

An engine takes requests and gives replies as they come, in any order. It never reads a grade: that is
`judging.prompts.grade_parsing`, by one rule for all. `engine_of` finds the engine that a judge names.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from collection.retrieval.bm25_of_one_text import PoolStatistics


class EngineUnavailable(Exception):
    """The engine cannot grade anything now; the message says why and how to mend it."""


@dataclass(frozen=True)
class Sampling:
    """How free text is drawn. A server that can be bound to `schema`, which is JSON, is bound to it.

    `grammar` says the same more narrowly in GBNF; a server that takes grammars is bound to it instead.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    schema: str = ""
    grammar: str = ""


@dataclass(frozen=True)
class GradeRequest:
    """One item as an engine sees it.

    `prompt` is for a model that follows instructions. An engine that measures instead compares `query`
    (the question or the statement) with `text`. `choices` are the replies that are allowed, in the
    order of the scale, and `values` the grades they stand for. Where `reply_tokens` says how long the
    reply may be, it holds more than a choice, so no server is bound to the choices alone. `rule` and
    `mark` tell `judging.prompts.grade_parsing` where the grade stands. `swapped` is the same question with the two
    judged texts changed over: `judging.prompts.pairwise` asks it too. `cut` names the texts that were cut, with
    the code points that were kept. `impossible` says why there is nothing to ask; it is never sent. `pool` is what BM25
    knows of the study's passages, for the baseline alone that measures by it. `sampling` is how a text is drawn that is
    no grade: it takes the place of the judge's decoding. `thinks_for` is how many tokens of thinking may be paid for.
    """

    item_id: int
    choices: tuple[str, ...]
    query: str
    text: str
    prompt: str = ""
    system: str = ""
    values: tuple[float, ...] = ()
    rule: str = "first_line"
    mark: str = ""
    reply_tokens: int | None = None
    swapped: GradeRequest | None = None
    cut: tuple[tuple[str, int], ...] = ()
    impossible: str = ""
    pool: PoolStatistics | None = None
    sampling: Sampling | None = None
    thinks_for: int = 0

    @property
    def constrained(self) -> bool:
        """Whether the reply is one of the choices and nothing else, so that a server can be bound to them."""
        return self.reply_tokens is None


@dataclass(frozen=True)
class Reply:
    """What came back for one request. `ungraded` is a kind of `Judgment.Ungraded` if it never can be a grade.

    `thinking` is what the model thought first; its tokens are among those of the completion. `ran_out` says that
    nothing but thinking fit in. `sent` are the parameters of the request, without its texts; `answered_as` is the name
    under which a server replied that was asked for another.
    `swapped` is the reply to the request's `swapped`, put there by `judging.prompts.pairwise`; engines leave it alone.
    """

    text: str = ""
    ungraded: str = ""
    error: str = ""
    finish_reason: str = ""
    score: float | None = None
    log_probabilities: Mapping[str, float] | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float | None = None
    identity: str = ""
    thinking: str = ""
    thinking_tokens: int | None = None
    ran_out: bool = False
    sent: Mapping[str, Any] | None = None
    answered_as: str = ""
    swapped: Reply | None = None


@dataclass(frozen=True)
class EngineState:
    """Whether an engine can work here and now, what it is, and what it serves."""

    available: bool
    identity: str = ""
    reason: str = ""
    models: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Heard:
    """When a job began, or was resumed, and when a reply to it was last stored: on this process's monotonic clock."""

    began: float = float("-inf")
    replied: float = float("-inf")


@dataclass(frozen=True)
class Stopping:
    """Says when to begin no more, and apart from that when nobody waits for what is under way either.

    `heard` says how long a job has been without a reply, whose patience with servers that are gone counts from it.
    """

    begin_no_more: Callable[[], bool]
    at_once: Callable[[], bool]
    heard: Callable[[], Heard] | None = None

    def __call__(self) -> bool:
        return self.begin_no_more()


def at_once(stopping: Callable[[], bool]) -> bool:
    """Whether nobody waits for what is under way; where that is not told apart, not until nothing may begin."""
    return stopping.at_once() if isinstance(stopping, Stopping) else stopping()


class LettingGo:
    """Says when nobody waits for what is under way any more: so many seconds after `at_once(stopping)`."""

    def __init__(self, stopping: Callable[[], bool], *, seconds: float) -> None:
        self._stopping = stopping
        self._seconds = seconds
        self._since: float | None = None

    def due(self) -> bool:
        if self._since is None and at_once(self._stopping):
            self._since = time.monotonic()
        return self._since is not None and time.monotonic() - self._since >= self._seconds


# So long, in seconds, replies that are under way are waited for when somebody pauses or cancels: they may be paid for.
PAID_REPLIES_MAY_TAKE = 3.0


class Engine(Protocol):
    """What every engine can do. Its methods may be called from several threads."""

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        """Reply to each request once, unless `stopping` says to begin no more. Raises EngineUnavailable.

        An engine whose replies cost nothing but time may drop what is under way when `at_once(stopping)`, any other
        what is still under way PAID_REPLIES_MAY_TAKE after that.
        """
        ...

    def state(self) -> EngineState:
        """Say what the engine is and whether it can grade."""
        ...
