"""The chart of how systems miss key points: a bar a system, a stretch of it a way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collection.web.charts.drawing import described, first_of
from collection.web.charts.palette import series
from stats.measures.missed_points import MissedPoints

BAR = 26
MOST_SYSTEMS = 40


def missed_points_chart(
    found: Mapping[str, Sequence[MissedPoints]], names: Mapping[float, str], *, title: str, subtitle: str
) -> dict[str, Any]:
    """Return the Vega-Lite description; `names` are those of the ways, by grade."""
    import altair as alt

    systems = list(found)[:MOST_SYSTEMS]
    ways = list(names.values())
    rows = [
        {
            "system": system,
            "way": names[one.grade],
            "order": place,
            "share": one.share.value,
            "says": f"{system}, {names[one.grade]}: {one.share.value:.1%} of {one.n_points:,} missed points",
        }
        for system in systems
        for place, one in enumerate(found[system])
        if one.share.value
    ]
    colours = alt.Scale(domain=ways, range=series(ways))
    axis = alt.Axis(format=".0%", tickCount=5)
    whole = alt.Scale(domain=[0, 1], nice=False)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("share:Q", stack="zero", scale=whole, title="share of missed points", axis=axis),
        y=alt.Y("system:N", sort=systems, title=None, axis=alt.Axis(labelLimit=200, ticks=False, domain=False)),
        order="order:Q",
    )  # fmt: skip
    bars = base.mark_bar(stroke="#ffffff", strokeWidth=1.5).encode(
        color=alt.Color("way:N", title=None, sort=ways, scale=colours, legend=alt.Legend(orient="top", columns=3)),
        description="says:N",
    )
    subtitle += first_of(len(systems), len(found), "systems")
    return described(bars.properties(height=alt.Step(BAR)), title=title, subtitle=subtitle)
