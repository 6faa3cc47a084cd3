"""`{% load figures %}`, then `{{ estimate|interval }}`: figures as pages print them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from collection.web.charts.urls import SUFFIXES
from stats.agreement.report import plain_grade
from stats.completeness import Completeness
from stats.pattern_intervals import Estimate
from stats.plurals import counted, times
from stats.ratings import Grade

if TYPE_CHECKING:
    from collection.web.reports import Report
    from stats.judges.errors import RaterPair

register = template.Library()


@register.simple_tag(takes_context=True)
def report_file(context: Context, report: Report, what: str, *of: str) -> str:
    """Return the address of the shown report's `json` or of one of its tables."""
    return reverse(
        f"{report.app}:{report.name}_{what}", args=[context["study"].name, *context["addressed"].values(), *of]
    )


@register.inclusion_tag("collection/chart.html")
def chart(name: str, *of: str, label: str, query: str = "", csv: str = "") -> dict[str, Any]:
    """Show the chart whose addresses are `evaluation:<name>_svg`, `_pdf` and `_json` (`charts.urls`), with its files.

    `of`: what the addresses hold; `label`: what the chart shows and where its numbers are; `csv`: their address.
    """
    addresses = {form: reverse(f"evaluation:{name}_{form}", args=of) for form in SUFFIXES}
    asked = f"?{query}" if query else ""
    return {"query": query, "asked": asked, "label": label, "csv": csv, **addresses}


@register.filter
def decimals(number: float | None) -> str:
    """Return 0.516, with a minus that is one; a dash for None."""
    return "–" if number is None else f"{number:.3f}".replace("-", "−")


@register.filter
def signed(number: float | None) -> str:
    """Return +0.016 or −0.016; a dash for None."""
    return "–" if number is None else f"{number:+.3f}".replace("-", "−")


@register.filter
def interval(estimate: Estimate) -> str:
    """Return “0.448 to 0.579, 25 topics”, or why it has no interval; a dash without a value."""
    return estimate.interval_in_words() or "–"


@register.filter
def on(value: float, axis: Any) -> float:
    """Return where a value stands on a picture’s axis, in percent of its width."""
    place: float = axis.place(value)
    return place


@register.filter
def percent(share: float | None) -> str:
    """Return “52 %”, with a decimal where it is small; a dash for None."""
    if share is None:
        return "–"
    return f"{share:.1%}".replace("%", " %") if 0 < share < 0.1 else f"{share:.0%}".replace("%", " %")


def cell(value: Any) -> str:
    """Return a cell of any table: a whole number as it is, another with three decimals, a dash for None."""
    if isinstance(value, float):
        return f"{value:g}" if value == int(value) else decimals(value)
    return "–" if value is None else str(value)


@register.filter
def grade(value: Grade) -> str:
    """Return a grade as people write it: 3, not 3.0."""
    return str(plain_grade(value)).replace("-", "−")


@register.filter
def shade(share: float | None) -> int:
    """Return how dark a cell with this share or coefficient is, 0 to 10 (`.shade-4` in evaluation.css)."""
    return min(10, max(0, math.ceil((share or 0) * 10)))


@register.filter
def pair_in_words(pair: RaterPair) -> str:
    """Return “177 items; κ 0.612, 0.448 to 0.701, 25 topics; alike 0.850, …” of two raters."""
    named = ((f"κ {decimals(pair.kappa.value)}", pair.kappa), (f"alike {decimals(pair.same.value)}", pair.same))
    said = (", ".join(filter(None, (figure, one.interval_in_words() or one.reason))) for figure, one in named)
    return "; ".join((counted(pair.n, "items"), *said))


@register.filter(name="times")
def in_words(n: int) -> str:
    """Return how often: “once”, “3 times”."""
    return times(n)


@register.simple_tag
def judge_mark(completeness: Completeness) -> SafeString | str:
    """Return the badge with a space before it; nothing for a judge that is complete and replies readably."""
    if not completeness.mark:
        return ""
    return format_html(
        ' <span class="badge warn" title="{}">{}<span class="visually-hidden">: {}</span></span>',
        completeness.why,
        completeness.mark,
        completeness.why,
    )
