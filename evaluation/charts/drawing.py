"""Charts, drawn on the server as SVG: described with Altair, drawn by vl-convert.

Both are imported when a chart is drawn: together they take a hundred megabytes that a web process
serving assessors does without. Charts are ink on white paper, told apart by shape and filling, so
that they survive a photocopier and a page in dark mode.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

INK, QUIET, RULE = "#26231e", "#625c52", "#e2ddd2"
SHAPES = ["circle", "triangle-up", "square", "diamond", "cross", "triangle-down"]
# More marks than these make a picture of many megabytes that shows a cloud all the same.
MOST_MARKS = 2_000
NO_CHARACTERS_OF_A_CHART = re.compile("[^\\t\\n\\r\\x20-\\u2027\\u202a-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


@dataclass(frozen=True)
class CoveragePoint:
    """A text: the mean of people's coverages with the least and the most of them, and the judge's. Shares, 0 to 1."""

    judge_name: str
    text: str
    people_mean: float
    people_least: float
    people_most: float
    judge: float


def coverage_chart(points: Sequence[CoveragePoint], *, unit: str) -> dict[str, Any]:
    """Return the Vega-Lite description of people's coverage against judges', one mark a text and judge."""
    import altair as alt

    judges = list(dict.fromkeys(point.judge_name for point in points))
    marks = [vars(point) for point in points[:MOST_MARKS]]
    share = alt.Scale(domain=[0, 1], nice=False)
    axis: dict[str, Any] = {"format": ".0%", "values": [0, 0.2, 0.4, 0.6, 0.8, 1], "offset": 8}
    ends = alt.InlineData(values=[{"from": 0, "to": 1}])
    equal = (
        alt.Chart(ends)
        .mark_rule(color=QUIET, strokeDash=[4, 4])
        .encode(x=alt.X("from:Q", scale=share), y=alt.Y("from:Q", scale=share), x2="to:Q", y2="to:Q")
    )
    base = alt.Chart(alt.InlineData(values=marks))
    spread = base.mark_rule(color=QUIET, opacity=0.5).encode(
        x=alt.X("people_least:Q", scale=share), x2="people_most:Q", y=alt.Y("judge:Q", scale=share)
    )
    shape = shapes_of("judge_name:N", judges, labelLimit=400)
    dots = base.mark_point(size=70, strokeWidth=1.6, color=INK).encode(
        x=alt.X(
            "people_mean:Q",
            scale=share,
            title=f"human coverage of a {unit} (mean; line: lowest to highest)",
            axis=alt.Axis(**axis),
        ),
        y=alt.Y("judge:Q", scale=share, title="coverage by the judge", axis=alt.Axis(**axis)),
        shape=shape,
    )
    return described(alt.layer(equal, spread, dots).properties(width=420, height=420))


def shapes_of(field: str, names: list[str], **legend: Any) -> Any:
    """Return the shapes that tell these names apart, told in a legend above."""
    import altair as alt

    shapes = [SHAPES[place % len(SHAPES)] for place in range(len(names))]
    above = alt.Legend(orient="top", symbolStrokeColor=INK, symbolStrokeWidth=1.6, **legend)
    return alt.Shape(field, title=None, sort=names, scale=alt.Scale(domain=names, range=shapes), legend=above)


def described(chart: Any) -> dict[str, Any]:
    """Return the Vega-Lite description of a chart in the style of all charts."""
    styled = (
        chart.properties(background="#fff")
        .configure(font="sans-serif")
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
        .configure_legend(labelColor=INK, labelFontSize=12)
    )
    description: dict[str, Any] = json.loads(styled.to_json())
    return description


def draw(description: dict[str, Any]) -> str:
    """Return the SVG of a Vega-Lite description, with U+FFFD for characters that no XML may hold.

    vl-convert ends the whole process over one of them, and Vega's expressions know no U+2028 and U+2029 in a text.
    """
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(_drawable(description), allowed_base_urls=[])
    return svg


def _drawable(value: Any) -> Any:
    """Return the value with U+FFFD in its texts for what is no Char of XML 1.0 (section 2.2) or ends a line in Vega."""
    if isinstance(value, str):
        return NO_CHARACTERS_OF_A_CHART.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_drawable(key): _drawable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_drawable(inner) for inner in value]
    return value
