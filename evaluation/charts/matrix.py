"""A square picture of how alike things are, two by two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collection.web.charts.drawing import described
from collection.web.charts.palette import INK, SERIES

CELL = 30
POSITIVE, NEGATIVE = "alike", "opposed"


def coefficients_chart(
    names: Sequence[str], values: Mapping[tuple[str, str], float | None], *, coefficient: str, title: str, subtitle: str
) -> dict[str, Any]:
    """Return the Vega-Lite description: a square a pair, the darker the further from 0, with its number in it.

    Rows and columns are the `names` in their order; columns have their numbers, which stand before the names of rows.
    `values`: the coefficient, −1 to 1, of (row, column); a pair without one is left empty.
    """
    import altair as alt

    told = {name: f"{number}  {name}" for number, name in enumerate(names, start=1)}
    rows = [
        {
            "row": told[one],
            "column": str(place),
            "size": abs(value),
            "sign": POSITIVE if value >= 0 else NEGATIVE,
            "value": f"{value:.2f}".replace("-", "−").replace("0.", ".", 1),
            "says": f"{one} and {other}: {coefficient} {value:.3f}",
        }
        for one in names
        for place, other in enumerate(names, start=1)
        if (value := values.get((one, other))) is not None
    ]
    numbers = [str(place) for place, _ in enumerate(names, start=1)]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("column:N", sort=numbers, title=None, scale=alt.Scale(domain=numbers),
                axis=alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False)),
        y=alt.Y("row:N", sort=list(told.values()), title=None, scale=alt.Scale(domain=list(told.values())),
                axis=alt.Axis(labelLimit=230, ticks=False, domain=False)),
    )  # fmt: skip
    squares = base.mark_rect().encode(
        color=alt.Color(
            "sign:N",
            scale=alt.Scale(domain=[POSITIVE, NEGATIVE], range=[SERIES[0], SERIES[1]]),
            legend=alt.Legend(title=None, orient="top") if any(one["sign"] == NEGATIVE for one in rows) else None,
        ),
        # Light enough that the number can be read in both themes.
        opacity=alt.Opacity("size:Q", scale=alt.Scale(domain=[0, 1], range=[0, 0.55]), legend=None),
        description="says:N",
    )
    words = base.mark_text(fontSize=11, color=INK, aria=False).encode(text="value:N")
    layers = [squares, words] if len(names) <= 14 else [squares]
    return described(alt.layer(*layers).properties(height=alt.Step(CELL)), title=title, subtitle=subtitle)
