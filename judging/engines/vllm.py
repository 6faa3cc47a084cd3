"""vLLM inside a worker: `vllm.LLM` grades without a server and without HTTP.

vLLM is no requirement of Assize: it is imported when a judge of this kind grades, in a worker that
listens to the queue `vllm`. A process holds one model at a time.

Nothing is asked in batches that wait for their last reply: whenever vLLM has taken a step, what it finished
is handed on and as much is put in behind it.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from collection.http import storable
from collection.models import Judgment
from judging.engines import EngineState, EngineUnavailable, GradeRequest, Reply
from judging.engines.dialect import TOO_LONG_MARKS
from judging.engines.log_probabilities import Position, choice_log_probabilities
from judging.engines.messages import completion_prompt, conversation, room_for
from judging.engines.prefetch import Feed

logger = logging.getLogger(__name__)

INSTALL = "pip install vllm"
LOG_PROBABILITIES = 20
# Under way is what was replied to in so many seconds, and no less than so many requests. vLLM then always has its
# next step's prompts waiting; and a stop, which lets what is under way come to its end, is not long delayed.
SECONDS_UNDER_WAY = 2.0
LEAST_UNDER_WAY = 64
LOOK_SECONDS = 0.1


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
            logger.warning("vLLM did not shut down cleanly.", exc_info=True)
        del loaded
        gc.collect()


MODEL = Model()


class UnderWay(NamedTuple):
    """A request that vLLM has, the name that vLLM gave it, and when it got it."""

    request: GradeRequest
    internal_id: str
    began: float


class VLLMEngine:
    """Grades with `vllm.LLM` in this process."""

    def __init__(
        self,
        *,
        model: str,
        decoding: Mapping[str, Any],
        options: Mapping[str, Any] | None = None,
        held: Model = MODEL,
    ) -> None:
        """`options` are what `vllm.LLM` is told besides the model, its context length for one."""
        self.model = model
        self.decoding = decoding
        self.options = dict(options or {})
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
        """Keep the model to ourselves until all is replied to: its steps finish the requests of whoever asked."""
        while not stopping():
            if self.held.lock.acquire(timeout=LOOK_SECONDS):
                try:
                    llm = self.held.load(self.model, self.options)
                    with Feed(requests) as feed:
                        yield from self._replies(feed, llm, stopping)
                finally:
                    self.held.lock.release()
                return

    def _replies(
        self, feed: Feed[GradeRequest], llm: Any, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        under_way: dict[str, UnderWay] = {}
        speed = Speed()
        try:
            while not (feed.ended or stopping()) or under_way:
                room = self._room(feed, llm, speed) - len(under_way)
                for request in [] if stopping() else feed.take(room, seconds=0 if under_way else LOOK_SECONDS):
                    if refused := self._begin(request, llm, under_way):
                        yield request, refused
                if not under_way:
                    continue
                finished = self._step(llm, under_way)
                speed.note(len(finished))
                for one, output in finished:
                    yield one.request, self._reply(one.request, output, time.perf_counter() - one.began)
        finally:
            if under_way:  # nobody waits for them any more
                llm.llm_engine.abort_request([one.internal_id for one in under_way.values()], internal=True)

    def _room(self, feed: Feed[GradeRequest], llm: Any, speed: Speed) -> int:
        """Return how many shall be under way. Replies of sentences take long, side by side as many as vLLM lets run."""
        asked = feed.first
        if asked is not None and not asked.constrained:
            return max(int(llm.llm_engine.vllm_config.scheduler_config.max_num_seqs), speed.replies)
        return max(LEAST_UNDER_WAY, speed.replies)

    def _begin(self, request: GradeRequest, llm: Any, under_way: dict[str, UnderWay]) -> Reply | None:
        """Give the request to vLLM, alone, so that one that it refuses costs no other its grade; return the refusal."""
        began = time.perf_counter()
        try:
            (internal_id,) = self._enqueue(request, llm)
        except Exception as error:
            if _refused_prompt(error):
                return self._refused(error, time.perf_counter() - began)
            raise self._failed(error, under_way) from error
        # vLLM counts what it is given, and adds to the number what makes it unlike any other; outputs bear the number.
        under_way[internal_id.partition("-")[0]] = UnderWay(request, internal_id, began)
        return None

    def _enqueue(self, request: GradeRequest, llm: Any) -> list[str]:
        if self.decoding.get("endpoint") == "completions":
            return list(llm.enqueue([completion_prompt(request)], [self.sampling(request)], use_tqdm=False))
        return list(llm.enqueue_chat([conversation(request)], [self.sampling(request)], use_tqdm=False))

    def _step(self, llm: Any, under_way: dict[str, UnderWay]) -> list[tuple[UnderWay, Any]]:
        """Let vLLM take one step with all that it has, and return what that finished."""
        try:
            outputs = llm.llm_engine.step()
        except Exception as error:
            raise self._failed(error, under_way) from error
        return [(under_way.pop(output.request_id), output) for output in outputs if output.finished]

    def _failed(self, error: Exception, under_way: dict[str, UnderWay]) -> EngineUnavailable:
        """Let go of the model, and with it of all that it had; it is loaded anew by whoever asks next."""
        under_way.clear()
        self.held.unload()
        return EngineUnavailable(f"vLLM failed: {type(error).__name__}: {_first_line(error)}")

    def sampling(self, request: GradeRequest) -> Any:
        """Return what vLLM is told of how to reply."""
        vllm = _vllm()
        bound: dict[str, Any] = {}
        if request.constrained:
            bound = {"structured_outputs": _bound_to(choice=list(request.choices)), "logprobs": LOG_PROBABILITIES}
        if (drawn := request.sampling) is not None:
            form = {"grammar": drawn.grammar} if drawn.grammar else {"json": drawn.schema} if drawn.schema else {}
            form = {"structured_outputs": _bound_to(**form)} if form else {}
            return vllm.SamplingParams(
                temperature=drawn.temperature,
                top_p=drawn.top_p,
                seed=drawn.seed,
                stop=list(drawn.stop),
                max_tokens=request.reply_tokens or room_for(request.choices),
                **bound | form,
            )
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


class Speed:
    """Counts what was replied to lately: so much is worth having under way."""

    def __init__(self) -> None:
        self.replies = 0
        self._counts: deque[tuple[float, int]] = deque()

    def note(self, count: int) -> None:
        """Take in that so many were replied to now."""
        at = time.monotonic()
        self._counts.append((at, count))
        self.replies += count
        while self._counts[0][0] < at - SECONDS_UNDER_WAY:
            self.replies -= self._counts.popleft()[1]


def _bound_to(**outputs: Any) -> Any:
    return importlib.import_module("vllm.sampling_params").StructuredOutputsParams(**outputs)


def _vllm() -> Any:
    """Return vLLM's module. Raises EngineUnavailable where there is none."""
    if importlib.util.find_spec("vllm") is None:
        raise EngineUnavailable(
            "This worker has no vLLM. Workers of the queue “vllm” need it beside Assize: "
            f"{INSTALL} (docs/engines.md). A judge on a vLLM server does not need it here."
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
