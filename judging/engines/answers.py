"""What stands in a server's answer, at either endpoint, whatever else is missing or odd in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def text_of(choice: Mapping[str, Any]) -> str:
    """Return what one choice of an answer says, in the shape of either endpoint; nothing if that is no text."""
    message = choice.get("message")
    text = message.get("content") if isinstance(message, dict) else choice.get("text")
    return text if isinstance(text, str) else ""


def cached_tokens(said: Mapping[str, Any]) -> int | None:
    """Return how many of the prompt's tokens were in the server's prefix cache, None if it does not say."""
    usage = said.get("usage")
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    return count_of(details.get("cached_tokens")) if isinstance(details, dict) else None


def tokens_of(said: Mapping[str, Any] | None) -> tuple[int, int]:
    """Return the tokens of prompt and reply that an answer took, 0 where it does not say."""
    usage = (said or {}).get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return count_of(counts.get("prompt_tokens")) or 0, count_of(counts.get("completion_tokens")) or 0


def count_of(value: object) -> int | None:
    """Return a count that a database can hold, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def choices_of(said: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the choices of an answer, none if it has none."""
    choices = (said or {}).get("choices")
    return [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []


def thinking_tokens(said: Mapping[str, Any]) -> int | None:
    """Return how many tokens of an answer's usage were thinking, None where it does not say. They are in its sum."""
    usage = said.get("usage")
    if not isinstance(usage, dict):
        return None
    details = usage.get("completion_tokens_details")
    return count_of(details.get("reasoning_tokens") if isinstance(details, dict) else usage.get("reasoning_tokens"))
