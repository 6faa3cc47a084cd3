"""The chart of coverage by people and by judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from collection.web.charts.drawing import HALF, MOST_MARKS, described, first_of, told_apart
from collection.web.charts.palette import QUIET


@dataclass(frozen=True)
class CoveragePoint:
    """A text: the mean of people's coverages with the least and the most of them, and the judge's. Shares, 0 to 1."""

    judge_name: str
    text: str
    people_mean: float
    people_least: float
    people_most: float
    judge: float

    @property
    def says(self) -> str:
        least, most = f"{self.people_least:.0%}", f"{self.people_most:.0%}"
        people = f"people {self.people_mean:.0%}" + ("" if least == most else f" ({least} to {most})")
        return f"{self.text}: {people}, {self.judge_name} {self.judge:.0%}"


def coverage_chart(points: Sequence[CoveragePoint], *, unit: str) -> dict[str, Any]:
    """Return the Vega-Lite description of people's coverage against judges', one mark a text and judge."""
    import altair as alt

    judges = list(dict.fromkeys(point.judge_name for point in points))
    marks = [vars(point) | {"says": point.says} for point in points[:MOST_MARKS]]
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
    dots = base.mark_point(size=70, strokeWidth=1.6, opacity=1).encode(
        x=alt.X(
            "people_mean:Q",
            scale=share,
            title=f"human coverage of a {unit} (mean; line: lowest to highest)",
            axis=alt.Axis(**axis),
        ),
        y=alt.Y("judge:Q", scale=share, title="coverage by the judge", axis=alt.Axis(**axis)),
        description="says:N",
        **told_apart("judge_name:N", judges),
    )
    return described(
        alt.layer(equal, spread, dots).properties(height=420),
        title=f"Human and judge coverage of each {unit}",
        subtitle="Share of its questions answered with yes; on the dashed line both are equal"
        + first_of(len(marks), len(points), "marks"),
        width=HALF,
    )
