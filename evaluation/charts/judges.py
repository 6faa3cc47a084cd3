"""Charts that compare judges: how far each agrees with people, how far they are apart, and how one ranks systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from collection.web.charts.drawing import described, first_of, told_apart
from collection.web.charts.palette import INK, QUIET

ROW, BUMP = 20, 22
MOST_SYSTEMS = 60
STAGES = ("people", "judge", "recalibrated")
MOVES = ("higher by the judge", "lower by the judge", "the same rank")


@dataclass(frozen=True)
class JudgeRow:
    """A judge's figure with its interval, None where there is none; `group` says how it stands to the reference."""

    judge: str
    group: str
    value: float
    low: float | None
    high: float | None

    @property
    def says(self) -> str:
        interval = "" if self.low is None or self.high is None else f", {self.low:.3f} to {self.high:.3f}"
        return f"{self.judge}: {self.value:.3f}{interval}, {self.group}"


@dataclass(frozen=True)
class SystemRanks:
    """A system's ranks by people, by a judge, and by its recalibrated grades if there are such; 1 is the best."""

    system: str
    people: float
    judge: float
    recalibrated: float | None


def forest_chart(
    rows: Sequence[JudgeRow], *, groups: Sequence[str], axis: str, title: str, subtitle: str, zero: bool = False
) -> dict[str, Any]:
    """Return the Vega-Lite description of figures with intervals, a row for each judge in their order.

    `groups` are all that there can be, so that each looks the same in every chart; `zero` draws a line where two are
    equal.
    """
    import altair as alt

    there = [group for group in groups if any(row.group == group for row in rows)]
    place = alt.Y(
        "judge:N",
        sort=[row.judge for row in rows],
        title=None,
        axis=alt.Axis(labelLimit=260, grid=True, ticks=False, domain=False, labelPadding=8),
    )
    scale = alt.Scale(zero=False, nice=True)
    apart = told_apart("group:N", list(groups), values=there)
    base = alt.Chart(alt.InlineData(values=[vars(row) | {"says": row.says} for row in rows]))
    spread = base.mark_rule(strokeWidth=1.4).encode(
        x=alt.X("low:Q", scale=scale, title=axis), x2="high:Q", y=place, color=apart["color"]
    )
    dots = base.mark_point(size=52, strokeWidth=1.6, opacity=1).encode(
        x=alt.X("value:Q", scale=scale), y=place, description="says:N", **apart
    )
    equal = alt.Chart(alt.InlineData(values=[{"at": 0}])).mark_rule(color=QUIET, strokeDash=[4, 4]).encode(x="at:Q")
    layers = [equal, spread, dots] if zero else [spread, dots]
    chart = alt.layer(*layers).properties(height=alt.Step(ROW))
    return described(chart, title=title, subtitle=subtitle)


def ranks_chart(ranks: Sequence[SystemRanks], *, judge: str, measure: str, over: str) -> dict[str, Any]:
    """Return ranks of systems by people, by one judge and recalibrated, each system a line with its name at both ends.

    Systems are given best first by people; the first sixty are drawn.
    """
    import altair as alt

    shown = ranks[:MOST_SYSTEMS]
    stages = [stage for stage in STAGES if all(getattr(one, stage) is not None for one in shown)]
    rows = [
        {
            "system": one.system,
            "stage": stage,
            "rank": getattr(one, stage),
            "moves": MOVES[0] if one.judge < one.people else MOVES[1] if one.judge > one.people else MOVES[2],
            "says": f"{one.system}, {stage}: rank {getattr(one, stage):g}",
        }
        for one in shown
        for stage in stages
    ]
    lowest = max(row["rank"] for row in rows)
    there = [move for move in MOVES if any(row["moves"] == move for row in rows)]
    apart = told_apart("moves:N", list(MOVES), columns=3, values=there)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "stage:N",
            sort=stages,
            title=None,
            scale=alt.Scale(type="point", padding=1.1),
            axis=alt.Axis(labelAngle=0, grid=False, orient="top", ticks=False, domain=False),
        ),
        y=alt.Y(
            "rank:Q",
            scale=alt.Scale(domain=[0.5, lowest + 0.5], reverse=True, nice=False),
            axis=None,
        ),
        detail="system:N",
    )
    lines = base.mark_line(strokeWidth=1.6).encode(color=apart["color"])
    dots = base.mark_point(size=46, strokeWidth=1.6, opacity=1, filled=True).encode(description="says:N", **apart)
    ends: tuple[tuple[str, Literal["left", "right"], int], ...] = ((stages[0], "right", -9), (stages[-1], "left", 9))
    names = [
        base.transform_filter(alt.FieldEqualPredicate(field="stage", equal=stage))
        .mark_text(aria=False, color=INK, align=align, dx=dx, fontSize=12, limit=120, baseline="middle")
        .encode(text="system:N")
        for stage, align, dx in ends
    ]
    return described(
        alt.layer(lines, dots, *names).properties(height=max(BUMP * len(shown), 120)),
        title=f"Ranks of systems by people and by {judge}",
        subtitle=f"By {measure}, over {over}; recalibrated: its grades counted as people’s on the other topics"
        f"{first_of(len(shown), len(ranks), 'systems')}",
    )
