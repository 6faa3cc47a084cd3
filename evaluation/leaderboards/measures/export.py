"""A board of several measures as tables, as JSON and as text."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from collection.web.latex import Emphasised
from evaluation.leaderboards.measures.board import Group, MeasureCell, MeasureColumn, MeasuresBoard
from evaluation.leaderboards.measures.marks import MARKS
from stats.measures.rubric import LeaderboardMarks

DOTS = {85: "●", 75: "○", None: ""}
SCORES = ["system", "group", "set_apart", "measure", "source", "mean", "se", "low", "high", "topics", "rank"]
SCORES += ["mark", "percentile", "reason"]


def tables_of_board(board: MeasuresBoard, sort: str = "") -> dict[str, list[list[Any]]]:
    """Return the page's tables by name, each with a first row of names.

    `board`: a row a system, with mean and standard error of each column; `scores`: the same in long form with all that
    is known; `topics`: a score of each system, topic and column; `marks`: how each column spreads.
    """
    groups = board.groups(sort)
    return {
        "board": [
            ["system", *([board.by] if board.by else []), *(f"{key}{of}" for key in board.keys for of in ("", " se"))],
            *(
                [row.system, *([group.name] if board.by else []), *(x for cell in row.cells for x in _numbers(cell))]
                for group in groups
                for row in group.rows
            ),
        ],
        "scores": [SCORES, *_scores(board, groups)],
        "topics": [["system", "topic", "measure", "source", "score"], *_topics(board)],
        "marks": [
            ["group", "measure", "source", "mark", "value"],
            *(
                [group.name, one.measure.name, one.column.name, name, value]
                for group in groups
                for one, spread in zip(board.columns, group.spreads, strict=True)
                if spread
                for name, value in _known(spread.marks)
            ),
        ],
    }


def paper_table(board: MeasuresBoard, sort: str = "") -> list[list[Any]]:
    """Return the board as a paper prints it: mean ± standard error, best in bold and worst underlined, by group.

    Below each group stand its minimum, median and maximum, then what is set apart.
    """
    rows: list[list[Any]] = [["system", *board.keys]]
    for group in board.groups(sort):
        if group.name:
            rows.append([f"({group.name})", *[""] * len(board.columns)])
        rows += [[row.system, *map(_printed, row.cells)] for row in group.rows]
        if not group.apart:
            for name in ("minimum", "median", "maximum"):
                values = [getattr(spread.marks, name) if spread else None for spread in group.spreads]
                rows.append([MARKS[name], *values])
    return rows


def _printed(cell: MeasureCell) -> Any:
    mean = cell.standing.mean if cell.standing else None
    if mean is None or mean.value is None:
        return None
    error = f" ± {mean.se:.3f}" if mean.se is not None and mean.low is not None else ""
    dot = {85: "**", 75: "*", None: ""}[cell.percentile]
    text = f"{mean.value:.3f}{error}{dot}"
    if not cell.mark:
        return text
    return Emphasised(text, "textbf" if cell.mark == "best" else "underline")


def _numbers(cell: MeasureCell) -> tuple[float | None, float | None]:
    mean = cell.standing.mean if cell.standing else None
    return (mean.value, mean.se) if mean else (None, None)


def _known(marks: LeaderboardMarks) -> Iterator[tuple[str, float]]:
    for name in MARKS:
        if (value := getattr(marks, name)) is not None:
            yield name, value


def _scores(board: MeasuresBoard, groups: list[Group]) -> Iterator[list[Any]]:
    for group in groups:
        for row in group.rows:
            for one, cell in zip(board.columns, row.cells, strict=True):
                mean = cell.standing.mean if cell.standing else None
                figures = (mean.value, mean.se, mean.low, mean.high) if mean else (None,) * 4
                n_topics, rank = (cell.standing.n_topics, cell.standing.rank) if cell.standing else (0, None)
                yield [
                    *(row.system, group.name, int(group.apart), one.column.scored.shown, one.column.name),
                    *(
                        *figures,
                        n_topics,
                        rank,
                        cell.mark,
                        cell.percentile,
                        cell.why_not or (mean.reason if mean else ""),
                    ),
                ]


def _topics(board: MeasuresBoard) -> Iterator[list[Any]]:
    for one in board.columns:
        for standings in (one.column, one.aside):
            table = standings.table
            for system, scores in zip(table.index, table.to_numpy(dtype=np.float64).tolist(), strict=True):
                for topic, value in zip(table.columns, scores, strict=True):
                    yield [system, topic, one.measure.name, one.column.name, None if math.isnan(value) else value]


def board_as_dict(board: MeasuresBoard, sort: str = "") -> dict[str, Any]:
    """Return everything, as the command, the API and the JSON download have it."""
    groups = board.groups(sort)
    return {
        "study": board.study.name,
        "order": board.order,
        "oracle": board.oracle,
        **board.sight.as_dict(),
        "simulated": board.simulated,
        **({"confidence": board.confidence.as_dict()} if board.confidence else {}),
        "columns": [_column_as_dict(one) for one in board.columns],
        "groups": [
            {
                "name": group.name,
                "set_apart": group.apart,
                "marks": [vars(spread.marks) if spread else None for spread in group.spreads],
                "systems": [
                    {"system": row.system, "scores": [_cell_as_dict(cell) for cell in row.cells]} for row in group.rows
                ],
            }
            for group in groups
        ],
    }


def _column_as_dict(one: MeasureColumn) -> dict[str, Any]:
    source = one.column.board.source
    return {
        "column": one.key,
        "measure": one.column.scored.shown,
        "source": source.name,
        "criterion": source.criterion.name,
        "n_topics": one.column.n_topics,
        "estimated": one.column.scored.estimated,
        "unordered": one.column.unordered or None,
        **source.completeness.as_dict(),
    }


def _cell_as_dict(cell: MeasureCell) -> dict[str, Any]:
    standing = cell.standing
    if standing is None:
        return {"value": None, "reason": cell.why_not}
    return {
        **standing.mean.as_dict(),
        "se": standing.mean.se,
        "n_topics": standing.n_topics,
        "rank": standing.rank,
        "mark": cell.mark or None,
        "above_percentile": cell.percentile,
        **({"reason": cell.why_not} if cell.why_not else {}),
    }


def board_text(board: MeasuresBoard, sort: str = "") -> str:
    """Return the table as aligned text: “+” after the best of a column, “-” after the worst, dots as on the page."""
    head = ["", *(f"({number})" for number, _ in enumerate(board.columns, start=1))]
    lines = [f"({number}) {one.key}, {one.column.n_topics} topics" for number, one in enumerate(board.columns, start=1)]
    rows: list[list[str]] = [head]
    for group in board.groups(sort):
        if group.name:
            rows.append([f"{group.name}:", *[""] * len(board.columns)])
        rows += [[row.system, *map(_cell_text, row.cells)] for row in group.rows]
        for name, label in MARKS.items() if not group.apart else ():
            values = [getattr(spread.marks, name) if spread else None for spread in group.spreads]
            if any(value is not None for value in values):
                rows.append([label.lower(), *("–" if value is None else f"{value:.3f}  " for value in values)])
    widths = [max(len(row[place]) for row in rows) for place in range(len(head))]
    lines += ["", *("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows)]
    return "\n".join(lines)


def _cell_text(cell: MeasureCell) -> str:
    mean = cell.standing.mean if cell.standing else None
    if mean is None or mean.value is None:
        return "–  "
    error = f" ± {mean.se:.3f}" if mean.se is not None and mean.low is not None else ""
    return f"{mean.value:.3f}{error}{DOTS[cell.percentile] or ' '}{ {'best': '+', 'worst': '-'}.get(cell.mark, ' ') }"
