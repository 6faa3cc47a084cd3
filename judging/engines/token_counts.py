"""How many tokens a prompt is: counted by the server that will read it, or guessed, and said which."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import httpx

from collection.http import Client, ReplyTooBig, as_object
from judging.engines import EngineUnavailable
from judging.engines.http import Access, post
from judging.engines.server_probe import Server, identify

# Of English text, where nobody counts.
CHARACTERS_A_TOKEN = 4
# A choice and what ends it.
TOKENS_OF_A_CHOICE = 3.0
PATIENCE = 3.0
MOST_BYTES = 8_000_000


@dataclass(frozen=True)
class TokenCount:
    """A prompt's length. `counted_by` names the server that counted; empty if `tokens` is guessed from characters.

    `context_length` is how much the server's model can read, None if it does not say.
    """

    tokens: int
    counted_by: str = ""
    context_length: int | None = None

    @property
    def fits(self) -> bool:
        """Whether the prompt and a token of reply fit; True where nobody knows."""
        return self.context_length is None or self.tokens < self.context_length


def guessed(system: str, prompt: str) -> TokenCount:
    """Guess from the number of characters."""
    return TokenCount(-(-len(system + prompt) // CHARACTERS_A_TOKEN))


def count_tokens(system: str, prompt: str, *, servers: Sequence[Access], model: str = "") -> TokenCount:
    """Let the first server that can count the tokens of this chat; guess if none can."""
    late = time.monotonic() + PATIENCE
    for access in servers:
        if time.monotonic() > late:
            break
        with access.client(timeout=PATIENCE) as client:
            try:
                server = identify(client, model, timeout=PATIENCE)
                count = _counted(client, server, system, prompt, model or server.models[0])
            except (EngineUnavailable, httpx.HTTPError, ReplyTooBig):
                continue
        if count is not None:
            return TokenCount(count, server.identity, server.context_length)
    return guessed(system, prompt)


def _counted(client: Client, server: Server, system: str, prompt: str, model: str) -> int | None:
    """Ask for the tokens, chat template included; None if the server cannot tell."""
    messages = [{"role": "system", "content": system}] if system else []
    chat = {"model": model, "messages": [*messages, {"role": "user", "content": prompt}]}
    if server.kind == "vllm":
        said = _ask(client, "/tokenize", {**chat, "add_generation_prompt": True})
        return _whole(said.get("count"))
    if server.kind == "llama.cpp":
        written = _ask(client, "/apply-template", chat).get("prompt")
        if not isinstance(written, str):
            return None
        tokens = _ask(client, "/tokenize", {"content": written, "add_special": True, "parse_special": True}).get(
            "tokens"
        )
        return len(tokens) if isinstance(tokens, list) else None
    return None


def _ask(client: Client, path: str, body: Mapping[str, object]) -> dict[str, object]:
    answer = post(client, path, body, timeout=PATIENCE, most=MOST_BYTES)
    return (as_object(answer.content) if answer.status == 200 else None) or {}


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
