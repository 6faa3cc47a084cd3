"""What a server is, and what it really does with a constraint, log-probabilities and lists of prompts.

A server answers 200 to a parameter that it does not know, and ignores it. So it is asked a question that
provokes another reply than the two that are allowed: only a constraint that is honoured gives one of them.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import httpx

from collection.http import TRANSIENT, ReplyTooBig, as_object, storable
from judging.engines import EngineUnavailable, Sampling
from judging.engines.http import get_json, post, shown
from judging.engines.log_probabilities import choice_log_probabilities, positions_of

Kind = Literal["vllm", "llama.cpp", "other"]
Endpoint = Literal["chat", "completions"]
Constraint = Literal["structured_outputs", "grammar", "response_format", "guided_choice", ""]

# No model says either of them when it is asked for an apple. Both are several tokens for any tokenizer.
ALLOWED = ("NO KEY POINT", "zephyr")
PROVOKING = "Say the word apple and nothing else."

# What a server says of itself is kept and shown, so much of it.
LONGEST_NAME = 300
MOST_MODELS = 1000

# A server that is busy gets another chance, after so many seconds and twice as many.
ATTEMPTS = 3
PAUSE = 0.5

# The ways that each kind of server may know, the likeliest first.
WAYS: Mapping[Kind, tuple[Constraint, ...]] = {
    "vllm": ("structured_outputs", "guided_choice", "response_format"),
    "llama.cpp": ("grammar", "response_format"),
    "other": ("response_format", "structured_outputs", "grammar", "guided_choice"),
}
# How those that take a grammar are sent one.
GRAMMARS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "structured_outputs": lambda grammar: {"structured_outputs": {"grammar": grammar}},
    "guided_choice": lambda grammar: {"guided_grammar": grammar},
    "grammar": lambda grammar: {"grammar": grammar},
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
    constraint. `many` says that one request takes many prompts, and counts the tokens of all.
    """

    constraint: Constraint = ""
    log_probabilities: int = 0
    found: bool = False
    renormalised: bool = False
    many: bool = False
    reports_cache: bool = False


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
            if set(abilities) != {field.name for field in fields(Abilities)}:
                return None
            return cls(Server(**{**server, "models": tuple(server["models"])}), Abilities(**abilities))
        except (KeyError, TypeError):
            return None


def identify(client: httpx.Client, model: str = "", *, timeout: float = 10) -> Server:
    """Ask the server what it is and which models it serves. Raises EngineUnavailable, also if it lacks the model."""
    where = shown(str(client.base_url))
    try:
        listed = get_json(client, "/v1/models", timeout=timeout)
        rows = [row for row in _rows(listed) if isinstance(row, dict) and row.get("id")]
        if not rows:
            raise EngineUnavailable(
                f"{where}/v1/models lists no model. Is JUDGE_API_KEY correct, and is this an OpenAI-compatible server?"
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
            f"No answer from {where}: {error or type(error).__name__}. Is the server running, and is JUDGE_BASE_URL "
            "correct?"
        ) from error
    if props and isinstance(props.get("default_generation_settings"), dict):
        context = props["default_generation_settings"].get("n_ctx")
        weights, build = (storable(str(props.get(key) or "")[:LONGEST_NAME]) for key in ("model_path", "build_info"))
        return Server("llama.cpp", build, names, _whole(context), weights)
    return Server("other", "", names, _whole(row.get("max_model_len")), _root(row))


def examine(
    client: httpx.Client,
    server: Server,
    *,
    model: str,
    endpoint: Endpoint = "chat",
    timeout: float = 60,
    answers: list[Mapping[str, Any]] | None = None,
) -> Findings:
    """Try out what the server honours, in a handful of short requests. Raises EngineUnavailable if it answers none.

    What it said is added to `answers`: each took tokens.
    """
    ask = _Asking(client, timeout, [] if answers is None else answers)
    ways: tuple[Constraint, ...] = (*WAYS[server.kind], "")
    for way in ways:
        seen = _try_way(ask, server.kind, model=model, endpoint=endpoint, way=way)
        if seen is not None:
            return Findings(server, seen)
    raise EngineUnavailable(
        f"{shown(str(client.base_url))} lists “{model}”, but refuses every request to {path_of(endpoint)}. See its log."
    )


def _try_way(ask: _Asking, kind: Kind, *, model: str, endpoint: Endpoint, way: Constraint) -> Abilities | None:
    """Return what the server does when it is bound in this way, or None if it refuses or ignores it."""
    for many in (*MOST_LOG_PROBABILITIES[kind], 0):
        said = ask(path_of(endpoint), _question(model, endpoint, way, many))
        choices = choices_of(said)
        if said is None or not choices:
            continue  # refused: perhaps because of the log-probabilities
        if way and unwrapped(text_of(choices[0]), way) not in ALLOWED:
            return None
        found = choice_log_probabilities(ALLOWED, positions_of(choices[0]), quoted=way == "response_format")
        return Abilities(
            constraint=way,
            log_probabilities=many if positions_of(choices[0]) else 0,
            found=found is not None,
            renormalised=found is not None and abs(sum(map(math.exp, found.values())) - 1) < 0.01,
            many=_takes_many(ask, said, model=model, endpoint=endpoint, way=way),
            reports_cache=cached_tokens(said) is not None,
        )
    return None


def _question(model: str, endpoint: Endpoint, way: Constraint, many: int) -> dict[str, Any]:
    asked: dict[str, Any] = (
        {"messages": [{"role": "user", "content": PROVOKING}]} if endpoint == "chat" else {"prompt": PROVOKING}
    )
    return {
        "model": model,
        "temperature": 0,
        "max_tokens": 40,
        **asked,
        **constraint_parameters(way, ALLOWED),
        **log_probability_parameters(endpoint, many),
    }


