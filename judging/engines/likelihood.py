"""How likely a model finds a given continuation of a text, from a llama.cpp server that tells no such thing.

The server tells no log-probabilities of a prompt, so the continuation is generated: a grammar of its tokens leaves
one choice at each step, and the raw log-probability of that token is read. One request does a whole continuation,
and what stands before it stays in the server's slot for the next one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from collection.http import Client


class CannotBeForced(Exception):
    """The server did not go through the continuation's tokens; without them there is no likelihood."""


class TooManyTokens(Exception):
    """Text and continuation do not fit into the model's context."""


class Dropped(Exception):
    """Nobody waits for the answer any more."""


@dataclass(frozen=True)
class Token:
    """One token, and whether it holds whole characters: one that ends within a character fits into no grammar."""

    number: int
    whole: bool


@dataclass(frozen=True)
class Likelihood:
    """The mean log-probability of the tokens, in nats, and how many tokens of the prompt the server still had."""

    mean: float
    cached_tokens: int


def tokenize(client: Client, text: str) -> list[Token]:
    """Return the model's tokens for the text; what looks like a control token in it is text. Raises CannotBeForced."""
    asked = {"content": text, "parse_special": False, "with_pieces": True}
    response = client.post("/tokenize", json=asked)
    tokens = response.json().get("tokens") if response.status_code == 200 else None
    if not tokens:
        raise CannotBeForced("The text has no tokens.")
    return [Token(int(token["id"]), isinstance(token["piece"], str)) for token in tokens]


def likelihood(
    client: Client,
    prompt: Sequence[Token],
    continuation: Sequence[Token],
    *,
    slot: int,
    dropped: Callable[[], bool] = lambda: False,
) -> Likelihood:
    """Return how likely exactly this continuation of the prompt is.

    A token that begins a character and does not end it has no value at the server and does not count.
    Raises TooManyTokens, CannotBeForced, and Dropped as soon as `dropped` says so.
    """
    before = [token.number for token in prompt]
    values: list[float] = []
    cached: int | None = None
    for run, forced in _runs(continuation):
        asked = {
            "prompt": before,
            **forced,
            "n_predict": len(run),
            "n_probs": 1,
            "temperature": 0,
            "cache_prompt": True,
            "id_slot": slot,
            "stream": True,
            "return_progress": True,
        }
        for event in _events(client, asked, dropped):
            for step in event.get("completion_probabilities") or ():
                if step["id"] not in run:
                    raise CannotBeForced("The model departed from the tokens of the question.")
                values.append(float(step["logprob"]))
            if cached is None and "timings" in event:
                cached = int(event["timings"].get("cache_n", 0))
        before = [*before, *run]
    if not values:
        raise CannotBeForced("The model has no whole token for any character of the question.")
    return Likelihood(sum(values) / len(values), cached or 0)


def _runs(tokens: Sequence[Token]) -> Iterator[tuple[list[int], dict[str, Any]]]:
    """Yield the tokens as the server can be bound to them: many by a grammar, parts of characters each by a bias."""
    for whole, run in groupby(tokens, key=lambda token: token.whole):
        numbers = [token.number for token in run]
        if whole:
            yield numbers, {"grammar": "root ::= " + " ".join(f"<[{number}]>" for number in numbers)}
        else:
            # The bias forces the choice; the log-probability that is told is the raw one.
            yield from (([number], {"logit_bias": [[number, 1000]]}) for number in numbers)


def _events(client: Client, asked: Mapping[str, Any], dropped: Callable[[], bool]) -> Iterator[dict[str, Any]]:
    """Yield what the server says while it works. It gives the request up when we hang up."""
    with client.stream("POST", "/completion", json=asked) as response:
        if response.status_code != 200:
            raise _refusal(json.loads(response.read()))
        for line in response.iter_lines():
            if dropped():
                raise Dropped
            if line.startswith("data: {"):
                event = json.loads(line.removeprefix("data: "))
                if "error" in event:
                    raise _refusal(event)
                yield event


def _refusal(said: Mapping[str, Any]) -> Exception:
    error = said.get("error", {})
    message = str(error.get("message", said) if isinstance(error, dict) else error)
    return TooManyTokens(message) if "context" in message else CannotBeForced(message)
