"""`{% load figures %}`, then `{{ estimate|interval }}`: figures as pages print them."""

from __future__ import annotations

from django import template

from evaluation.data.visibility import times
from stats.agreement.report import plain_grade
from stats.pattern_intervals import Estimate
from stats.ratings import Grade

register = template.Library()


@register.filter
def decimals(number: float | None) -> str:
    """Return 0.516, with a minus that is one; a dash for None."""
    return "–" if number is None else f"{number:.3f}".replace("-", "−")


@register.filter
def interval(estimate: Estimate) -> str:
    """Return “0.448 to 0.579, 25 topics”, or why there is no interval; a dash where there is no value."""
    return estimate.interval_in_words() or "–"


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
