"""Charts, drawn on the server as SVG: described with Altair, drawn by vl-convert.

Both are imported when a chart is drawn: together they take a hundred megabytes that a web process
serving assessors does without. What is compared differs in colour and by shape (`palette`), so
that a chart survives a photocopier. A page shows it in the page's colours, in one of two widths.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any

from collection.web.charts.palette import INK, PAPER, QUIET, RULE, in_the_page_s_colours, series
from stats.plurals import counted

# Pixels: of a whole chart as it is downloaded and shown, of one beside its numbers, and as a phone shows it.
WIDE, HALF, NARROW = 640, 520, 340
# Pixels that a character of a title and of smaller words takes, an axis with its labels, and a name on a phone.
TITLE, WORDS, AXIS, NARROW_NAME = 8.4, 6.8, 80, 140
# Pixels: of a panel at least, between two, of a character of the names beside them, and of such a name at most.
PANEL, GAP, PANEL_NAME, LONGEST_NAME = 96, 18, 5.6, 170
SHAPES = ["circle", "triangle-up", "square", "diamond", "cross", "triangle-down"]
# More marks than these make a picture of many megabytes that shows a cloud all the same.
MOST_MARKS = 2_000
NO_CHARACTERS_OF_A_CHART = re.compile("[^\\t\\n\\r\\x20-\\u2027\\u202a-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
NO_CHARACTERS_TO_CUT = re.compile("[^\\t\\n\\r\\x20-\\u2027\\u202a-\\ud7ff\\ue000-\\ufffd]")


def first_of(n_drawn: int, n: int, units: str) -> str:
    """Return what a subtitle says of a chart that leaves some out: “; the first 100 of 120 systems”; else nothing."""
    return "" if n_drawn == n else f"; the first {n_drawn:,} of {counted(n, units)}"


def told_apart(field: str, names: list[str], **legend: Any) -> dict[str, Any]:
    """Return the colours and shapes that tell these names apart, as encodings, with one legend above."""
    import altair as alt

    shapes = [SHAPES[place % len(SHAPES)] for place in range(len(names))]
    above = alt.Legend(orient="top", symbolStrokeWidth=1.6, **{"columns": 2, "labelLimit": 260} | legend)
    return {
        channel: encoding(field, title=None, sort=names, scale=alt.Scale(domain=names, range=how), legend=above)
        for channel, encoding, how in (("color", alt.Color, series(names)), ("shape", alt.Shape, shapes))
    }


def described(chart: Any, *, title: str, subtitle: str = "", width: int = WIDE) -> dict[str, Any]:
    """Return the Vega-Lite description of a chart in the style of all charts: `width` pixels with all that is on it.

    A mark says what it shows, to a pointer and to a screen reader, by its encoding `description`.
    """
    fitted = {"autosize": {"type": "fit-x", "contains": "padding"}}
    return _wrapped(_styled(chart.properties(width=width), title=title, subtitle=subtitle, **fitted))


def described_panels(
    chart: Any,
    *,
    title: str,
    subtitle: str,
    names: Sequence[str],
    n_panels: int,
    width: int = WIDE,
    panel: int = PANEL,
) -> dict[str, Any]:
    """Return the description of a chart of panels, as many side by side as fit beside the `names` down their side.

    `panel`: pixels that a panel takes at least.
    """
    longest = max((len(name) for name in names), default=0)
    description = _styled(chart, title=title, subtitle=subtitle)
    description["usermeta"] = {"names": longest * PANEL_NAME, "panels": n_panels, "panel": panel}
    return _wrapped(_laid_out(description, width))


def _laid_out(description: dict[str, Any], width: int) -> dict[str, Any]:
    """Lay the panels of a description, in place, in rows that fill the width."""
    meta = description["usermeta"]
    meta["width"] = width
    room = width - min(meta["names"], LONGEST_NAME if width > NARROW else NARROW_NAME) - 28
    columns = max(1, min(meta["panels"], int(room // (meta["panel"] + GAP))))
    description["columns"] = columns
    description["spec"]["width"] = int(room / columns) - GAP - 6
    return description


def _styled(chart: Any, *, title: str, subtitle: str, **config: Any) -> dict[str, Any]:
    styled = (
        chart.properties(background=PAPER, title={"text": title, "subtitle": subtitle})
        .configure(font="sans-serif", **config)
        .configure_title(
            anchor="start",
            frame="bounds",
            color=INK,
            subtitleColor=QUIET,
            fontSize=15,
            subtitleFontSize=13,
            subtitlePadding=4,
            offset=12,
        )
        .configure_axis(
            labelColor=INK,
            titleColor=INK,
            labelFontSize=12,
            titleFontSize=13,
            titleFontWeight="normal",
            gridColor=RULE,
            domainColor=QUIET,
            tickColor=QUIET,
            titlePadding=10,
        )
        .configure_view(stroke=None)
        .configure_legend(labelColor=INK, titleColor=INK, labelFontSize=12)
        .configure_header(labelColor=INK)
        .configure_rule(aria=False)
        .configure_line(aria=False)
    )
    description: dict[str, Any] = json.loads(styled.to_json())
    return description


def drawn(description: dict[str, Any]) -> dict[str, Any]:
    """Return a chart in all its forms: `svg`, `pdf` and `json` are files; `wide` and `narrow` what a page shows."""
    svg = draw(description)
    return {
        "svg": svg,
        "pdf": draw_pdf(description),
        "json": description,
        "wide": for_a_page(svg, description),
        "narrow": for_a_page(draw(narrowed(description)), description),
    }


def narrowed(description: dict[str, Any]) -> dict[str, Any]:
    """Return the description of the same chart for a phone: names cut short, titles in more lines."""
    narrow: dict[str, Any] = json.loads(json.dumps(description))
    if "facet" in narrow:
        _laid_out(narrow, NARROW)
    else:
        narrow["width"] = NARROW
    panels = narrow.get("columns")
    for one in _all_in(_wrapped(narrow)):
        if "labelLimit" in one:
            is_legend = "symbolStrokeWidth" in one
            one["labelLimit"] = NARROW - 60 if is_legend else min(one["labelLimit"], NARROW_NAME)
        if "columns" in one:
            one["columns"] = 1
        if isinstance(one.get("axis"), dict):
            one["axis"] |= {"labelOverlap": True}
    return narrow | ({"columns": panels} if panels else {})


def for_a_page(svg: str, description: dict[str, Any]) -> str:
    """Return a drawn chart for the page: in its colours, named, and for the keyboard (`static/js/charts.js`)."""
    name = escape(" ".join(_lines(description["title"]["text"])))
    opening = f'<svg tabindex="0" role="group" aria-roledescription="chart" aria-label="{name}"'
    return in_the_page_s_colours(svg).replace("<svg", opening, 1)


def _wrapped(description: dict[str, Any]) -> dict[str, Any]:
    """Break the titles of a description, in place, into lines that fit its width."""
    width = description["width"] if "width" in description else description["usermeta"]["width"]
    heading = description["title"]
    heading["text"] = _broken(heading["text"], width / TITLE)
    heading["subtitle"] = _broken(heading["subtitle"], width / WORDS)
    for one in _all_in(description):
        if isinstance(one.get("title"), (str, list)):
            one["title"] = _broken(one["title"], (width - AXIS) / WORDS)
    return description


def _broken(text: str | list[str], line: float) -> list[str]:
    return textwrap.wrap(" ".join(_lines(text)), int(line))


def _lines(text: str | list[str]) -> list[str]:
    return [text] if isinstance(text, str) else text


def _all_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of a description but its data."""
    if isinstance(value, dict):
        yield value
        for key, inner in value.items():
            if key not in ("data", "datasets"):
                yield from _all_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _all_in(inner)


