"""Terms to scan for: words that a researcher wants assessors to look for in the texts of a study."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError

MOST_TERMS = 200
LONGEST_TERM = 100
OF_TOPIC = "terms"  # of a topic's attributes


def terms_in(written: str) -> list[str]:
    """Return the terms that are written one a line, each once."""
    return list(dict.fromkeys(filter(None, (" ".join(line.split()) for line in written.splitlines()))))


def check_terms(written: str) -> None:
    """Raise ValidationError for too many terms, or one that is too long to be a term."""
    terms = terms_in(written)
    if len(terms) > MOST_TERMS:
        raise ValidationError(f"These are {len(terms):,} terms; enter at most {MOST_TERMS}.")
    if long := next((term for term in terms if len(term) > LONGEST_TERM), None):
        raise ValidationError(f"“{long[:40]}…” is longer than {LONGEST_TERM} characters. Write one term a line.")


def terms_of(study: Any, topic: Any) -> list[str]:
    """Return the study's terms, then those that the topic's attributes name, each once."""
    named = topic.attributes.get(OF_TOPIC) if isinstance(topic.attributes, dict) else None
    of_topic = [term for term in named if isinstance(term, str)] if isinstance(named, list) else []
    of_topic = [term for term in of_topic if len(term) <= LONGEST_TERM][:MOST_TERMS]
    return list(dict.fromkeys([*terms_in(study.terms), *terms_in("\n".join(of_topic))]))
