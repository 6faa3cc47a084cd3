"""`{% load counts %}`, then `{{ n|counted:"topics" }}`: numbers in words that fit, and with a minus that is one."""

from django import template

from stats import plurals

register = template.Library()


@register.filter
def counted(n: float | None, units: str) -> str:
    """Return “1 topic” or “1,000 topics”; “0 topics” for None."""
    return plurals.counted(n or 0, units)


@register.filter
def minus(number: float | str) -> str:
    """Return a number, written already or not, with a minus that is one and no hyphen."""
    return str(number).replace("-", "−")
