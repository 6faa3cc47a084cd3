"""The categories of questions that LONG²RAG distinguishes, and which questions are held against theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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

CATEGORY = "category"
# Which question a model made this one of (a topic's id), and whether the question is worth asking.
SEED = "seed"
KEPT = "question_kept"
# Whether it is among those that new questions are made of: all that may be, where nobody chose.
CHOSEN = "seed_chosen"


def category_of(attributes: Mapping[str, Any]) -> str:
    """Return the category that a topic's attributes name, or nothing."""
    named = attributes.get(CATEGORY)
    return named if isinstance(named, str) else ""


def may_be_seed(attributes: Mapping[str, Any]) -> bool:
    """Whether new questions may be made of this one: it has a category, was kept, and was not made of another."""
    return bool(category_of(attributes)) and SEED not in attributes and attributes.get(KEPT) is not False
