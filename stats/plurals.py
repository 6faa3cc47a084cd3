"""How many there are of something, in words that fit."""

from __future__ import annotations

SINGULARS = {"people": "person", "replies": "reply", "entries": "entry", "others": "other"}


def counted(n: float, units: str) -> str:
    """Return “1 topic” or “1,000 topics”."""
    return f"{n:,} {singular(units) if n == 1 else units}"


def singular(units: str) -> str:
    """Return the last word in the singular: “prompt template” of “prompt templates”."""
    *before, word = units.split(" ")
    return " ".join([*before, SINGULARS.get(word) or word.removesuffix("s")])


def times(n: int) -> str:
    """Return how often in words."""
    return {0: "never", 1: "once", 2: "twice"}.get(n, f"{n} times")
