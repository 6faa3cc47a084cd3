"""What a text that a model wrote, or a person edited, says of its topic: attributes, by what it is about. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

POINTS = "question_points"
# From how many points a question is kept (LONG²RAG, section 3.1).
KEPT_AT = 4
# LONG²RAG’s eight categories (Figure 3), explained with examples of ours.
CATEGORIES: Mapping[str, str] = {
    "factual": "asks what is the case, who, when or where. “Which organs does a seahorse breathe with?”",
    "explanatory": "asks how something works or what it means. “How does a heat pump warm a house in winter?”",
    "comparative": "asks how things differ or which suits better. “Is rye or spelt the better choice for poor soil?”",
    "subjective": "asks for an opinion or a judgment of taste. “What makes a museum worth a second visit?”",
    "methodological": "asks how something is done, step by step. “How do I restore a painting that got wet?”",
    "causal": "asks why something happens or what follows from it. “Why did so many lakes lose their eels?”",
    "hypothetical": "asks what would be if something were otherwise. “What if the moon were twice as near?”",
    "predictive": "asks what will come. “How will glaciers in the Alps look in fifty years?”",
}
TYPES = ("Simple", "Complex", "Vague")


class NoAttribute(ValueError):
    """The text does not say what it should; the message tells what that is."""


def _points(text: str) -> dict[str, Any]:
    if not text.isdecimal() or not 1 <= int(text) <= 5:
        raise NoAttribute("points must be a whole number from 1 to 5")
    return {POINTS: int(text), "question_kept": int(text) >= KEPT_AT}


def _category(text: str) -> dict[str, Any]:
    if text not in CATEGORIES:
        raise NoAttribute(f"a category is one of {', '.join(CATEGORIES)}")
    return {"category": text}


def _parts(text: str) -> dict[str, Any]:
    kind, *questions = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    if kind not in TYPES or bool(questions) == (kind == "Simple"):
        raise NoAttribute(
            f"the first line is one of {', '.join(TYPES)}, and the questions follow, a line each; a simple one has none"
        )
    return {"question_type": kind, "sub_questions": questions}


READ: Mapping[str, Callable[[str], dict[str, Any]]] = {
    POINTS: _points, "category": _category, "question_type": _parts,
}  # fmt: skip


def attributes_in(about: str, text: str) -> dict[str, Any]:
    """Return the attributes that the text gives a topic. Raises NoAttribute."""
    return READ[about](text.strip())
