"""The chart of a measure by slices of the topics: a radar, or lines where the slices have an order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

from collection.web.charts.drawing import HALF, described, first_of, told_apart
from collection.web.charts.palette import INK, RULE

MOST_SYSTEMS = 6
RINGS = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Slice:
    """A system's mean over the topics of a slice."""

    system: str
    group: str
    mean: float
    n_topics: int

    @property
    def says(self) -> str:
        return f"{self.system}, {self.group}: {self.mean:.3f}, topics: {self.n_topics}"


def slices_chart(
    found: Sequence[Slice], *, groups: Sequence[str], radar: bool, measure: str, title: str, subtitle: str
) -> dict[str, Any]:
    """Return the Vega-Lite description, of the first six systems: more lines cannot be told apart."""
    there = list(dict.fromkeys(one.system for one in found))
    systems = there[:MOST_SYSTEMS]
    shown = [one for one in found if one.system in systems]
    subtitle += first_of(len(systems), len(there), "systems")
    drawn = _radar(shown, groups, systems) if radar else _lines(shown, groups, systems, measure)
    if radar:
        subtitle += f"; the outer ring is {_reach(shown):g}"
    return described(drawn, title=title, subtitle=subtitle, width=HALF)


def _lines(shown: Sequence[Slice], groups: Sequence[str], systems: list[str], measure: str) -> Any:
    import altair as alt

    base = alt.Chart(alt.InlineData(values=[vars(one) | {"says": one.says} for one in shown]))
    x = alt.X("group:N", sort=list(groups), title=None, axis=alt.Axis(labelAngle=-30, labelLimit=180))
    y = alt.Y("mean:Q", scale=alt.Scale(zero=False, nice=True), title=f"{measure} (mean)")
    apart = told_apart("system:N", systems)
    lines = base.mark_line(strokeWidth=1.6).encode(x=x, y=y, color=apart["color"])
    dots = base.mark_point(size=52, strokeWidth=1.6, opacity=1).encode(x=x, y=y, description="says:N", **apart)
    return alt.layer(lines, dots).properties(height=320)


def _reach(shown: Sequence[Slice]) -> float:
    """Return what the outer ring stands for: 1 for shares, else the highest mean."""
    highest = max((one.mean for one in shown), default=1.0)
    return 1.0 if highest <= 1 else highest


def _radar(shown: Sequence[Slice], groups: Sequence[str], systems: list[str]) -> Any:
    """Return a spoke a slice, clockwise from the top, and a closed line a system; the middle is 0."""
    import altair as alt

    angle = {group: 2 * pi * place / len(groups) for place, group in enumerate(groups)}
    reach = _reach(shown)
    scale = alt.Scale(domain=[-1.35, 1.35], nice=False)
    x, y = (alt.X("x:Q", scale=scale, axis=None), alt.Y("y:Q", scale=scale, axis=None))

    def at(group: str, far: float) -> dict[str, float]:
        return {"x": far * sin(angle[group]), "y": far * cos(angle[group])}

    rings = [
        at(group, ring) | {"ring": ring, "order": place}
        for ring in RINGS
        for place, group in enumerate([*groups, groups[0]])
    ]
    spokes = [{"group": group, "order": far} | at(group, far) for group in groups for far in (0, 1)]
    names = [at(group, 1.16) | {"group": group} for group in groups]
    web = (
        alt.Chart(alt.InlineData(values=rings)).mark_line(color=RULE).encode(x=x, y=y, detail="ring:N", order="order:Q")
    )
    axes = (
        alt.Chart(alt.InlineData(values=spokes))
        .mark_line(color=RULE)
        .encode(x=x, y=y, detail="group:N", order="order:Q")
    )
    words = alt.Chart(alt.InlineData(values=names)).mark_text(color=INK, fontSize=12, limit=150, aria=False).encode(
        x=x, y=y, text="group:N"
    )  # fmt: skip
    by = {(one.system, one.group): one for one in shown}
    rows = [
        at(group, one.mean / reach) | {"system": system, "order": place, "says": one.says}
        for system in systems
        for place, group in enumerate([*groups, groups[0]])
        if (one := by.get((system, group)))
    ]
    apart = told_apart("system:N", systems)
    base = alt.Chart(alt.InlineData(values=rows))
    lines = base.mark_line(strokeWidth=1.6).encode(x=x, y=y, order="order:Q", color=apart["color"])
    dots = base.mark_point(size=46, strokeWidth=1.6, opacity=1).encode(x=x, y=y, description="says:N", **apart)
    return alt.layer(web, axes, lines, dots, words).properties(height=440)
