"""Charts of how far a judge may be believed, as Vega-Lite descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collection.web.charts.drawing import HALF, described, first_of, told_apart
from collection.web.charts.palette import INK, QUIET, SERIES
from stats.calibration.recalibration import CurvePoint
from stats.pattern_intervals import Estimate

OVERALL = "all items"
MOST_TICKS = 12
SHARE_AXIS: dict[str, Any] = {"format": ".0%", "values": [0, 0.2, 0.4, 0.6, 0.8, 1]}


def recalibration_chart(points: Sequence[CurvePoint], *, judge: str) -> dict[str, Any]:
    """Return people's share of yes by the judge's grade, with intervals, the rising curve and the number of labels."""
    import altair as alt

    names = ["ungraded" if point.grade is None else f"{point.grade:g}" for point in points]
    rows = [
        {
            "grade": name,
            "people": point.people.value,
            "low": point.people.low,
            "high": point.people.high,
            "isotonic": None if point.grade is None else point.isotonic,
            "labels": f"{point.n_labelled:,} of\n{point.n_items:,}",
            "says": f"judge {name}: people {in_percent(point.people)}, {point.n_labelled} of {point.n_items} labelled",
        }
        for name, point in zip(names, points, strict=True)
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("grade:N", sort=names, title="the judge’s grade", axis=alt.Axis(labelAngle=0, grid=False))
    )
    share = alt.Scale(domain=[0, 1.16], nice=False)
    spread = base.mark_rule(color=INK, strokeWidth=1.4).encode(
        y=alt.Y("low:Q", scale=share, title="human share of yes", axis=alt.Axis(**SHARE_AXIS)), y2="high:Q"
    )
    curve = base.mark_line(color=QUIET, strokeDash=[5, 4]).encode(y=alt.Y("isotonic:Q", scale=share))
    dots = base.mark_point(size=80, filled=True, opacity=1, color=SERIES[0]).encode(
        y=alt.Y("people:Q", scale=share), description="says:N"
    )
    counts = base.mark_text(aria=False, color=QUIET, fontSize=11, baseline="top", lineBreak="\n").encode(
        y=alt.datum(1.16), text="labels:N"
    )
    return described(
        alt.layer(curve, spread, dots, counts).properties(height=300),
        title=f"Human share of yes by the grade of {judge}",
        subtitle="With 95 % intervals; dashed: the rising curve; above: how many items are labelled",
        width=HALF,
    )


def scores_chart(scores: Sequence[tuple[str, str, Estimate]], *, judge: str, n_systems: int) -> dict[str, Any]:
    """Return systems' scores side by side: (system, method, estimate), in the order in which they are drawn.

    `n_systems`: how many there are, of which all or the first are drawn.
    """
    import altair as alt

    systems = list(dict.fromkeys(system for system, _, _ in scores))
    methods = list(dict.fromkeys(method for _, method, _ in scores))
    rows = [
        {
            "system": system,
            "method": method,
            "value": one.value,
            "low": one.low,
            "high": one.high,
            "says": f"{system}, {method}: {in_percent(one)}",
        }
        for system, method, one in scores
        if one.value is not None
    ]
    share = alt.Scale(domain=[0, 1], nice=False)
    step = 15
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("system:N", sort=systems, title=None, axis=alt.Axis(labelLimit=220, grid=False)),
        yOffset=alt.YOffset("method:N", sort=methods, scale=alt.Scale(domain=methods)),
    )
    apart = told_apart("method:N", methods)
    spread = base.mark_rule(strokeWidth=1.4).encode(
        x=alt.X("low:Q", scale=share, title="share of yes, mean over topics", axis=alt.Axis(**SHARE_AXIS)),
        x2="high:Q",
        color=apart["color"],
    )
    dots = base.mark_point(size=55, strokeWidth=1.6, opacity=1).encode(
        x=alt.X("value:Q", scale=share), description="says:N", **apart
    )
    height = max(len(systems) * (len(methods) + 1) * step, 90)
    return described(
        alt.layer(spread, dots).properties(height=height),
        title=f"Systems by the share of yes of {judge}, uncorrected and corrected",
        subtitle="With 95 % intervals"
        + first_of(len({system for system, _, _ in scores} - {OVERALL}), n_systems, "systems"),
    )


def threshold_chart(
    curves: Mapping[str, Sequence[tuple[float, float | None]]],
    *,
    chosen: float | None,
    judge: str,
    sign: str = "η",
    of: str = "judge grade",
) -> dict[str, Any]:
    """Return curves over the judge's threshold η: for each name its (η, value) points; `chosen` is marked.

    `sign` stands for the threshold, which is on what `of` says.
    """
    import altair as alt

    rows = [
        {"name": name, "at": at, "value": value, "says": f"{sign} {at:g}, {name}: {value:.3f}"}
        for name, points in curves.items()
        for at, value in points
        if value is not None
    ]
    names = list(curves)
    thresholds = sorted({at for points in curves.values() for at, _ in points})
    least = min([0.0, *(row["value"] for row in rows if isinstance(row["value"], float))])
    scale = alt.Scale(domain=[least, 1], nice=False)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "at:Q",
            scale=alt.Scale(zero=False),
            title=f"{sign}: the lowest {of} that counts as yes",
            axis=alt.Axis(values=thresholds if len(thresholds) <= MOST_TICKS else thresholds[1::2], format="~g"),
        ),
        y=alt.Y("value:Q", title="value", scale=scale),
    )
    apart = told_apart("name:N", names)
    lines = base.mark_line(strokeWidth=1.2).encode(color=apart["color"])
    dots = base.mark_point(size=60, strokeWidth=1.6, opacity=1).encode(description="says:N", **apart)
    layers = [lines, dots]
    if chosen is not None:
        mark = (
            alt.Chart(alt.InlineData(values=[{"at": chosen}])).mark_rule(color=INK, strokeDash=[3, 3]).encode(x="at:Q")
        )
        layers.insert(0, mark)
    return described(
        alt.layer(*layers).properties(height=300),
        title=f"Agreement of {judge} with people by threshold",
        subtitle="" if chosen is None else f"Dashed: the chosen {sign}, {chosen:g}",
        width=HALF,
    )


def in_percent(one: Estimate) -> str:
    """Return “62 % (55 to 70 %)”, or without an interval where there is none."""
    if one.value is None:
        return "–"
    value = f"{one.value * 100:.0f} %"
    return value if one.low is None or one.high is None else f"{value} ({one.low * 100:.0f} to {one.high * 100:.0f} %)"
