"""A real vLLM whose model thinks: asked not to, given a budget, and, as it never ends by itself, cut off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judging.engines import Reply
from judging.engines.http import Access
from judging.engines.openai import OpenAIEngine
from judging.engines.server_probe import Abilities
from judging.prompts.grade_parsing import read_reply
from tests.judging.contract import DIGITS, asking, replies_by_item
from tests.vllm.conftest import made_by
from tests.vllm.server import OPTIONS, VLLMServer

PARSER = {
    "reasoning_parser": "qwen3",
    "reasoning_config": '{"reasoning_start_str": "<think>", "reasoning_end_str": "</think>"}',
}


@pytest.fixture(scope="module")
def server(vllm_python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VLLMServer]:
    model = made_by(vllm_python, "make_tiny_model.py", tmp_path_factory.mktemp("thinks"), Path("thinks"))
    log = tmp_path_factory.mktemp("log") / "vllm-thinks.log"
    server = VLLMServer(vllm_python, model, name="thinks", log=log, options={**OPTIONS, **PARSER})
    try:
        server.start()
        yield server
    finally:
        server.kill()


def asked(server: VLLMServer, **decoding: Any) -> tuple[OpenAIEngine, Abilities]:
    decoding = {"temperature": 0.0, "seed": 0, **decoding}
    engine = OpenAIEngine(servers=[Access(server.base_url)], model=server.name, decoding=decoding, timeout=120)
    engine.pool.look()
    (member,) = engine.pool.members
    assert member.findings is not None, member.problem
    return engine, member.findings.abilities


def grades_of(replies: dict[int, Reply]) -> list[str]:
    return [read_reply(reply, DIGITS)[1] for reply in replies.values()]


def test_it_is_seen_to_think_and_its_budget_ends_that(server: VLLMServer) -> None:
    engine, abilities = asked(server, thinking="on", thinking_tokens=60)

    assert (abilities.thinks, abilities.constraint, abilities.budget) == (
        True, "structured_outputs", "thinking_token_budget",
    )  # fmt: skip
    replies = replies_by_item(engine, *(asking(number, f"Grade passage {number}.") for number in range(4)))
    assert grades_of(replies) == [""] * 4
    assert all(reply.thinking and 0 < (reply.thinking_tokens or 0) <= 60 for reply in replies.values())


def test_asked_not_to_think_it_does_not(server: VLLMServer) -> None:
    engine, abilities = asked(server, thinking="off")

    assert (abilities.thinks, abilities.thinks_freely) == (False, False)
    replies = replies_by_item(engine, *(asking(number, f"Grade passage {number}.") for number in range(4)))
    assert grades_of(replies) == [""] * 4
    assert {reply.thinking for reply in replies.values()} == {""}
    assert all(reply.log_probabilities for reply in replies.values())


def test_left_to_itself_and_without_a_budget_it_runs_out_twice_and_is_cut_off(server: VLLMServer) -> None:
    engine, _ = asked(server)
    (member,) = engine.pool.members
    assert member.findings is not None
    member.findings = replace(member.findings, abilities=replace(member.findings.abilities, budget=""))

    (reply,) = replies_by_item(engine, asking(1, "Grade it.")).values()

    assert (reply.ungraded, reply.text) == ("cut_off", "")
    assert reply.thinking
    assert reply.completion_tokens is not None
    assert reply.completion_tokens > 1024  # of both attempts
