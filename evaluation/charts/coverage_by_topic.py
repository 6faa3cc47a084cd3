"""The chart of coverage topic by topic, a panel a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collection.web.charts.drawing import described_panels, told_apart
from collection.web.charts.palette import INK, QUIET

HEIGHT, PANEL = 170, 180
# Between the two lines of a head.
BREAK = "\u2003"


@dataclass(frozen=True)
class CoverageMark:
    """A report's coverage by a person or a judge, 0 to 1."""

    run: str
    topic: str
    by: str
    share: float

    @property
    def says(self) -> str:
        return f"{self.run}, {self.topic}, {self.by}: {self.share:.0%}"


def coverage_by_topic_chart(
    marks: Sequence[CoverageMark],
    *,
    runs: Sequence[str],
    people: Sequence[str],
    judge: str,
    rho: Mapping[str, str],
    title: str,
    subtitle: str,
) -> dict[str, Any]:
    """Return the Vega-Lite description: topics along x; a mark a person, a bar of their mean, the judge's line.

    `rho`: what stands below the name of a run, its correlations with the judge.
    """
    import altair as alt

    rows: list[dict[str, Any]] = [
        vars(one) | {"says": one.says, "kind": "judge" if one.by == judge else "person"} for one in marks
    ]
    topics = sorted({one.topic for one in marks})
    if judge:  # the line has a gap where the judge graded nothing
        graded = {(one.run, one.topic) for one in marks if one.by == judge}
        missing = [(run, topic) for run in runs for topic in topics if (run, topic) not in graded]
        rows += [{"run": run, "topic": topic, "by": judge, "share": None, "kind": "judge"} for run, topic in missing]
    heads = {run: f"{run}{BREAK}{rho[run]}" if rho.get(run) else run for run in runs}
    rows = [one | {"panel": heads[one["run"]]} for one in rows]
    x = alt.X("topic:N", sort=topics, title=None, axis=alt.Axis(labelAngle=-60, labelLimit=80, labelFontSize=9))
    scale = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(format=".0%", tickCount=5, labelFontSize=10)
    base = alt.Chart()
    bars = (
        base.transform_filter("datum.kind == 'person'")
        .mark_bar(color=QUIET, opacity=0.3, aria=False)
        .encode(x=x, y=alt.Y("mean(share):Q", scale=scale, title=None, axis=axis))
    )
    line = (
        base.transform_filter("datum.kind == 'judge'")
        .mark_line(color=INK, strokeWidth=1.6, point={"color": INK, "size": 18, "filled": True})
        .encode(x=x, y=alt.Y("share:Q", scale=scale))
    )
    points = (
        base.transform_filter("datum.kind == 'person'")
        .mark_point(size=36, strokeWidth=1.6, opacity=1)
        .encode(x=x, y=alt.Y("share:Q", scale=scale), description="says:N", **told_apart("by:N", list(people)))
    )
    layers = alt.layer(bars, line, points, data=alt.InlineData(values=rows)).properties(height=HEIGHT)
    header = alt.Header(labelExpr=f"split(datum.value, '{BREAK}')", labelLimit=180, labelFontSize=12)
    chart = layers.facet(
        facet=alt.Facet("panel:N", sort=list(heads.values()), title=None, header=header), columns=1, spacing=16
    )
    return described_panels(chart, title=title, subtitle=subtitle, names=["100%"], n_panels=len(runs), panel=PANEL)
