"""vLLM inside a worker. The package itself is no requirement: here stands a small thing of its shape in its place."""

from __future__ import annotations

import importlib
import math
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from collection.models import Judgment
from judging.engines import EngineUnavailable, GradeRequest, Reply
from judging.engines.registry import engine_of, kept_engine
from judging.engines.vllm import LEAST_UNDER_WAY, Model, VLLMEngine
from judging.models import Judge
from judging.prompts.grade_parsing import read_reply

DIGITS = ("0", "1", "2")


class VLLMClientError(Exception):
    """As vLLM's: it finds fault with a prompt."""


class FakeLLM:
    """Takes one to eight steps for each prompt, all of them side by side; replies with the last of the choices."""

    loaded: list[FakeLLM] = []

    def __init__(self, model: str, **options: Any) -> None:
        if model == "missing":
            raise OSError("no such folder\nand much more")
        self.model = model
        self.options = options
        self.asked: list[Any] = []
        self.under_way: dict[str, tuple[Any, int]] = {}
        self.most_under_way = 0
        self.steps = 0
        self.aborted: list[str] = []
        self.failure: Exception | None = None
        self.llm_engine = SimpleNamespace(
            engine_core=SimpleNamespace(shutdown=self.shut_down),
            vllm_config=SimpleNamespace(scheduler_config=SimpleNamespace(max_num_seqs=128)),
            step=self.step,
            abort_request=self.abort,
        )
        self.is_down = False
        FakeLLM.loaded.append(self)

    def shut_down(self) -> None:
        self.is_down = True

    def enqueue_chat(self, conversations: Sequence[Any], parameters: Sequence[Any], *, use_tqdm: bool) -> list[str]:
        (chat,), (each,) = conversations, parameters
        if "too long" in chat[-1]["content"]:
            raise VLLMClientError("This model's maximum context length is 1024 tokens.")
        number = str(len(self.asked))
        self.asked.append(chat)
        self.under_way[number] = (each, 1 + len(self.asked) % 8)
        self.most_under_way = max(self.most_under_way, len(self.under_way))
        return [f"{number}-0a1b2c3d"]

    def enqueue(self, prompts: Sequence[str], parameters: Sequence[Any], *, use_tqdm: bool) -> list[str]:
        return self.enqueue_chat([[{"content": prompt}] for prompt in prompts], parameters, use_tqdm=use_tqdm)

    def step(self) -> list[Any]:
        if self.failure is not None:
            raise self.failure
        self.steps += 1
        time.sleep(0.004)  # as a real one, it leaves the processor to other threads meanwhile
        finished = []
        for number, (each, left) in list(self.under_way.items()):
            if left == 1:
                del self.under_way[number]
                finished.append(self.output(number, each))
            else:
                self.under_way[number] = (each, left - 1)
        return finished

    def abort(self, names: Sequence[str], *, internal: bool) -> None:
        assert internal
        for name in names:
            self.aborted.append(name)
            del self.under_way[name.partition("-")[0]]

    def output(self, number: str, parameters: Any) -> Any:
        bound = parameters.structured_outputs
        choices = bound.choice if bound else ["A long story."]
        tokens = {
            number: SimpleNamespace(decoded_token=choice, logprob=math.log(1 / len(choices)))
            for number, choice in enumerate(choices)
        } | {99: SimpleNamespace(decoded_token="!", logprob=-math.inf)}
        said = SimpleNamespace(
            text=choices[-1], token_ids=[len(choices) - 1], logprobs=[tokens] if bound else None, finish_reason="stop"
        )
        return SimpleNamespace(
            request_id=number, finished=True, outputs=[said], prompt_token_ids=[1, 2, 3], num_cached_tokens=2
        )


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


