"""What a judge is made of, as its rater tells it: for pages that know judges from `collection` alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from collection.models import Rater

ENGINES = {
    "lexical": "lexical overlap (no model)",
    "embedded": "embedded small model",
    "openai": "OpenAI-compatible server",
    "vllm": "vLLM in a worker",
    "text2text": "encoder–decoder in a worker",
    "ensemble": "ensemble of judges",
}
BASELINES = {"lexical", "embedded"}


@dataclass(frozen=True)
class Making:
    """A judge's engine in words, its model and its prompt template with the version; empty where nothing is known.

    `weak` marks baselines for trying things out. Of an imported judge its file tells the model and the prompt's name.
    """

    engine: str
    model: str
    template: str
    weak: bool

    def as_dict(self) -> dict[str, Any]:
        return {"engine": self.engine, "model": self.model, "template": self.template, "weak": self.weak}


def making_of(judge: Rater) -> Making:
    """Return what the judge is made of."""
    attributes = judge.attributes
    engine = str(attributes.get("engine") or "")
    template = attributes.get("template")
    if isinstance(template, dict):
        named = f"{template.get('name', '')} v{template.get('version', '')}"
    else:
        named = str(attributes.get("prompt_class") or template or "")
    decoding = attributes.get("decoding")
    return Making(
        engine=ENGINES.get(engine, engine),
        model=str(attributes.get("model") or ""),
        template=named,
        weak=engine in BASELINES or (isinstance(decoding, dict) and bool(decoding.get("weak"))),
    )
