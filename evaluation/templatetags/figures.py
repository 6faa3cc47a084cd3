"""`{% load figures %}`, then `{{ estimate|interval }}`: figures as pages print them."""

from __future__ import annotations

from django import template

from evaluation.agreement import plain_grade
from evaluation.intervals import Estimate
from evaluation.ratings import Grade
from evaluation.services.parts import times

register = template.Library()


@register.filter
def decimals(number: float | None) -> str:
    """Return 0.516, with a minus that is one; a dash for None."""
    return "–" if number is None else f"{number:.3f}".replace("-", "−")


@register.filter
def interval(estimate: Estimate) -> str:
    """Return “0.448 to 0.579”, or a dash where there is no interval."""
    if estimate.low is None or estimate.high is None:
        return "–"
    return f"{decimals(estimate.low)} to {decimals(estimate.high)}"


@register.filter
def percent(share: float | None) -> str:
    """Return “52 %”, with a decimal where it is small; a dash for None."""
    if share is None:
        return "–"
    return f"{share:.1%}".replace("%", " %") if 0 < share < 0.1 else f"{share:.0%}".replace("%", " %")


@register.filter
def grade(value: Grade) -> str:
    """Return a grade as people write it: 3, not 3.0."""
    return str(plain_grade(value)).replace("-", "−")


@register.filter(name="times")
def in_words(n: int) -> str:
    """Return how often: “once”, “3 times”."""
    return times(n)