def _takes_many(ask: _Asking, one: Mapping[str, Any], *, model: str, endpoint: Endpoint, way: Constraint) -> bool:
    """Whether two prompts in one request get a reply each, under the constraint, and are counted both.

    llama.cpp counts the tokens of the first prompt alone: what a job read and wrote would be lost.
    """
    body = _question(model, endpoint, way, 0)
    body |= {"prompt": [PROVOKING] * 2} if endpoint == "completions" else {"messages": [body["messages"]] * 2}
    two = ask(path_of(endpoint, many=True), body)
    choices = choices_of(two)
    honoured = all(unwrapped(text_of(choice), way) in ALLOWED for choice in choices) if way else True
    counted = tokens_of(two)[0] == 2 * tokens_of(one)[0]
    return sorted(str(choice.get("index")) for choice in choices) == ["0", "1"] and honoured and counted


@dataclass(frozen=True)
class _Asking:
    """Asks a server, and keeps what it said."""

    client: httpx.Client
    timeout: float
    answers: list[Mapping[str, Any]]

    def __call__(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return what the server said, None if it refused. Raises EngineUnavailable if it cannot answer now."""
        where = shown(str(self.client.base_url))
        for attempt in range(ATTEMPTS):
            try:
                answer = post(self.client, path, body, timeout=self.timeout)
            except ReplyTooBig:
                return None
            except httpx.RequestError as error:
                raise EngineUnavailable(
                    f"{where} did not answer a short request: {error or type(error).__name__}."
                ) from error
            if answer.status not in TRANSIENT:
                said = as_object(answer.content) if answer.status == 200 else None
                self.answers.extend([] if said is None else [said])
                return said
            time.sleep(PAUSE * 2**attempt if answer.rest is None else min(answer.rest, 5.0))
        raise EngineUnavailable(f"{where} answers {answer.status} to every request: {answer.excerpt}")


def path_of(endpoint: Endpoint, *, many: bool = False) -> str:
    """Return where such requests go. Only vLLM has a path for many conversations; completions take a list."""
    if endpoint == "completions":
        return "/v1/completions"
    return "/v1/chat/completions/batch" if many else "/v1/chat/completions"


def constraint_parameters(way: Constraint, choices: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that bind a server to the choices in this way."""
    match way:
        case "structured_outputs":
            return {"structured_outputs": {"choice": list(choices)}}
        case "guided_choice":
            return {"guided_choice": list(choices)}
        case "grammar":
            # A JSON string is a literal of llama.cpp's grammar too.
            return {"grammar": "root ::= " + " | ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)}
        case "response_format":
            schema = {"type": "string", "enum": list(choices)}
            return {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "grade", "strict": True, "schema": schema},
                }
            }
    return {}


def sampling_parameters(sampling: Sampling, way: Constraint) -> dict[str, Any]:
    """Return how a text is drawn, bound to its form as the server was seen to be bound to choices.

    That is its grammar where the server takes one, else its schema.
    """
    asked: dict[str, Any] = {"temperature": sampling.temperature, "top_p": sampling.top_p}
    if sampling.seed is not None:
        asked["seed"] = sampling.seed
    if sampling.stop:
        asked["stop"] = list(sampling.stop)
    if sampling.grammar and way in GRAMMARS:
        return asked | GRAMMARS[way](sampling.grammar)
    if not sampling.schema or not way:
        return asked
    schema = json.loads(sampling.schema)
    match way:
        case "structured_outputs":
            return asked | {"structured_outputs": {"json": schema}}
        case "guided_choice":
            return asked | {"guided_json": schema}
    named = {"name": "reply", "strict": True, "schema": schema}
    return asked | {"response_format": {"type": "json_schema", "json_schema": named}}


def log_probability_parameters(endpoint: Endpoint, many: int) -> dict[str, Any]:
    """Return the parameters that ask for so many log-probabilities of each token."""
    if not many:
        return {}
    return {"logprobs": True, "top_logprobs": many} if endpoint == "chat" else {"logprobs": many}


def unwrapped(text: str, way: Constraint) -> str:
    """Return the choice without the quotes that a JSON schema puts round it; any other text as it is."""
    if way != "response_format":
        return text.strip()
    try:
        said = json.loads(text)
    except ValueError:
        return text.strip()
    return said if isinstance(said, str) else text.strip()


def text_of(choice: Mapping[str, Any]) -> str:
    """Return what one choice of an answer says, in the shape of either endpoint; nothing if that is no text."""
    message = choice.get("message")
    text = message.get("content") if isinstance(message, dict) else choice.get("text")
    return text if isinstance(text, str) else ""


def cached_tokens(said: Mapping[str, Any]) -> int | None:
    """Return how many of the prompt's tokens were in the server's prefix cache, None if it does not say."""
    usage = said.get("usage")
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    return count_of(details.get("cached_tokens")) if isinstance(details, dict) else None


def tokens_of(said: Mapping[str, Any] | None) -> tuple[int, int]:
    """Return the tokens of prompt and reply that an answer took, 0 where it does not say."""
    usage = (said or {}).get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return count_of(counts.get("prompt_tokens")) or 0, count_of(counts.get("completion_tokens")) or 0


def count_of(value: object) -> int | None:
    """Return a count that a database can hold, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def choices_of(said: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the choices of an answer, none if it has none."""
    choices = (said or {}).get("choices")
    return [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []


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
