"""Charts of several panels side by side, one a measure say, each with its own axis; on a phone below one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from collection.web.charts.drawing import described_panels, first_of, told_apart
from collection.web.charts.palette import QUIET

ROW, MOST_SYSTEMS = 13, 100
ROLES = ("other", "best", "worst", "set apart")


@dataclass(frozen=True)
class PanelPoint:
    """A system's mean in a panel with its interval; the ends are None where there is none. `role`: one of ROLES."""

    panel: str
    system: str
    mean: float
    low: float | None
    high: float | None
    role: str

    @property
    def says(self) -> str:
        interval = "" if self.low is None or self.high is None else f", {self.low:.3f} to {self.high:.3f}"
        role = "" if self.role == "other" else f", {self.role}"
        return f"{self.system}, {self.panel}: {self.mean:.3f}{interval}{role}"


def panels_chart(
    points: Sequence[PanelPoint], *, panels: Sequence[str], medians: dict[str, float], title: str, subtitle: str
) -> dict[str, Any]:
    """Return the Vega-Lite description: systems down the side in the order in which they first occur.

    `medians`: of each panel, drawn as a dashed line.
    """
    import altair as alt

    there = list(dict.fromkeys(point.system for point in points))
    systems = there[:MOST_SYSTEMS]
    rows = [vars(one) | {"says": one.says, "median": medians.get(one.panel)} for one in points if one.system in systems]
    place = alt.Y(
        "system:N", sort=systems, title=None,
        axis=alt.Axis(labelLimit=170, grid=True, ticks=False, domain=False, labelPadding=6, labelFontSize=10),
    )  # fmt: skip
    scale = alt.Scale(zero=False, nice=True)
    axis = alt.Axis(tickCount=3, labelFontSize=10)
    base = alt.Chart()
    median = base.mark_rule(color=QUIET, strokeDash=[3, 3]).encode(x=alt.X("mean(median):Q", scale=scale))
    spread = base.mark_rule(color=QUIET, strokeWidth=1.2).encode(
        x=alt.X("low:Q", scale=scale, title=None, axis=axis), x2="high:Q", y=place
    )
    dots = base.mark_point(size=34, strokeWidth=1.6, opacity=1).encode(
        x=alt.X("mean:Q", scale=scale),
        y=place,
        description="says:N",
        **_roles_told_apart([role for role in ROLES if any(one.role == role for one in points)]),
    )
    header = alt.Header(labelExpr="split(datum.value, ' · ')", labelLimit=130, labelFontSize=11)
    layers = alt.layer(median, spread, dots, data=alt.InlineData(values=rows)).properties(height=alt.Step(ROW))
    chart = layers.facet(
        facet=alt.Facet("panel:N", sort=list(panels), title=None, header=header),
        columns=1,
        spacing=14,
    ).resolve_scale(x="independent")
    return described_panels(
        chart, title=title, subtitle=subtitle + first_of(len(systems), len(there), "systems"), names=systems,
        n_panels=len(panels),
    )  # fmt: skip


def _roles_told_apart(roles: list[str]) -> dict[str, Any]:
    """Return the encodings of the roles that there are; where no system stands out there is no legend."""
    found = told_apart("role:N", list(ROLES), values=roles)
    return found if roles != ["other"] else {name: one.legend(None) for name, one in found.items()}
