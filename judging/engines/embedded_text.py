"""The embedded small model as a writer: poor texts, so that a pipeline can be tried without a server."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from typing import Any

import httpx

from collection.http import Client, storable
from collection.models import Judgment
from judging.engines import EngineState, EngineUnavailable, GradeRequest, Reply, Sampling
from judging.engines.answers import choices_of, text_of, tokens_of
from judging.engines.constraints import constraint_parameters, log_probability_parameters, sampling_parameters
from judging.engines.dialect import TOO_LONG_MARKS
from judging.engines.embedded import INSTALL, MODEL, SERVER, EmbeddedServer, missing_packages
from judging.engines.log_probabilities import choice_log_probabilities, positions_of
from judging.engines.messages import conversation, room_for
from judging.engines.server_probe import MOST_LOG_PROBABILITIES


class EmbeddedWriter:
    """Writes with the embedded model, one text at a time, whoever asks: its process has one thread for texts."""

    def __init__(self, *, server: EmbeddedServer = SERVER) -> None:
        self.server = server

    def state(self) -> EngineState:
        """Say whether the packages are there; the server itself starts with the first text."""
        if missing := missing_packages():
            return EngineState(
                available=False, reason=f"Not installed: {', '.join(missing)}. To fix this, run: {INSTALL}"
            )
        return EngineState(available=True, identity=_identity(), models=(MODEL,))

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        client = self.server.client()
        for request in requests:
            with self.server.reading(stopping) as mine:
                if not mine or stopping():
                    return
                yield request, self._reply_to(request, client)

    def _reply_to(self, request: GradeRequest, client: Client) -> Reply:
        began = time.perf_counter()
        asked = {
            "messages": conversation(request),
            "max_tokens": request.reply_tokens or room_for(request.choices),
            "cache_prompt": True,
            **(_bound_to(request.choices) if request.constrained else {}),
            **sampling_parameters(request.sampling or Sampling(), "grammar"),
        }
        try:
            answer = client.post("/v1/chat/completions", json=asked)
        except httpx.TimeoutException:
            return _failed(Judgment.Ungraded.ENGINE_ERROR, "The embedded model took too long.", began)
        except httpx.HTTPError as error:
            raise EngineUnavailable(f"The embedded model’s server is gone ({type(error).__name__}).") from error
        if answer.status_code != 200:
            too_long = any(mark in answer.text for mark in TOO_LONG_MARKS)
            kind = Judgment.Ungraded.TOO_LONG if too_long else Judgment.Ungraded.ENGINE_ERROR
            return _failed(kind, answer.text[:500], began)
        try:
            said = answer.json()
            (choice,) = choices_of(said)
        except (json.JSONDecodeError, ValueError) as error:
            return _failed(Judgment.Ungraded.ENGINE_ERROR, f"The reply is not a completion: {error}", began)
        of_prompt, of_reply = tokens_of(said)
        return Reply(
            text=storable(text_of(choice)),
            finish_reason=str(choice.get("finish_reason") or "")[:30],
            log_probabilities=choice_log_probabilities(request.choices, positions_of(choice)),
            prompt_tokens=of_prompt,
            completion_tokens=of_reply,
            seconds=time.perf_counter() - began,
            identity=_identity(),
        )


def _bound_to(choices: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that bind the reply to the choices, and ask for their log-probabilities."""
    most = MOST_LOG_PROBABILITIES["llama.cpp"][0]
    return constraint_parameters("grammar", choices) | log_probability_parameters("chat", most)


def _failed(kind: str, error: str, began: float) -> Reply:
    return Reply(ungraded=kind, error=storable(error), seconds=time.perf_counter() - began, identity=_identity())


def _identity() -> str:
    return f"llama.cpp (xllamacpp {version('xllamacpp')}), {MODEL}"
