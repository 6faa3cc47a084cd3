"""`{% load tables %}`, then `{% table board.systems %}`: a `collection.web.tables.Table` on a page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from collection.templatetags.figures import cell, decimals, grade, interval, judge_mark, percent, signed
from collection.web.tables import Badged, Column, Kind, Link, Table
from stats.completeness import Completeness
from stats.intervals import Estimate

register = template.Library()
BADGE = ' <span class="badge {1}" title="{2}">{0}</span>'
PLAIN: dict[Kind, Any] = {
    "count": intcomma,
    "cell": cell,
    "words": cell,
    "grade": grade,
    "number": decimals,
    "share": percent,
    "signed": signed,
}


@register.inclusion_tag("collection/table.html")
def table(of: Table, *, most: int = 0, **wanted: Any) -> dict[str, Any]:
    """Show the table: the rows with the values that are `wanted` by column, of more than `most` the first."""
    if wanted:
        of = of.where(title=", ".join([of.title, *(str(one) for one in wanted.values() if one is not True)]), **wanted)
    shown = of.shown()
    rows = of.rows[:most] if most else of.rows
    return {
        "label": of.title,
        "note": of.note,
        "columns": [column for column, _ in shown],
        "rows": [[(column, shown_cell(column, row[place])) for column, place in shown] for row in rows],
        "n_left_out": len(of.rows) - len(rows),
    }


@register.simple_tag
def estimate(of: Estimate | None) -> SafeString:
    """Show a figure with its interval, or why there is none."""
    if of is None or of.value is None:
        reason = of.reason if of else ""
        spoken = format_html('<span class="visually-hidden"> undefined: {}</span>', reason) if reason else ""
        return format_html('<span title="{}">–{}</span>', reason, spoken)
    if of.low is not None:
        return format_html('{} <span class="spread">{}</span>', decimals(of.value), interval(of))
    if not of.reason:
        return format_html("{}", decimals(of.value))
    over = format_html(", {}", of.over) if of.over else ""
    return format_html(
        '{} <span class="spread" title="{}">no interval{}<span class="visually-hidden">: {}</span></span>',
        decimals(of.value),
        of.reason,
        over,
        of.reason,
    )


def shown_cell(column: Column, value: Any) -> Any:
    """Return what a page has in a cell."""
    match value:
        case Badged(of, badges, address):
            shown = shown_cell(column, of)
            linked = format_html('<a href="{}">{}</a>', address, shown) if address else shown
            return format_html("{}{}", linked, format_html_join("", BADGE, badges))
        case Estimate() if column.brief:
            return estimate(replace(value, sample=None, resampled=False))
        case _ if column.kind == "estimate":
            return estimate(value)
        case None:
            return "–"
        case Link(text, address, of):
            spoken = format_html('<span class="visually-hidden">, {}</span>', of) if of else ""
            return format_html('<a href="{}">{}{}</a>', address, text, spoken)
        case (name, Completeness() as completeness):
            return format_html("{}{}", name, judge_mark(completeness))
    show = PLAIN.get(column.kind, str)
    return show(value)
