"""The chart of a leaderboard: each system's mean with its interval, by source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from collection.web.charts.drawing import described, first_of, told_apart

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

    @property
    def says(self) -> str:
        interval = "" if self.low == self.high else f", {self.low:.3f} to {self.high:.3f}"
        return f"{self.system}, {self.source}: {self.mean:.3f}{interval}"


def scores_chart(points: Sequence[ScorePoint], *, measure: str, n_topics: int | None) -> dict[str, Any]:
    """Return the Vega-Lite description: systems in the order in which they first occur, a shape for each source.

    `n_topics`: over how many topics the means are, None where the sources differ in that.
    """
    import altair as alt

    there = list(dict.fromkeys(point.system for point in points))
    systems = there[:MOST_SYSTEMS]
    sources = list(dict.fromkeys(point.source for point in points))
    shown = [vars(point) | {"says": point.says} for point in points if point.system in systems]
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
    apart = told_apart("source:N", sources, columns=1, labelLimit=560)
    spread = base.mark_rule(strokeWidth=1.4).encode(
        color=apart["color"],
        x=alt.X("low:Q", scale=scale, title=f"{measure} (mean)"),
        x2="high:Q",
        y=place,
        yOffset=offset,
    )
    dots = base.mark_point(size=46, strokeWidth=1.6, opacity=1).encode(
        x=alt.X("mean:Q", scale=scale),
        y=place,
        yOffset=offset,
        description="says:N",
        **apart,
    )
    height = ROW if len(sources) < 3 else 9 * len(sources) + 4
    return described(
        alt.layer(spread, dots).properties(height=alt.Step(height, **{"for": "position"})),
        title=f"Systems by {measure}",
        subtitle=f"Mean over {over} with its 95 % interval{first_of(len(systems), len(there), 'systems')}",
    )
