"""Which engine a judge runs on, here and now."""

from __future__ import annotations

from functools import lru_cache

from django.conf import settings

from judging.engines import Engine, EngineState, EngineUnavailable
from judging.engines.embedded import EmbeddedEngine
from judging.engines.lexical import LexicalEngine
from judging.engines.openai import OpenAIEngine, client_for, probe
from judging.models import Judge


@lru_cache(maxsize=32)
def engine_of(judge: Judge) -> Engine:
    """Return the engine of this judge, kept with its connections as long as the process lives.

    Raises EngineUnavailable if it cannot even be tried.
    """
    decoding = judge.decoding
    match judge.engine:
        case Judge.Engine.LEXICAL:
            return LexicalEngine(cuts=decoding["cut_points"])
        case Judge.Engine.EMBEDDED:
            return EmbeddedEngine(
                cuts=decoding["cut_points"],
                prompt=decoding["prompt"],
                prior_prompt=decoding["prior_prompt"],
                prior_weight=decoding["prior_weight"],
            )
        case Judge.Engine.OPENAI:
            return OpenAIEngine(
                base_url=settings.JUDGE_BASE_URL,
                model=judge.model,
                decoding=decoding,
                api_key=settings.JUDGE_API_KEY,
                timeout=settings.JUDGE_TIMEOUT,
            )
    raise EngineUnavailable(f"There is no engine “{judge.engine}”.")


def server_state() -> EngineState:
    """Ask the server of JUDGE_BASE_URL what it is and what it serves."""
    if not settings.JUDGE_BASE_URL:
        return EngineState(
            available=False, reason="JUDGE_BASE_URL is not set: it names an OpenAI-compatible server, vLLM's for one."
        )
    with client_for(settings.JUDGE_BASE_URL, api_key=settings.JUDGE_API_KEY, timeout=5) as client:
        try:
            server = probe(client)
        except EngineUnavailable as error:
            return EngineState(available=False, reason=str(error))
    return EngineState(
        available=True,
        identity=server.identity,
        models=server.models,
        details={"kind": server.kind, "version": server.version, "context_length": server.context_length},
    )
