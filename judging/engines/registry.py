"""Which engine a judge runs on, here and now."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import lru_cache
from typing import Any

import httpx
from django.conf import settings

from judging.engines import Engine, EngineState, EngineUnavailable
from judging.engines.embedded import EmbeddedEngine
from judging.engines.embedded_text import EmbeddedWriter
from judging.engines.http import addresses, client_for, shown
from judging.engines.lexical import LexicalEngine
from judging.engines.openai import OpenAIEngine
from judging.engines.probe_store import learner, remembered
from judging.engines.server_probe import Findings, identify
from judging.engines.text2text import Text2TextEngine
from judging.engines.vllm import VLLMEngine
from judging.models import Build, Judge


def engine_of(judge: Judge, *, any_name: bool = False) -> Engine:
    """Return the engine of this judge, kept with its connections as long as the process lives.

    It takes replies under the names that researchers have seen the model reply under, or under `any_name`. Raises
    EngineUnavailable if it cannot even be tried.
    """
    engine = kept_engine(judge)
    if isinstance(engine, OpenAIEngine):
        engine = copy(engine)  # with the same connections
        engine.other_names = None if any_name else judge.other_names
    return engine


@lru_cache(maxsize=32)
def kept_engine(judge: Judge) -> Engine:
    """Return the engine as it is kept. Raises EngineUnavailable."""
    decoding = judge.decoding
    match judge.engine:
        case Judge.Engine.LEXICAL:
            return LexicalEngine(cuts=decoding["cut_points"], method=decoding["method"])
        case Judge.Engine.EMBEDDED:
            return EmbeddedEngine(
                cuts=decoding["cut_points"],
                prompt=decoding["prompt"],
                prior_prompt=decoding["prior_prompt"],
                prior_weight=decoding["prior_weight"],
            )
        case Judge.Engine.OPENAI:
            return _server_engine(judge.model, decoding, remembered(judge), learner(judge))
        case Judge.Engine.VLLM:
            return _vllm_engine(judge.model, decoding)
        case Judge.Engine.TEXT2TEXT:
            if judge.model not in settings.JUDGE_TEXT2TEXT_MODELS:
                raise EngineUnavailable(
                    f"Workers may not load “{judge.model}”: JUDGE_TEXT2TEXT_MODELS does not name it. The operator of "
                    "this site can allow it."
                )
            return Text2TextEngine(model=judge.model, decoding=decoding)
    raise EngineUnavailable(f"There is no engine “{judge.engine}”.")


def writer_for(engine: str, model: str, decoding: Mapping[str, Any]) -> Engine:
    """Return the engine that writes texts with this model, kept while the process lives.

    It takes replies under the names that judges of the model were seen to reply under. Raises EngineUnavailable.
    """
    writer = _writer(engine, model, json.dumps(decoding, sort_keys=True))
    if isinstance(writer, OpenAIEngine):
        writer = copy(writer)  # with the same connections
        judges = Judge.objects.filter(engine=Judge.Engine.OPENAI, model=model).select_related("rater")
        writer.other_names = {name for judge in judges for name in judge.other_names}
    return writer


@lru_cache(maxsize=32)
def _writer(engine: str, model: str, decoding: str) -> Engine:
    match engine:
        case Build.Engine.EMBEDDED:
            return EmbeddedWriter()
        case Build.Engine.OPENAI:
            return _server_engine(model, json.loads(decoding))
        case Build.Engine.VLLM:
            return _vllm_engine(model, json.loads(decoding))
    raise EngineUnavailable(f"There is no engine “{engine}” that writes texts.")


def _server_engine(
    model: str,
    decoding: Mapping[str, Any],
    known: Mapping[str, Findings] | None = None,
    remember: Callable[[str, Findings], None] | None = None,
) -> OpenAIEngine:
    return OpenAIEngine(
        base_urls=addresses(settings.JUDGE_BASE_URL),
        model=model,
        decoding=decoding,
        api_key=settings.JUDGE_API_KEY,
        timeout=settings.JUDGE_TIMEOUT,
        concurrency=settings.JUDGE_CONCURRENCY,
        prompts_at_once=settings.JUDGE_PROMPTS_AT_ONCE,
        patience=settings.JUDGE_PATIENCE,
        known=known,
        remember=remember,
    )


def _vllm_engine(model: str, decoding: Mapping[str, Any]) -> VLLMEngine:
    if model not in settings.JUDGE_VLLM_MODELS:
        raise EngineUnavailable(
            f"Workers with vLLM may not load “{model}”: JUDGE_VLLM_MODELS does not name it. The "
            "operator of this site can allow it."
        )
    return VLLMEngine(model=model, decoding=decoding, options=settings.JUDGE_VLLM)


def check_served(judge: Judge) -> None:
    """Raise EngineUnavailable where the judge's engine could not be tried, or none of the servers has its model."""
    engine_of(judge)
    if judge.engine == Judge.Engine.OPENAI:
        states = server_states()
        if not any(judge.model in state.models for state in states):
            down = " ".join(state.reason for state in states if not state.available)
            raise EngineUnavailable(
                down or f"No server has the model “{judge.model}”. Start one, or set JUDGE_BASE_URL."
            )


def server_states() -> list[EngineState]:
    """Ask each server of JUDGE_BASE_URL what it is and what it serves, all at once; none if none is named."""
    urls = addresses(settings.JUDGE_BASE_URL)
    if not urls:
        return []
    with ThreadPoolExecutor(len(urls)) as executor:
        return list(executor.map(_state_of_server, urls))


def _state_of_server(url: str) -> EngineState:
    try:
        with client_for(url, api_key=settings.JUDGE_API_KEY, timeout=5) as client:
            server = identify(client, timeout=5)
    except (EngineUnavailable, httpx.HTTPError) as error:
        return EngineState(available=False, reason=str(error), details={"address": shown(url)})
    return EngineState(
        available=True,
        identity=server.identity,
        models=server.models,
        details={"address": shown(url), "kind": server.kind, "context_length": server.context_length},
    )
