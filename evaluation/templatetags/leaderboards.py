"""`{% load boards %}`: what the leaderboard pages print."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

if TYPE_CHECKING:
    from stats.measures.rubric import LeaderboardMarks

register = template.Library()


@register.filter
def measure_name(name: str) -> str:
    """Return a measure's name as it is printed: Cover@20 ≥ 3."""
    return name.replace(">=", "≥").replace("≥", " ≥ ").replace("alpha-nDCG", "α-nDCG")


@register.filter
def as_query(value: str, name: str) -> str:
    """Return `name=value` for an address."""
    return urlencode({name: value})


@register.filter
def mark(marks: LeaderboardMarks | None, name: str) -> float | None:
    """Return one of a leaderboard's marks."""
    value: float | None = getattr(marks, name, None)
    return value


@register.filter
def places(rank: float) -> str:
    """Return a rank or a difference of two, with the half of a tie: 3, 3.5 or −2.5."""
    return f"{rank:g}".replace("-", "−")


@register.filter
def size(difference: float | None) -> float | None:
    """Return how large a difference is, whichever way it goes."""
    return None if difference is None else abs(difference)


@register.filter
def p_value(p: float | None) -> str:
    """Return .012, or < .001."""
    if p is None:
        return "–"
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


@register.filter
def strength(value: float) -> str:
    """Return the class of a correlation's cell: how thick its bar is."""
    return "r9" if value >= 0.9 else "r7" if value >= 0.7 else "r5" if value >= 0.5 else "r0"


@register.simple_tag
def sort_link(sort: str, key: str, label: str, chosen: str) -> SafeString:
    """Return a link that sorts by a column; by the one that is sorted by already, the other way round."""
    target = f"-{key}" if sort == key else key
    arrow = {key: " ↓", f"-{key}": " ↑"}.get(sort, "")
    said = {key: " (sorted)", f"-{key}": " (sorted, reversed)"}.get(sort, "")
    query = "&".join(filter(None, (chosen, urlencode({"sort": target}))))
    return format_html(
        '<a href="?{}">{}{}</a><span class="visually-hidden">{}</span>',
        SafeString(query.replace("&", "&amp;")),
        label,
        arrow,
        said,
    )
