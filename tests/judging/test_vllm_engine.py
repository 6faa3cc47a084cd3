"""vLLM inside a worker. The package itself is no requirement: here stands a small thing of its shape in its place."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from collection.models import Judgment
from judging.engines import EngineUnavailable, GradeRequest, Reply
from judging.engines.vllm import Model, VLLMEngine
from judging.replies import read_reply

DIGITS = ("0", "1", "2")


class VLLMClientError(Exception):
    """As vLLM's: it finds fault with a prompt."""


class FakeLLM:
    """Replies to every prompt with the last of its choices; remembers what it was asked."""

    loaded: list[FakeLLM] = []

    def __init__(self, model: str, **options: Any) -> None:
        if model == "missing":
            raise OSError("no such folder\nand much more")
        self.model = model
        self.options = options
        self.asked: list[list[Any]] = []
        self.failure: Exception | None = None
        self.llm_engine = SimpleNamespace(engine_core=SimpleNamespace(shutdown=self.shut_down))
        self.is_down = False
        FakeLLM.loaded.append(self)

    def shut_down(self) -> None:
        self.is_down = True

    def chat(self, conversations: Sequence[Any], parameters: Sequence[Any], *, use_tqdm: bool) -> list[Any]:
        self.asked.append(list(conversations))
        if self.failure is not None:
            raise self.failure
        if any("too long" in chat[-1]["content"] for chat in conversations):
            raise VLLMClientError("This model's maximum context length is 1024 tokens.")
        return [self.output(each) for each in parameters]

    def generate(self, prompts: Sequence[str], parameters: Sequence[Any], *, use_tqdm: bool) -> list[Any]:
        return self.chat([[{"content": prompt}] for prompt in prompts], parameters, use_tqdm=use_tqdm)

    def output(self, parameters: Any) -> Any:
        bound = parameters.structured_outputs
        choices = bound.choice if bound else ["A long story."]
        tokens = {
            number: SimpleNamespace(decoded_token=choice, logprob=math.log(1 / len(choices)))
            for number, choice in enumerate(choices)
        } | {99: SimpleNamespace(decoded_token="!", logprob=-math.inf)}
        said = SimpleNamespace(
            text=choices[-1], token_ids=[len(choices) - 1], logprobs=[tokens] if bound else None, finish_reason="stop"
        )
        return SimpleNamespace(outputs=[said], prompt_token_ids=[1, 2, 3], num_cached_tokens=2)


@pytest.fixture(autouse=True)
def fake_vllm(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def parameters(structured_outputs: Any = None, **settings: Any) -> Any:
        return SimpleNamespace(structured_outputs=structured_outputs, **settings)

    vllm, sampling = ModuleType("vllm"), ModuleType("vllm.sampling_params")
    vllm.__dict__.update(LLM=FakeLLM, SamplingParams=parameters, __version__="0.32.0")
    sampling.__dict__.update(StructuredOutputsParams=lambda choice: SimpleNamespace(choice=choice))
    monkeypatch.setitem(sys.modules, "vllm", vllm)
    monkeypatch.setitem(sys.modules, "vllm.sampling_params", sampling)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    FakeLLM.loaded = []
    yield
    importlib.invalidate_caches()


def an_engine(model: str = "llama", *, held: Model | None = None, **settings: Any) -> VLLMEngine:
    return VLLMEngine(model=model, held=held or Model(), **{"decoding": {"temperature": 0.0, "seed": 3}, **settings})


def asking(number: int, prompt: str = "Grade it.", **more: Any) -> GradeRequest:
    return GradeRequest(number, DIGITS, "q", "t", prompt=prompt, system="You grade.", **more)


def ask(engine: VLLMEngine, *requests: GradeRequest) -> dict[int, Reply]:
    return {request.item_id: reply for request, reply in engine.grade(requests, stopping=lambda: False)}


def test_grades_in_batches_under_the_constraint() -> None:
    replies = ask(an_engine(options={"max_model_len": 1024}), *(asking(number) for number in range(10)))

    (llm,) = FakeLLM.loaded
    assert llm.options == {"max_model_len": 1024}
    assert [len(batch) for batch in llm.asked] == [1, 2, 4, 3]
    assert llm.asked[0][0][0] == {"role": "system", "content": "You grade."}
    assert set(replies) == set(range(10))
    reply = replies[0]
    assert read_reply(reply, DIGITS)[0] == 2
    assert reply.log_probabilities == pytest.approx(dict.fromkeys(DIGITS, math.log(1 / 3)))
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (3, 1, 2)
    assert reply.identity == "vllm 0.32.0 (in the worker), llama"


def test_asks_in_plain_text_where_the_judge_says_so() -> None:
    engine = an_engine(decoding={"endpoint": "completions"})

    ask(engine, asking(1))

    assert FakeLLM.loaded[0].asked == [[[{"content": "You grade.\n\nGrade it."}]]]


def test_a_reply_of_sentences_is_not_bound() -> None:
    reply = ask(an_engine(), asking(1, reply_tokens=50))[1]

    assert (reply.text, reply.log_probabilities) == ("A long story.", None)


def test_a_prompt_that_is_too_long_costs_the_others_nothing() -> None:
    engine = an_engine()
    engine.pace.size = 8

    replies = ask(engine, *(asking(n, "This is too long." if n == 5 else "Grade it.") for n in range(8)))

    assert replies.pop(5).ungraded == Judgment.Ungraded.TOO_LONG
    assert {reply.text for reply in replies.values()} == {"2"}


def test_loads_a_model_once_and_lets_go_of_it_for_another() -> None:
    held = Model()

    ask(an_engine("llama", held=held), asking(1))
    ask(an_engine("llama", held=held), asking(2))
    ask(an_engine("qwen", held=held), asking(3))

    assert [(llm.model, llm.is_down) for llm in FakeLLM.loaded] == [("llama", True), ("qwen", False)]


def test_a_model_that_cannot_be_loaded_is_named() -> None:
    with pytest.raises(EngineUnavailable, match=r"vLLM cannot load “missing”: no such folder$"):
        ask(an_engine("missing"), asking(1))


def test_a_failure_of_vllm_itself_is_told_and_the_model_loaded_anew() -> None:
    held = Model()
    engine = an_engine(held=held)
    ask(engine, asking(1))
    FakeLLM.loaded[0].failure = RuntimeError("CUDA out of memory")

    with pytest.raises(EngineUnavailable, match="RuntimeError: CUDA out of memory"):
        ask(engine, asking(2))

    assert ask(engine, asking(2))[2].text == "2"
    assert len(FakeLLM.loaded) == 2


def test_begins_no_more_when_told_to_stop() -> None:
    assert list(an_engine().grade([asking(1)], stopping=lambda: True)) == []
    assert FakeLLM.loaded == []


def test_without_vllm_it_says_what_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    engine = an_engine()

    assert "pip install vllm" in engine.state().reason
    with pytest.raises(EngineUnavailable, match="This worker has no vLLM"):
        ask(engine, asking(1))
