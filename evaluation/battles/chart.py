"""The chart of battles: how often each system beats each other one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from collection.web.charts.drawing import described, first_of

if TYPE_CHECKING:
    from evaluation.battles.battles import Battles

CELL = 26
MOST_SYSTEMS = 40


def against_chart(battles: Battles, *, voters: str) -> dict[str, Any] | None:
    """Return the Vega-Lite description: the row's system against the column's; None where there are no such voters."""
    import altair as alt

    matrix = next((board.matrix for board in battles.boards if board.name == voters), None)
    if matrix is None:
        return None
    systems = [system for system, _ in matrix][:MOST_SYSTEMS]
    shown = []
    for system, cells in matrix[:MOST_SYSTEMS]:
        for other, cell in zip(systems, cells, strict=False):
            if cell and sum(cell):
                wins, ties, losses = cell
                share = (wins + ties / 2) / sum(cell)
                says = f"{system} against {other}: {wins} wins, {ties} ties, {losses} losses, {share:.0%} of points"
                shown.append({"system": system, "other": other, "share": share, "says": says, "n": sum(cell)})
    labels = alt.Axis(labelLimit=200, ticks=False, domain=False)
    base = alt.Chart(alt.InlineData(values=shown)).encode(
        x=alt.X("other:N", sort=systems, title="against", axis=labels),
        y=alt.Y("system:N", sort=systems, title=None, axis=labels),
    )
    squares = base.mark_rect().encode(
        color=alt.Color(
            "share:Q",
            scale=alt.Scale(domain=[0, 0.5, 1], range=["#b5622b", "#f3f1ec", "#1c5570"]),
            legend=alt.Legend(title="share of points, a tie being half", orient="top", format="%"),
        ),
        description="says:N",
    )
    return described(
        squares.properties(height=alt.Step(CELL)),
        title="Who beats whom",
        subtitle=f"Votes by {voters}{first_of(len(systems), len(matrix), 'systems')}; best system first",
    )
