"""The engine's contract with a real server, held against vLLM: a tiny model of random weights, and a small real one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judging.contract import EngineContract, Served, asking, engine_on, replies_by_item
from tests.vllm.server import CONTEXT_LENGTH, VLLMServer


def served_by(server: VLLMServer) -> Served:
    return Served(
        base_url=server.base_url,
        model=server.name,
        kind="vllm",
        context_length=CONTEXT_LENGTH,
        constraint="structured_outputs",
        renormalised=True,
    )


class TestTinyModel(EngineContract):
    @pytest.fixture(scope="class")
    @classmethod
    def served(cls, tiny_server: VLLMServer) -> Served:
        return served_by(tiny_server)

    def test_many_prompts_go_in_one_request(self, served: Served) -> None:
        engine = engine_on(served, concurrency=1)

        replies_by_item(engine, *(asking(number, f"Grade passage {number}.") for number in range(40)))

        (member,) = engine.pool.members
        assert member.findings is not None
        assert member.findings.abilities.many
        assert member.taken < 40

    def test_the_prefix_cache_is_counted(self, served: Served) -> None:
        passage = "The Golden Gate Bridge was opened in 1937. " * 20
        engine = engine_on(served, concurrency=1)

        first = replies_by_item(engine, asking(1, f"{passage}\nHow well is it written?"))[1]
        second = replies_by_item(engine, asking(2, f"{passage}\nIs it about a bridge?"))[2]

        assert first.cached_tokens is not None
        assert second.cached_tokens is not None
        assert second.prompt_tokens is not None
        assert second.cached_tokens > second.prompt_tokens / 2


class TestSmallModel(EngineContract):
    @pytest.fixture(scope="class")
    @classmethod
    def served(cls, vllm_python: str, small_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
        log = tmp_path_factory.mktemp("log") / "vllm-small.log"
        server = VLLMServer(vllm_python, small_model, name="smollm2", log=log)
        try:
            server.start()
            yield served_by(server)
        finally:
            server.kill()

    def test_it_speaks_english(self, served: Served) -> None:
        asked = asking(1, "What is the capital of France? Reply with one word.", reply_tokens=16)

        assert "Paris" in replies_by_item(engine_on(served), asked)[1].text
