"""The chart of a leaderboard: each system's mean with its interval, by source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.charts.drawing import INK, QUIET, SHAPES, described

ROW = 22
MOST_SYSTEMS = 100


@dataclass(frozen=True)
class ScorePoint:
    """A system's mean under a source with its interval; the ends are the mean where there is none."""

    system: str
    source: str
    mean: float
    low: float
    high: float


def scores_chart(points: Sequence[ScorePoint], *, measure: str, n_topics: int | None) -> dict[str, Any]:
    """Return the Vega-Lite description: systems in the order in which they first occur, a shape for each source.

    `n_topics`: over how many topics the means are, None where the sources differ in that.
    """
    import altair as alt

    systems = list(dict.fromkeys(point.system for point in points))[:MOST_SYSTEMS]
    sources = list(dict.fromkeys(point.source for point in points))
    shown = [vars(point) for point in points if point.system in systems]
    over = "each source’s topics" if n_topics is None else f"{n_topics} topic{'' if n_topics == 1 else 's'}"
    place = alt.Y(
        "system:N",
        sort=systems,
        title=None,
        axis=alt.Axis(labelLimit=260, grid=True, ticks=False, domain=False, labelPadding=8),
    )
    offset = alt.YOffset("source:N", sort=sources)
    base = alt.Chart(alt.InlineData(values=shown))
    scale = alt.Scale(zero=False, nice=True)
    spread = base.mark_rule(color=QUIET, strokeWidth=1.4).encode(
        x=alt.X("low:Q", scale=scale, title=f"{measure}: mean over {over} with its 95 % interval"),
        x2="high:Q",
        y=place,
        yOffset=offset,
    )
    filled = [INK, "#fff"]
    dots = base.mark_point(size=46, strokeWidth=1.4, color=INK, opacity=1).encode(
        x=alt.X("mean:Q", scale=scale),
        y=place,
        yOffset=offset,
        shape=alt.Shape(
            "source:N",
            title=None,
            sort=sources,
            scale=alt.Scale(domain=sources, range=[SHAPES[number % len(SHAPES)] for number in range(len(sources))]),
            legend=alt.Legend(orient="top", direction="vertical", labelLimit=560, symbolStrokeWidth=1.4),
        ),
        fill=alt.Fill(
            "source:N",
            title=None,
            sort=sources,
            scale=alt.Scale(domain=sources, range=[filled[number % 2] for number in range(len(sources))]),
        ),
    )
    height = ROW if len(sources) < 3 else 9 * len(sources) + 4
    return described(alt.layer(spread, dots).properties(width=560, height=alt.Step(height, **{"for": "position"})))
