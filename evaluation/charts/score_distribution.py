"""The chart of how scores are distributed and what a threshold on them keeps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from evaluation.charts.drawing import described, told_apart
from evaluation.charts.palette import QUIET
from stats.judges.score_thresholds import ScoreThreshold

CURVES = ("scores below it", "false positives (mean)")


def score_distribution_chart(found: Sequence[ScoreThreshold], *, title: str, subtitle: str) -> dict[str, Any]:
    """Return the Vega-Lite description: bars for the share of items by score, and by threshold two curves.

    The curves are the share of items below the threshold (the distribution's CDF) and the false positives among those
    from it up, mean over people.
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
    return described(alt.layer(columns, lines, dots).properties(height=320), title=title, subtitle=subtitle)
