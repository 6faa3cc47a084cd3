"""The chart of how scores are distributed and what a threshold on them keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from collection.web.charts.drawing import described, told_apart
from collection.web.charts.palette import INK, QUIET
from stats.judges.score_thresholds import ScoreThreshold

CURVES = ("scores below it", "false positives (mean)")


def score_distribution_chart(
    found: Sequence[ScoreThreshold], marked: Mapping[float, float], *, title: str, subtitle: str
) -> dict[str, Any]:
    """Return the Vega-Lite description: bars for the share of items by score, and by threshold two curves.

    The curves are the share of items below the threshold (the distribution's CDF) and the false positives among those
    from it up, mean over people with its interval. Dotted lines stand at the scores that are `marked` by their share in
    the distribution; for scores from 0 to 1 the dashed line is where a uniform distribution's CDF would be.
    """
    import altair as alt

    steps = [one.at for one in found]
    width = min((high - low for low, high in pairwise(steps)), default=1.0)
    after = [*(one.share_kept for one in found[1:]), 0.0]
    bars = [
        {
            "from": one.at - width * 0.4,
            "to": one.at + width * 0.4,
            "share": one.share_kept - rest,
            "zero": 0,
            "says": f"{one.at:g}: {one.share_kept - rest:.1%} of scores",
        }
        for one, rest in zip(found, after, strict=True)
    ]
    points = [
        {"at": one.at, "curve": curve, "share": share, "says": f"{curve} {one.at:g}: {share:.1%}"}
        for one in found
        for curve, share in zip(CURVES, (1 - one.share_kept, one.mean), strict=True)
        if share is not None
    ]
    scale, axis = alt.Scale(domain=[0, 1], nice=False), alt.Axis(format=".0%", tickCount=6)
    spans = [
        {"at": one.at, "low": wrong.low, "high": wrong.high, "curve": CURVES[1]}
        for one in found
        if (wrong := one.false_positives).low is not None
    ]
    columns = alt.Chart(alt.InlineData(values=bars)).mark_rect(color=QUIET, opacity=0.3).encode(
        x=alt.X("from:Q", title="score, or threshold"), x2="to:Q",
        y=alt.Y("zero:Q", scale=scale, title="share", axis=axis), y2="share:Q", description="says:N",
    )  # fmt: skip
    base = alt.Chart(alt.InlineData(values=points))
    there = [curve for curve in CURVES if any(one["curve"] == curve for one in points)]
    apart = told_apart("curve:N", list(CURVES), values=there)
    lines = base.mark_line(strokeWidth=1.6).encode(x="at:Q", y=alt.Y("share:Q", scale=scale), color=apart["color"])
    dots = base.mark_point(size=40, strokeWidth=1.6, opacity=1).encode(
        x="at:Q", y=alt.Y("share:Q", scale=scale), description="says:N", **apart
    )
    layers = [columns, *_marks(marked)]
    if found[0].at >= 0 and found[-1].at <= 1:
        ends = alt.Chart(alt.InlineData(values=[{"at": 0, "share": 0}, {"at": 1, "share": 1}]))
        layers.append(ends.mark_line(color=QUIET, strokeDash=[6, 4]).encode(x="at:Q", y=alt.Y("share:Q", scale=scale)))
    if spans:
        drawn = alt.Chart(alt.InlineData(values=spans)).mark_rule(strokeWidth=1.2)
        layers.append(drawn.encode(x="at:Q", y=alt.Y("low:Q", scale=scale), y2="high:Q", color=apart["color"]))
    return described(alt.layer(*layers, lines, dots).properties(height=320), title=title, subtitle=subtitle)


def _marks(marked: Mapping[float, float]) -> list[Any]:
    """Return a dotted line at each marked score, with the share in words; shares of one score share a line."""
    import altair as alt

    at: dict[float, list[str]] = {}
    for share, score in marked.items():
        at.setdefault(score, []).append(f"{share:g}")
    rows = [{"at": score, "shares": f"CDF {', '.join(shares)}"} for score, shares in at.items()]
    base = alt.Chart(alt.InlineData(values=rows)).encode(x="at:Q")
    words = base.mark_text(color=INK, angle=270, align="right", baseline="bottom", dx=-4, dy=-3, fontSize=10)
    return [
        base.mark_rule(color=QUIET, strokeDash=[2, 3]).encode(description="shares:N"),
        words.encode(text="shares:N", y=alt.value(0)),
    ]