def draw(description: dict[str, Any]) -> str:
    """Return the SVG of a Vega-Lite description, with U+FFFD for characters that no XML may hold.

    vl-convert ends the whole process over one of them, and Vega's expressions know no U+2028 and U+2029 in a text.
    """
    import vl_convert

    svg: str = _converted(vl_convert.vegalite_to_svg, description)
    return svg


def draw_pdf(description: dict[str, Any]) -> bytes:
    """Return the chart as a PDF of one page; characters as for `draw`."""
    import vl_convert

    pdf: bytes = _converted(vl_convert.vegalite_to_pdf, description)
    return pdf


def _converted(convert: Callable[..., Any], description: dict[str, Any]) -> Any:
    """Convert the description; again, with U+FFFD for every character of two UTF-16 units, where that fails.

    Vega cuts a long label between the two, and vl-convert cannot read a half.
    """
    try:
        return convert(_drawable(description, NO_CHARACTERS_OF_A_CHART), allowed_base_urls=[])
    except ValueError:
        return convert(_drawable(description, NO_CHARACTERS_TO_CUT), allowed_base_urls=[])


def _drawable(value: Any, without: re.Pattern[str]) -> Any:
    """Return the value with U+FFFD in its texts for these characters."""
    if isinstance(value, str):
        return without.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_drawable(key, without): _drawable(inner, without) for key, inner in value.items()}
    if isinstance(value, list):
        return [_drawable(inner, without) for inner in value]
    return value
