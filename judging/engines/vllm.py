"""vLLM inside a worker: `vllm.LLM` grades in batches, without a server and without HTTP.

vLLM is no requirement of Assize: it is imported when a judge of this kind grades, in a worker that
listens to the queue `vllm`. A process holds one model at a time.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from collection.models import Judgment
from judging.engines import EngineState, EngineUnavailable, GradeRequest, Reply
from judging.engines.log_probabilities import Position, choice_log_probabilities
from judging.engines.pace import Pace
from judging.engines.prompting import completion_prompt, conversation, room_for
from judging.engines.reading import TOO_LONG_MARKS, storable

logger = logging.getLogger(__name__)

INSTALL = "pip install vllm"
MOST_PROMPTS = 1024
LOG_PROBABILITIES = 20

Replies = list[tuple[GradeRequest, Reply]]


class Model:
    """The model that this process has loaded, if any. Whoever holds the lock may use it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._loaded: tuple[str, Any] | None = None

    def load(self, name: str, options: Mapping[str, Any]) -> Any:
        """Return the model, loaded if it is another than the last one. Raises EngineUnavailable."""
        if self._loaded is not None and self._loaded[0] == name:
            return self._loaded[1]
        self.unload()
        vllm = _vllm()
        try:
            llm = vllm.LLM(model=name, **options)
        except Exception as error:
            raise EngineUnavailable(f"vLLM cannot load “{name}”: {_first_line(error)}") from error
        self._loaded = (name, llm)
        return llm

    def unload(self) -> None:
        """Let go of the model and of its memory."""
        loaded, self._loaded = self._loaded, None
        if loaded is None:
            return
        try:
            loaded[1].llm_engine.engine_core.shutdown()
        except Exception:
            logger.warning("vLLM did not shut down in order.", exc_info=True)
        del loaded
        gc.collect()


MODEL = Model()


class VLLMEngine:
    """Grades with `vllm.LLM` in this process."""

    def __init__(
        self,
        *,
        model: str,
        decoding: Mapping[str, Any],
        options: Mapping[str, Any] | None = None,
        most: int = MOST_PROMPTS,
        held: Model = MODEL,
    ) -> None:
        """`options` are what `vllm.LLM` is told besides the model, its context length for one."""
        self.model = model
        self.decoding = decoding
        self.options = dict(options or {})
        self.pace = Pace(most)
        self.held = held

    def state(self) -> EngineState:
        """Say whether vLLM is here; the model is loaded by the first grade."""
        try:
            return EngineState(available=True, identity=_identity(self.model, _vllm()), models=(self.model,))
        except EngineUnavailable as error:
            return EngineState(available=False, reason=str(error))

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        waiting = iter(requests)
        while not stopping():
            with self.held.lock:
                llm = self.held.load(self.model, self.options)
                batch = list(islice(waiting, self.pace.size))
                began = time.perf_counter()
                replies = self._replies_to(batch, llm) if batch else []
                self.pace.learn(len(batch), time.perf_counter() - began)
            if not batch:
                return
            yield from replies

    def _replies_to(self, batch: Sequence[GradeRequest], llm: Any) -> Replies:
        """Ask for all at once. A prompt that vLLM refuses is found by halving: it shall not cost the others theirs."""
        began = time.perf_counter()
        try:
            outputs = self._generate(batch, llm)
        except Exception as error:
            if not _refused_prompt(error):
                self.held.unload()
                raise EngineUnavailable(f"vLLM failed: {type(error).__name__}: {_first_line(error)}") from error
            if len(batch) == 1:
                return [(batch[0], self._refused(error, time.perf_counter() - began))]
            half = len(batch) // 2
            return self._replies_to(batch[:half], llm) + self._replies_to(batch[half:], llm)
        seconds = (time.perf_counter() - began) / len(batch)
        return [
            (request, self._reply(request, output, seconds)) for request, output in zip(batch, outputs, strict=True)
        ]

    def _generate(self, batch: Sequence[GradeRequest], llm: Any) -> list[Any]:
        parameters = [self._sampling(request) for request in batch]
        if self.decoding.get("endpoint") == "completions":
            prompts = [completion_prompt(request) for request in batch]
            return list(llm.generate(prompts, parameters, use_tqdm=False))
        return list(llm.chat([conversation(request) for request in batch], parameters, use_tqdm=False))

    def _sampling(self, request: GradeRequest) -> Any:
        vllm = _vllm()
        bound: dict[str, Any] = {}
        if request.constrained:
            choice = importlib.import_module("vllm.sampling_params").StructuredOutputsParams(
                choice=list(request.choices)
            )
            bound = {"structured_outputs": choice, "logprobs": LOG_PROBABILITIES}
        return vllm.SamplingParams(
            temperature=self.decoding.get("temperature", 0),
            seed=self.decoding.get("seed"),
            max_tokens=request.reply_tokens or room_for(request.choices),
            **bound,
        )

    def _reply(self, request: GradeRequest, output: Any, seconds: float) -> Reply:
        said = output.outputs[0]
        positions = _positions(said) if request.constrained else []
        return Reply(
            text=storable(said.text),
            finish_reason=str(said.finish_reason or "")[:30],
            log_probabilities=choice_log_probabilities(request.choices, positions),
            prompt_tokens=len(output.prompt_token_ids or ()),
            completion_tokens=len(said.token_ids),
            cached_tokens=output.num_cached_tokens,
            seconds=seconds,
            identity=_identity(self.model, _vllm()),
        )

    def _refused(self, error: Exception, seconds: float) -> Reply:
        too_long = any(mark in str(error) for mark in TOO_LONG_MARKS)
        return Reply(
            ungraded=Judgment.Ungraded.TOO_LONG if too_long else Judgment.Ungraded.ENGINE_ERROR,
            error=storable(str(error)[:500]),
            seconds=seconds,
            identity=_identity(self.model, _vllm()),
        )


def _vllm() -> Any:
    """Return vLLM's module. Raises EngineUnavailable where there is none."""
    if importlib.util.find_spec("vllm") is None:
        raise EngineUnavailable(
            "This worker has no vLLM. Workers of the queue “vllm” need it beside Assize: "
            f"{INSTALL} (docs/engines.md). A judge on a vLLM server needs none here."
        )
    # In this process: an engine in a process of its own outlives a worker that is killed, and keeps the GPU's memory.
    os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    return importlib.import_module("vllm")


def _identity(model: str, vllm: Any) -> str:
    return f"vllm {vllm.__version__} (in the worker), {model}"[:300]


def _refused_prompt(error: Exception) -> bool:
    """Whether vLLM found fault with a prompt, as opposed to having failed itself."""
    return any(kind.__name__ in {"ValueError", "VLLMClientError"} for kind in type(error).__mro__)


def _positions(said: Any) -> list[Position]:
    return [
        Position(
            str(likeliest[token].decoded_token),
            tuple((str(other.decoded_token), float(other.logprob)) for other in likeliest.values()),
        )
        for token, likeliest in zip(said.token_ids, said.logprobs or (), strict=False)
    ]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
