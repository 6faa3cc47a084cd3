"""How a product was made, and what came of adding products."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from collection.models import (
    BankVersion,
    Run,
    Topic,
    User,
)
from judging.building.calls import pipeline_of
from judging.building.review import UNREAD
from judging.engines.embedded import MODEL
from judging.models import Build, Product


@dataclass(frozen=True)
class Added:
    """How many were added, how many stood there with the same words, and the bank’s version or the run they are in."""

    new: int
    known: int
    into: BankVersion | Run | None = None


@dataclass(frozen=True)
class Adding:
    """Whose products are added: by whom, when, nuggets to which bank and reports as which run."""

    build: Build
    bank: str
    run: str
    by: User | None
    at: datetime


def making_of(product: Product) -> dict[str, Any]:
    """Return how a product was made: what every element, passage or report of it carries in its attributes.

    What was put together without a model names all prompts of the build; their hash is that of their hashes, joined.
    """
    build, call = product.build, product.call
    pipeline = pipeline_of(build)
    slot = pipeline.step(product.step).slot(call.kind)
    asked = [build.prompts[slot]] if slot in build.prompts else list(build.prompts.values())
    hashes = [prompt["hash"] for prompt in asked]
    answered_by = call.engine_identity or _who_answered(product)
    unread = product.state == Product.State.ACCEPTED and product.reviews.filter(text=UNREAD).exists()
    making = {
        "build": build.pk,
        "pipeline": build.pipeline,
        "step": product.step,
        "engine": build.engine,
        "model": build.model or MODEL,
        "answered_by": answered_by,
        "prompt": ", ".join(prompt["name"] for prompt in asked),
        "prompt_version": asked[0]["version"] if len(asked) == 1 else ", ".join(str(one["version"]) for one in asked),
        "prompt_hash": hashes[0] if len(hashes) == 1 else sha256("".join(hashes).encode()).hexdigest(),
        "sampling": call.sampling or {"seed": build.seed},
        "call": call.pk,
        "review": f"{product.state} {UNREAD}" if unread else product.state,
        "reviewed_by": product.reviewed_by.username if product.reviewed_by else "",
        "reviewed_at": product.reviewed_at.isoformat() if product.reviewed_at else "",
    }
    return making | ({"raw": product.raw} if product.state == Product.State.EDITED else {})


def _who_answered(product: Product) -> str:
    calls = product.build.calls.filter(topic=product.topic_id, set_aside=False).exclude(engine_identity="")
    return calls.order_by("pk").values_list("engine_identity", flat=True).last() or ""


def by_topic(products: Iterable[Product]) -> Mapping[Topic, list[Product]]:
    found: dict[Topic, list[Product]] = defaultdict(list)
    for product in products:
        found[product.topic].append(product)
    return found
