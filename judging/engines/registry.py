"""Which engine a judge runs on, here and now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import copy
from functools import lru_cache
from typing import Any

from django.conf import settings

from collection.models import User
from judging.engines import Engine, EngineUnavailable
from judging.engines.embedded import EmbeddedEngine
from judging.engines.embedded_text import EmbeddedWriter
from judging.engines.http import Access, Place
from judging.engines.lexical import LexicalEngine
from judging.engines.openai import OpenAIEngine
from judging.engines.pool import Remember
from judging.engines.probe_store import learner, remembered
from judging.engines.server_probe import Findings
from judging.engines.servers import access_to, server_states, serving
from judging.engines.text2text import Text2TextEngine
from judging.engines.vllm import VLLMEngine
from judging.models import Build, Judge


def engine_of(
    judge: Judge, *, by: User | None, own: bool | None = None, any_name: bool = False, urgent: bool = False
) -> Engine:
    """Return the engine of this judge, kept with its connections as long as the process lives.

    It asks servers that the user may use: see `judging.engines.servers.serving`. It takes replies under the names that
    researchers have seen the model reply under, or under `any_name`. What is `urgent`, for somebody waits for it, goes
    before jobs that ask the same servers. Raises EngineUnavailable if it cannot even be tried.
    """
    servers = serving(judge.model, by, own=own) if judge.engine == Judge.Engine.OPENAI else []
    engine = kept_engine(judge, access_to(servers))
    if isinstance(engine, OpenAIEngine):
        engine = copy(engine)  # with the same connections
        engine.other_names = None if any_name else judge.names_at(server.pk for server in servers)
        engine.urgent = urgent
    return engine


@lru_cache(maxsize=32)
def kept_engine(judge: Judge, servers: tuple[Access, ...]) -> Engine:
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
            return _server_engine(servers, judge.model, decoding, remembered(judge), learner(judge))
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


def writer_for(build: Build) -> Engine:
    """Return the engine that writes the texts of a build, kept while the process lives.

    It asks servers that who started the build may use, and takes replies under the names that judges of the model were
    seen to reply under. Raises EngineUnavailable.
    """
    found = serving(build.model, build.created_by, own=build.own_servers)
    servers = access_to(found) if build.engine == Build.Engine.OPENAI else ()
    writer = _writer(build.engine, build.model, json.dumps(build.decoding, sort_keys=True), servers)
    if isinstance(writer, OpenAIEngine):
        writer = copy(writer)  # with the same connections
        judges = Judge.objects.filter(engine=Judge.Engine.OPENAI, model=build.model).select_related("rater")
        writer.other_names = {name for judge in judges for name in judge.names_at(one.pk for one in found)}
    return writer


@lru_cache(maxsize=32)
def _writer(engine: str, model: str, decoding: str, servers: tuple[Access, ...]) -> Engine:
    match engine:
        case Build.Engine.EMBEDDED:
            return EmbeddedWriter()
        case Build.Engine.OPENAI:
            return _server_engine(servers, model, json.loads(decoding))
        case Build.Engine.VLLM:
            return _vllm_engine(model, json.loads(decoding))
    raise EngineUnavailable(f"There is no engine “{engine}” that writes texts.")


def _server_engine(
    servers: tuple[Access, ...],
    model: str,
    decoding: Mapping[str, Any],
    known: Mapping[Place, Findings] | None = None,
    remember: Remember | None = None,
) -> OpenAIEngine:
    return OpenAIEngine(
        servers=servers,
        model=model,
        decoding=decoding,
        timeout=settings.JUDGE_TIMEOUT,
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


def check_served(judge: Judge, by: User | None) -> None:
    """Raise EngineUnavailable where the judge's engine could not be tried, or no server of theirs has its model."""
    engine_of(judge, by=by)
    if judge.engine == Judge.Engine.OPENAI:
        states = server_states(by)
        if not any(judge.model in state.models for state in states):
            down = " ".join(state.reason for state in states if not state.available)
            raise EngineUnavailable(
                down or f"No server that you may use has the model “{judge.model}”. Start one, or add one."
            )