class Patience:
    """Says to stop after so many looks."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def __call__(self) -> bool:
        self.looks -= 1
        return self.looks < 0


def test_grades_under_the_constraint() -> None:
    replies = ask(an_engine(options={"max_model_len": 1024}), *(asking(number) for number in range(10)))

    (llm,) = FakeLLM.loaded
    assert llm.options == {"max_model_len": 1024}
    assert llm.asked[0][0] == {"role": "system", "content": "You grade."}
    assert set(replies) == set(range(10))
    reply = replies[0]
    assert read_reply(reply, DIGITS)[0] == 2
    assert reply.log_probabilities == pytest.approx(dict.fromkeys(DIGITS, math.log(1 / 3)))
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (3, 1, 2)
    assert reply.identity == "vllm 0.32.0 (in the worker), llama"


def test_nobody_waits_for_the_last_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judging.engines.vllm.SECONDS_UNDER_WAY", 0.0)

    ask(an_engine(), *map(asking, range(1_024)))

    in_batches = 8 * 1_024 / LEAST_UNDER_WAY  # each as long as the longest reply in it
    without_a_gap = 4.5 * 1_024 / LEAST_UNDER_WAY
    assert without_a_gap <= FakeLLM.loaded[0].steps < 0.85 * in_batches


def test_as_many_are_under_way_as_were_replied_to_lately() -> None:
    ask(an_engine(), *map(asking, range(20 * LEAST_UNDER_WAY)))

    assert FakeLLM.loaded[0].most_under_way > 2 * LEAST_UNDER_WAY


def test_a_slow_model_has_few_under_way_so_that_a_stop_is_soon_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judging.engines.vllm.SECONDS_UNDER_WAY", 0.0)

    ask(an_engine(), *map(asking, range(1_000)))

    assert FakeLLM.loaded[0].most_under_way == LEAST_UNDER_WAY


def test_replies_of_sentences_run_side_by_side_as_many_as_vllm_lets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judging.engines.vllm.SECONDS_UNDER_WAY", 0.0)

    ask(an_engine(), *(asking(number, reply_tokens=50) for number in range(1_000)))

    assert FakeLLM.loaded[0].most_under_way == 128


def test_what_is_under_way_goes_on_while_the_next_request_is_waited_for() -> None:
    first_is_replied_to = threading.Event()

    def slow_source() -> Iterator[GradeRequest]:
        yield asking(1)
        assert first_is_replied_to.wait(10), "The engine stood still until the second request came."
        yield asking(2)

    replied_to = []
    for request, _ in an_engine().grade(slow_source(), stopping=lambda: False):
        replied_to.append(request.item_id)
        first_is_replied_to.set()

    assert replied_to == [1, 2]


def test_what_fails_in_the_source_is_raised() -> None:
    def broken_source() -> Iterator[GradeRequest]:
        yield asking(1)
        raise KeyError("the template")

    with pytest.raises(KeyError, match="the template"):
        list(an_engine().grade(broken_source(), stopping=lambda: False))


def test_asks_in_plain_text_where_the_judge_says_so() -> None:
    engine = an_engine(decoding={"endpoint": "completions"})

    ask(engine, asking(1))

    assert FakeLLM.loaded[0].asked == [[{"content": "You grade.\n\nGrade it."}]]


def test_a_reply_of_sentences_is_not_bound() -> None:
    reply = ask(an_engine(), asking(1, reply_tokens=50))[1]

    assert (reply.text, reply.log_probabilities) == ("A long story.", None)


def test_a_prompt_that_is_too_long_costs_the_others_nothing() -> None:
    replies = ask(an_engine(), *(asking(n, "This is too long." if n == 50 else "Grade it.") for n in range(100)))

    assert replies.pop(50).ungraded == Judgment.Ungraded.TOO_LONG
    assert len(replies) == len(FakeLLM.loaded[0].asked) == 99
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


def test_a_stop_lets_what_is_under_way_come_to_its_end() -> None:
    replied_to: list[int] = []

    for request, _ in an_engine().grade(map(asking, range(1_000)), stopping=lambda: bool(replied_to)):
        replied_to.append(request.item_id)

    (llm,) = FakeLLM.loaded
    assert len(replied_to) == len(set(replied_to)) == len(llm.asked)
    assert 1 <= len(replied_to) <= LEAST_UNDER_WAY
    assert not llm.under_way


def test_replies_that_came_before_a_failure_are_kept() -> None:
    engine = an_engine()
    replied_to = []

    def grade_until_it_fails() -> None:
        for request, _ in engine.grade(map(asking, range(1_000)), stopping=lambda: False):
            replied_to.append(request.item_id)
            FakeLLM.loaded[0].failure = RuntimeError("CUDA error")

    with pytest.raises(EngineUnavailable, match="RuntimeError: CUDA error"):
        grade_until_it_fails()

    assert 0 < len(replied_to) <= LEAST_UNDER_WAY
    assert FakeLLM.loaded[0].is_down
    assert not FakeLLM.loaded[0].aborted


def test_what_nobody_waits_for_any_more_is_aborted_and_the_model_is_free() -> None:
    held = Model()
    replies = an_engine(held=held).grade(map(asking, range(100)), stopping=lambda: False)
    # On a busy machine the first may be done before the second comes.
    next(reply for reply in replies if FakeLLM.loaded[0].under_way)

    del replies

    (llm,) = FakeLLM.loaded
    assert not llm.under_way
    assert len(llm.aborted) > 0
    assert set(ask(an_engine(held=held), asking(7))) == {7}


def test_two_jobs_of_one_model_take_turns_and_a_stop_ends_the_wait() -> None:
    held = Model()
    first = an_engine(held=held).grade(map(asking, range(100)), stopping=lambda: False)
    next(first)

    assert list(an_engine(held=held).grade([asking(1)], stopping=Patience(looks=2))) == []

    assert len(list(first)) == 99


def test_without_vllm_it_says_what_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    engine = an_engine()

    assert "pip install vllm" in engine.state().reason
    with pytest.raises(EngineUnavailable, match="This worker has no vLLM"):
        ask(engine, asking(1))


@pytest.mark.parametrize("model", ["/tmp/of-mallory", "../llama", "llama "])
def test_a_worker_loads_no_model_that_the_site_does_not_allow(model: str, settings: Settings) -> None:
    settings.JUDGE_VLLM_MODELS = ["llama"]
    kept_engine.cache_clear()

    with pytest.raises(EngineUnavailable, match="JUDGE_VLLM_MODELS does not name it"):
        engine_of(Judge(pk=1, engine=Judge.Engine.VLLM, model=model), by=None)

    assert isinstance(engine_of(Judge(pk=2, engine=Judge.Engine.VLLM, model="llama"), by=None), VLLMEngine)
