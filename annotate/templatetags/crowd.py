"""`{% load crowd %}`: what the pay meter prints."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def minutes(seconds: float | None) -> str:
    """Return seconds as minutes: 12.5 min. No time was measured where it is 0."""
    return "–" if not seconds else f"{seconds / 60:.1f} min"


@register.filter
def percent(share: float) -> str:
    """Return a share as a percentage with as many places as it needs: 95 % is never said of 93.75 %."""
    return f"{share * 100:.4g} %"
