"""What a server is, and what it really does with a constraint, log-probabilities and lists of prompts.

A server answers 200 to a parameter that it does not know, and ignores it. So it is asked a question that
provokes another reply than the two that are allowed: only a constraint that is honoured gives one of them.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

import httpx

from collection.http import TRANSIENT, Answer, Client, ReplyTooBig, as_object, storable
from judging.engines import EngineUnavailable
from judging.engines.answers import cached_tokens, choices_of, count_of, text_of, thinking_tokens, tokens_of
from judging.engines.constraints import (
    IN_JSON,
    Constraint,
    Endpoint,
    constraint_parameters,
    log_probability_parameters,
    unwrapped,
)
from judging.engines.dialect import Dialect, refusal_in
from judging.engines.http import get_json, post, shown
from judging.engines.log_probabilities import choice_log_probabilities, positions_of
from judging.engines.thinking import BUDGETS, OFF, ON, SLOWEST, Thinking, split_message

Kind = Literal["vllm", "llama.cpp", "other"]

# No model says either of them when it is asked for an apple. Both are several tokens for any tokenizer.
ALLOWED = ("NO KEY POINT", "zephyr")
PROVOKING = "Say the word apple and nothing else."

# What a server says of itself is kept and shown, so much of it.
LONGEST_NAME = 300
MOST_MODELS = 1000

# A server that is busy gets another chance, after so many seconds and twice as many.
ATTEMPTS = 3
PAUSE = 0.5
# Tokens in which a model that thinks comes to a short reply, and so few that nobody thinks that little unbidden.
PROBE_ROOM = 2000
# What vLLM does after requests that say nothing (0): the lower goes first, with --scheduling-policy priority.
BEHIND = 1
SHORT_BUDGET = 16

# The ways that each kind of server may know, the likeliest first.
WAYS: Mapping[Kind, tuple[Constraint, ...]] = {
    "vllm": ("structured_outputs", "guided_choice", "response_format"),
    "llama.cpp": ("grammar", "response_format"),
    "other": ("response_format", "json_object", "structured_outputs", "grammar", "guided_choice"),
}
# How many log-probabilities of tokens to ask for. vLLM refuses more than 20; llama.cpp gives raw ones, so that
# the choices have to be found among many.
MOST_LOG_PROBABILITIES: Mapping[Kind, tuple[int, ...]] = {"vllm": (20, 5), "llama.cpp": (200, 20), "other": (20, 5)}


@dataclass(frozen=True)
class Server:
    """What a server says about itself. `context_length` and `weights` are those of the model that is asked about."""

    kind: Kind
    version: str
    models: tuple[str, ...]
    context_length: int | None = None
    weights: str = ""

    @property
    def identity(self) -> str:
        """Kind and version, as they are kept with every completion."""
        return f"{self.kind} {self.version}".strip()


@dataclass(frozen=True)
class Abilities:
    """What a server was seen to do with one model at one endpoint.

    `constraint` is the way in which it can be bound to the choices, empty if it ignores all we know.
    `log_probabilities` is how many a token may be asked for, 0 if none come. `found` says that those of all choices
    could be made of them when it was tried out, and they are `renormalised` where these sum to one under the
    constraint. `many` says that one request takes many prompts, and counts the tokens of all. `thinks`: its reply was
    seen to come after thinking, when it was sent `switch`, and `thinks_freely` where it was not bound. `budget` is
    what it calls a limit of that, which it kept. `priority`: a request may say that others go before it.
    """

    constraint: Constraint = ""
    log_probabilities: int = 0
    found: bool = False
    renormalised: bool = False
    many: bool = False
    reports_cache: bool = False
    thinks: bool = False
    thinks_freely: bool = False
    switch: Mapping[str, Any] = field(default_factory=dict)
    budget: str = ""
    priority: bool = False
    dialect: Dialect = field(default_factory=Dialect)

    @property
    def switch_as_json(self) -> str:
        """What it is sent about thinking, as JSON."""
        return json.dumps(self.switch)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Abilities:
        """Return what `asdict` made, also where it was through JSON. Raises KeyError and TypeError."""
        dialect = stored["dialect"]
        lists = {name: tuple(dialect[name]) for name in ("dropped", "sentences")}
        return cls(**{**stored, "dialect": Dialect(**{**dialect, **lists})})


@dataclass(frozen=True)
class Findings:
    """A server and its abilities, as they are remembered."""

    server: Server
    abilities: Abilities

    def as_dict(self) -> dict[str, Any]:
        """Return what a JSON field holds."""
        return {"server": asdict(self.server), "abilities": asdict(self.abilities)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Findings | None:
        """Return what `as_dict` wrote, None if it was written by another version of this program."""
        try:
            server, abilities = dict(stored["server"]), dict(stored["abilities"])
            if set(abilities) != {each.name for each in fields(Abilities)}:
                return None
            return cls(Server(**{**server, "models": tuple(server["models"])}), Abilities.from_dict(abilities))
        except (KeyError, TypeError):
            return None


def identify(client: Client, model: str = "", *, timeout: float = 10) -> Server:
    """Ask the server what it is and which models it serves. Raises EngineUnavailable, also if it lacks the model."""
    where = shown(str(client.base_url))
    try:
        listed = get_json(client, "/v1/models", timeout=timeout)
        rows = [row for row in _rows(listed) if isinstance(row, dict) and row.get("id")]
        if not rows:
            raise EngineUnavailable(
                f"{where}/v1/models lists no model. Is its key correct, and is this an OpenAI-compatible server?"
            )
        names = tuple(storable(str(row["id"])[:LONGEST_NAME]) for row in rows[:MOST_MODELS])
        row = next((row for row in rows if row["id"] == model), None)
        if model and row is None:
            raise EngineUnavailable(f"The server {where} has no model “{model}”; it serves {_some(names)}.")
        row = row or rows[0]
        version = get_json(client, "/version", timeout=timeout)
        if version and "version" in version:
            return Server(
                "vllm",
                storable(str(version["version"])[:LONGEST_NAME]),
                names,
                _whole(row.get("max_model_len")),
                _root(row),
            )
        props = get_json(client, "/props", timeout=timeout)
    except httpx.HTTPError as error:
        raise EngineUnavailable(
            f"No answer from {where}: {error or type(error).__name__}. Is the server running, and is its "
            "address correct?"
        ) from error
    if props and isinstance(props.get("default_generation_settings"), dict):
        context = props["default_generation_settings"].get("n_ctx")
        weights, build = (storable(str(props.get(key) or "")[:LONGEST_NAME]) for key in ("model_path", "build_info"))
        return Server("llama.cpp", build, names, _whole(context), weights)
    return Server("other", "", names, _whole(row.get("max_model_len")), _root(row))


def examine(
    client: Client,
    server: Server,
    *,
    model: str,
    endpoint: Endpoint = "chat",
    timeout: float = 60,
    decoding: Mapping[str, Any] | None = None,
    answers: list[Mapping[str, Any]] | None = None,
) -> Findings:
    """Try out what the server honours, in a handful of short requests, decoding as a judge does.

    Raises EngineUnavailable if it answers none, or does not think, or not stop to, as the judge wants. What it said is
    added to `answers`: each took tokens.
    """
    probe = _Probe(
        _Asking(client, timeout, [] if answers is None else answers), server, model, endpoint, decoding or {}
    )
    for switch in probe.thinking.ways:
        if (seen := probe.with_switch(switch)) is not None:
            return Findings(server, seen)
    raise EngineUnavailable(f"{shown(str(client.base_url))} {probe.problem}")


class _Thinks(Exception):
    """A reply that was given no room for it was thought about, or ended before it began."""


class _Probe:
    """Finds out what a server does with one model under a judge's decoding settings."""

    def __init__(
        self, ask: _Asking, server: Server, model: str, endpoint: Endpoint, decoding: Mapping[str, Any]
    ) -> None:
        self.ask = ask
        self.server = server
        self.model = model
        self.endpoint = endpoint
        self.decoding = decoding
        self.thinking = Thinking.of(decoding)
        self.switch: Mapping[str, Any] = {}
        # Tokens for thinking, and what is known of it once there are some.
        self.room = 0
        self.thinks_freely = False
        self.budget = ""
        self.priority = False

    @property
    def problem(self) -> str:
        """Why nothing was found, to follow the server's address."""
        said = f"It says: “{self.ask.sentence}”" if self.ask.sentence else "See its log."
        if not self.ask.answers:
            return f"lists “{self.model}”, but refuses every request to {path_of(self.endpoint)}. {said}"
        if self.thinking.mode == OFF:
            return (
                f"lets “{self.model}” think, however it is asked not to. Choose thinking as the server does by itself."
            )
        if self.thinking.mode == ON:
            return f"does not let “{self.model}” think, however it is asked to. Choose another model or thinking off."
        return f"refuses to let “{self.model}” think with {self.thinking.mode} effort. {said}"

    def with_switch(self, switch: Mapping[str, Any]) -> Abilities | None:
        """Return what the server does when it is asked to think or not in this way; None if it takes no notice."""
        self.switch, self.room, self.thinks_freely, self.budget = switch, 0, False, ""
        if not self.thinking.wanted:
            try:
                seen = self._first_way(WAYS[self.server.kind])
                return None if seen is None else self._left_free(seen)
            except _Thinks:
                if self.thinking.mode == OFF:
                    return None
        free = self._free()
        self.thinks_freely = _thinks(free)
        if free is None or (self.thinking.mode == ON and not self.thinks_freely):
            return None
        self.budget = self._budget(_thought_for(free)) if self.thinks_freely else ""
        seen = self._first_way(WAYS[self.server.kind])
        return seen and replace(seen, thinks_freely=self.thinks_freely, budget=self.budget, priority=self.priority)

    def _free(self) -> Mapping[str, Any] | None:
        """Return what the server says where nothing binds it, with room to think."""
        most = self.server.context_length
        self.room = PROBE_ROOM if most is None else min(PROBE_ROOM, most // 2)
        path, asked = path_of(self.endpoint), self._question("", 0)
        # One that schedules by arrival refuses it, or takes no notice. Other makes have the opposite order.
        said = self.ask(path, asked | {"priority": BEHIND}) if self.server.kind == "vllm" else None
        self.priority = said is not None
        return self.ask(path, asked) if said is None else said

    def _left_free(self, seen: Abilities) -> Abilities | None:
        """Add what the server does where it is not bound; a constraint from the first token on hides that it thinks.

        Raises _Thinks where it knows no constraint, and thinks.
        """
        thinks = _thinks(self._free())
        if thinks and not seen.constraint:
            raise _Thinks
        return (
            None
            if thinks and self.thinking.mode == OFF
            else replace(seen, thinks_freely=thinks, priority=self.priority)
        )

    def _first_way(self, ways: Sequence[Constraint]) -> Abilities | None:
        for way in (*ways, ""):
            seen = self._try_way(way)
            if seen is not None:
                return seen
            if self.ask.refused in self.switch:
                return None
        return None

    def _try_way(self, way: Constraint) -> Abilities | None:
        """Return what the server does when it is bound in this way, or None if it refuses or ignores it."""
        for many in (0,) if self.room else (*MOST_LOG_PROBABILITIES[self.server.kind], 0):
            said = self.ask(path_of(self.endpoint), self._question(way, many))
            choices = choices_of(said)
            if said is None or not choices:
                continue  # refused: perhaps because of the log-probabilities
            thinks, reply = thought_about(choices[0], said)
            if thinks and not self.room:
                raise _Thinks
            if way and (unwrapped(reply, way) not in ALLOWED or (self.thinks_freely and not thinks)):
                return None  # one that binds from the first token on lets nobody think
            found = choice_log_probabilities(ALLOWED, positions_of(choices[0]), quoted=way in IN_JSON)
            return Abilities(
                constraint=way,
                log_probabilities=many if positions_of(choices[0]) else 0,
                found=found is not None,
                renormalised=found is not None and abs(sum(map(math.exp, found.values())) - 1) < 0.01,
                many=not self.room and self._takes_many(said, way),
                reports_cache=cached_tokens(said) is not None,
                thinks=thinks,
                switch=dict(self.switch),
                dialect=self.ask.dialect,
            )
        return None

    def _question(self, way: Constraint, many: int) -> dict[str, Any]:
        asked: dict[str, Any] = (
            {"messages": [{"role": "user", "content": PROVOKING}]} if self.endpoint == "chat" else {"prompt": PROVOKING}
        )
        return {
            "model": self.model,
            "temperature": self.decoding.get("temperature", 0),
            **({"seed": self.decoding["seed"]} if "seed" in self.decoding else {}),
            "max_tokens": 40 + self.room,
            **asked,
            **constraint_parameters(way, ALLOWED),
            **log_probability_parameters(self.endpoint, many),
            **self.switch,
            **({self.budget: self.room - 100} if self.budget else {}),
            **self.decoding.get("extra", {}),
        }

    def _takes_many(self, one: Mapping[str, Any], way: Constraint) -> bool:
        """Whether two prompts in one request get a reply each, under the constraint, and are counted both.

        llama.cpp counts the tokens of the first prompt alone: what a job read and wrote would be lost.
        """
        body = self._question(way, 0)
        body |= {"prompt": [PROVOKING] * 2} if self.endpoint == "completions" else {"messages": [body["messages"]] * 2}
        two = self.ask(path_of(self.endpoint, many=True), body)
        choices = choices_of(two)
        honoured = all(unwrapped(text_of(choice), way) in ALLOWED for choice in choices) if way else True
        counted = tokens_of(two)[0] == 2 * tokens_of(one)[0]
        return sorted(str(choice.get("index")) for choice in choices) == ["0", "1"] and honoured and counted

    def _budget(self, took: int) -> str:
        """Return what the server calls a limit of thinking that it keeps; nothing where it was not seen to keep one.

        `took` are the tokens that it thinks for without one.
        """
        name = BUDGETS.get(self.server.kind, "")
        if not name or self.endpoint != "chat" or took <= 3 * SHORT_BUDGET:
            return ""
        kept = self.ask(path_of(self.endpoint), self._question("", 0) | {name: SHORT_BUDGET})
        return name if 0 < _thought_for(kept) <= 3 * SHORT_BUDGET else ""


@dataclass
class _Asking:
    """Asks a server in the dialect that it was seen to want, and keeps what it said."""

    client: Client
    timeout: float
    answers: list[Mapping[str, Any]]
    dialect: Dialect = field(default_factory=Dialect)
    # What its last refusal said, and the parameter that it named.
    sentence: str = ""
    refused: str = ""

    def __call__(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return what the server said, None if it refused. Raises EngineUnavailable if it cannot answer now."""
        while True:
            spoken = self.dialect.spoken(body)
            answer = self._answer(path, spoken)
            if answer is None:
                return None
            if answer.status == 200:
                said = as_object(answer.content)
                self.answers.extend([] if said is None else [said])
                return said
            self.sentence, self.refused = refusal_in(answer, spoken)
            adapted = self.dialect.adapted(answer, spoken)
            if adapted is None:
                return None
            self.dialect = adapted

    def _answer(self, path: str, body: Mapping[str, Any]) -> Answer | None:
        """Return the answer that did not fail for a passing reason; None for one that is too big."""
        where = shown(str(self.client.base_url))
        tokens = body.get(self.dialect.cap, 0)
        for attempt in range(ATTEMPTS):
            try:
                answer = post(self.client, path, body, timeout=self.timeout + tokens / SLOWEST)
            except ReplyTooBig:
                return None
            except httpx.RequestError as error:
                raise EngineUnavailable(
                    f"{where} did not answer a short request: {error or type(error).__name__}."
                ) from error
            if answer.status not in TRANSIENT:
                return answer
            time.sleep(PAUSE * 2**attempt if answer.rest is None else min(answer.rest, 5.0))
        raise EngineUnavailable(f"{where} answers {answer.status} to every request: {answer.excerpt}")


def _thinks(said: Mapping[str, Any] | None) -> bool:
    choices = choices_of(said)
    return bool(choices) and thought_about(choices[0], said or {})[0]


def _thought_for(said: Mapping[str, Any] | None) -> int:
    """Return the tokens of thinking, or where these are not counted of the reply."""
    return thinking_tokens(said or {}) or tokens_of(said)[1]


def thought_about(choice: Mapping[str, Any], said: Mapping[str, Any]) -> tuple[bool, str]:
    """Return whether a reply was thought about, as far as can be seen, and the reply.

    One that was cut off before it said anything was: some servers keep the thinking to themselves. One that ended and
    is filed as thinking, all of it, was not.
    """
    message = choice.get("message")
    try:
        thought, reply = split_message(message if isinstance(message, dict) else {"content": choice.get("text")})
    except TypeError:
        return False, ""
    if not reply.strip() and thought.strip() and choice.get("finish_reason") == "stop":
        return False, thought
    silent = choice.get("finish_reason") == "length" and not reply.strip()
    return bool(thought.strip() or thinking_tokens(said) or silent), reply


def path_of(endpoint: Endpoint, *, many: bool = False) -> str:
    """Return where such requests go. Only vLLM has a path for many conversations; completions take a list."""
    if endpoint == "completions":
        return "/v1/completions"
    return "/v1/chat/completions/batch" if many else "/v1/chat/completions"


def _rows(listed: Mapping[str, Any] | None) -> list[Any]:
    rows = (listed or {}).get("data")
    return rows if isinstance(rows, list) else []


def _root(row: Mapping[str, Any]) -> str:
    return storable(str(row.get("root") or "")[:LONGEST_NAME])


def _some(names: Sequence[str]) -> str:
    listed = ", ".join(names[:20])
    return f"{listed} and {len(names) - 20} more" if len(names) > 20 else listed


def _whole(value: object) -> int | None:
    return count_of(value) or None
