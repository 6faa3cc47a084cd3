"""Encoder–decoder judges (FLAN-T5) inside a worker, by transformers.

Torch and transformers are no requirement of Assize: they are imported when a judge of this kind grades, in a worker
that listens to the queue `text2text`. A process holds one model at a time.

Where a reply is one of the choices, none is drawn: the prompt is encoded once, and the probability of every choice, its
end included, is computed. The likeliest is the reply, and the log-probabilities are the model's own, not scaled.
"""

from __future__ import annotations

import importlib
import importlib.util
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from collection.http import storable
from collection.models import Judgment
from judging.engines import EngineState, EngineUnavailable, GradeRequest, Reply
from judging.engines.messages import completion_prompt

INSTALL = "pip install torch transformers"
# FLAN-T5 was trained on prompts of so many tokens. A longer one is left ungraded: nothing is cut in silence.
MOST_TOKENS = 512
LOOK_SECONDS = 0.1


class Model:
    """The model that this process has loaded, if any, with its tokenizer. Whoever holds the lock may use it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._loaded: tuple[str, Any, Any] | None = None

    def load(self, name: str) -> tuple[Any, Any]:
        """Return the model and its tokenizer, loaded if it is another than the last. Raises EngineUnavailable."""
        if self._loaded is None or self._loaded[0] != name:
            self._loaded = None
            torch, transformers = packages()
            device = "cuda" if torch.cuda.is_available() else "cpu"
            try:
                tokenizer = transformers.AutoTokenizer.from_pretrained(name)
                model = transformers.AutoModelForSeq2SeqLM.from_pretrained(name, use_safetensors=True).to(device).eval()
            except Exception as error:
                said = (str(error).splitlines() or [type(error).__name__])[0]
                raise EngineUnavailable(f"transformers cannot load “{name}” as an encoder–decoder: {said}") from error
            self._loaded = (name, model, tokenizer)
        return self._loaded[1], self._loaded[2]


MODEL = Model()


class Text2TextEngine:
    """Grades with an encoder–decoder in this process, one prompt after the other."""

    def __init__(self, *, model: str, decoding: Mapping[str, Any], held: Model = MODEL) -> None:
        if decoding.get("temperature", 0):
            raise EngineUnavailable("A text-to-text judge computes how likely a grade is: its temperature must be 0.")
        self.model = model
        self.held = held

    def state(self) -> EngineState:
        """Say whether the packages are here; the model is loaded by the first grade."""
        try:
            return EngineState(available=True, identity=self._identity(), models=(self.model,))
        except EngineUnavailable as error:
            return EngineState(available=False, reason=str(error))

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        """Reply to one request after the other; the model is others' too between two of them."""
        for request in requests:
            while not stopping():
                if self.held.lock.acquire(timeout=LOOK_SECONDS):
                    try:
                        reply = self._reply(request)
                    finally:
                        self.held.lock.release()
                    yield request, reply
                    break
            else:
                return

    def _reply(self, request: GradeRequest) -> Reply:
        torch, _ = packages()
        model, tokenizer = self.held.load(self.model)
        began = time.perf_counter()
        ids = tokenizer(completion_prompt(request), return_tensors="pt").input_ids.to(model.device)
        asked = int(ids.shape[1])
        identity = self._identity()
        if asked > MOST_TOKENS:
            problem = f"The prompt has {asked:,} tokens; text-to-text judges read {MOST_TOKENS:,}."
            return Reply(ungraded=Judgment.Ungraded.TOO_LONG, error=problem, identity=identity, prompt_tokens=asked)
        try:
            with torch.inference_mode():
                said = (_choice if request.constrained else _text)(model, tokenizer, ids, request)
        except RuntimeError as error:
            raise EngineUnavailable(f"The model failed: {str(error).splitlines()[0]}") from error
        return Reply(**said, prompt_tokens=asked, seconds=time.perf_counter() - began, identity=identity)

    def _identity(self) -> str:
        _, transformers = packages()
        return f"transformers {transformers.__version__} (in the worker), {self.model}"[:300]


def packages() -> tuple[Any, Any]:
    """Return torch and transformers. Raises EngineUnavailable where there is none."""
    if missing := [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]:
        raise EngineUnavailable(
            f"This worker has no {' and no '.join(missing)}. Workers of the queue “text2text” need them beside Assize: "
            f"{INSTALL} (docs/engines.md)."
        )
    return importlib.import_module("torch"), importlib.import_module("transformers")


def _choice(model: Any, tokenizer: Any, ids: Any, request: GradeRequest) -> dict[str, Any]:
    """Return the likeliest choice with the log-probability of each."""
    torch, transformers = packages()
    spelled = tokenizer(list(request.choices), return_tensors="pt", padding=True)
    real = spelled.attention_mask.bool().to(model.device)
    labels = spelled.input_ids.to(model.device).masked_fill(~real, -100)
    encoded = model.get_encoder()(input_ids=ids).last_hidden_state.expand(len(labels), -1, -1)
    outputs = transformers.modeling_outputs.BaseModelOutput(last_hidden_state=encoded)
    mask = torch.ones_like(ids).expand(len(labels), -1)
    logits = model(encoder_outputs=outputs, attention_mask=mask, labels=labels).logits
    tokens = torch.log_softmax(logits.float(), dim=-1).gather(2, labels.clamp(min=0).unsqueeze(2)).squeeze(2)
    sums = tokens.masked_fill(~real, 0.0).sum(dim=1).tolist()
    best = max(range(len(sums)), key=sums.__getitem__)
    return {
        "text": request.choices[best],
        "finish_reason": "stop",
        "log_probabilities": dict(zip(request.choices, sums, strict=True)),
        "completion_tokens": int(real[best].sum()),
    }


def _text(model: Any, tokenizer: Any, ids: Any, request: GradeRequest) -> dict[str, Any]:
    """Return what the model writes, its likeliest token at each step."""
    (written,) = model.generate(ids, max_new_tokens=request.reply_tokens, do_sample=False, num_beams=1)
    ended = int(written[-1]) == tokenizer.eos_token_id
    return {
        "text": storable(tokenizer.decode(written, skip_special_tokens=True)),
        "finish_reason": "stop" if ended else "length",
        "completion_tokens": len(written) - 1,  # it begins with a token of its own
    }
