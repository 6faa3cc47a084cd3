"""What a text that a model wrote, or a person edited, says of its topic: attributes, by what it is about. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from collection.question_categories import CATEGORIES, CATEGORY, KEPT

POINTS = "question_points"
# From how many points a question is kept (LONG²RAG, section 3.1).
KEPT_AT = 4
TYPES = ("Simple", "Complex", "Vague")


class NoAttribute(ValueError):
    """The text does not say what it should; the message tells what that is."""


def _points(text: str) -> dict[str, Any]:
    if not text.isdecimal() or not 1 <= int(text) <= 5:
        raise NoAttribute("points must be a whole number from 1 to 5")
    return {POINTS: int(text), KEPT: int(text) >= KEPT_AT}


def _category(text: str) -> dict[str, Any]:
    if text not in CATEGORIES:
        raise NoAttribute(f"a category is one of {', '.join(CATEGORIES)}")
    return {CATEGORY: text}


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
