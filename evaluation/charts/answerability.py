"""The chart of which passage answers which sub-question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collection.web.charts.drawing import described, first_of
from collection.web.charts.palette import INK, SERIES

ROW, MOST_PASSAGES = 22, 250


@dataclass(frozen=True)
class GradedCell:
    question: str
    passage: str
    grade: float

    @property
    def says(self) -> str:
        return f"{self.passage}: {self.grade:g} on “{self.question}”"


def answerability_chart(
    cells: Sequence[GradedCell],
    *,
    questions: Sequence[str],
    passages: Sequence[str],
    required: Sequence[str],
    first: Mapping[str, str],
    top: float,
    title: str,
    subtitle: str,
) -> dict[str, Any]:
    """Return the Vega-Lite description: a row a sub-question, a column a passage, both in their order.

    The darker a square, the higher its grade; `top` is the highest there is. Columns of `required` passages are
    outlined, and a diamond stands where a sub-question is `first` answered by one of them.
    """
    import altair as alt

    shown = list(passages[:MOST_PASSAGES])
    rows = [vars(one) | {"says": one.says} for one in cells if one.passage in shown]
    x = alt.X(
        "passage:N",
        sort=shown,
        scale=alt.Scale(domain=shown, paddingInner=0),
        title=f"{len(shown)} passages; outlined: required",
        axis=alt.Axis(labels=False, ticks=False, domain=False),
    )
    y = alt.Y(
        "question:N",
        sort=list(questions),
        scale=alt.Scale(domain=list(questions), paddingInner=0.06),
        title=None,
        axis=alt.Axis(labelLimit=230, ticks=False, domain=False),
    )
    squares = alt.Chart(alt.InlineData(values=rows)).mark_rect(color=SERIES[0]).encode(
        x=x,
        y=y,
        opacity=alt.Opacity(
            "grade:Q",
            scale=alt.Scale(domain=[0, top], range=[0.06, 1]),
            legend=alt.Legend(title="grade", orient="top", symbolType="square", symbolFillColor=SERIES[0],
                              symbolStrokeColor=SERIES[0], values=sorted({one.grade for one in cells})),
        ),
        description="says:N",
    )  # fmt: skip
    outlines = (
        alt.Chart(alt.InlineData(values=[{"passage": one} for one in required if one in shown]))
        .mark_rect(filled=False, stroke=INK, strokeWidth=1.2, aria=False)
        .encode(x=x)
    )
    marks = [
        {"passage": one, "question": question, "says": f"“{question}” is first answered by {one}"}
        for question, one in first.items()
        if one in shown
    ]
    firsts = (
        alt.Chart(alt.InlineData(values=marks))
        .mark_point(shape="diamond", filled=True, size=46, color=SERIES[1], opacity=1)
        .encode(x=x, y=y, description="says:N")
    )
    return described(
        alt.layer(squares, outlines, firsts).properties(height=alt.Step(ROW)),
        title=title,
        subtitle=f"{subtitle}; diamond: first answered by{first_of(len(shown), len(passages), 'passages')}",
    )
