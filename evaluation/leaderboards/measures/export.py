"""A board of several measures as tables and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from collection.web.latex import Emphasised, latex_table
from collection.web.tables import Badge, Badged, Column, Table
from evaluation.leaderboards.measures.board import Group, MeasureCell, MeasureColumn, MeasuresBoard
from evaluation.leaderboards.measures.marks import MARKS
from stats.intervals import Estimate
from stats.measures.rubric import LeaderboardMarks

PAPER = "Mean ± standard error. Bold: best; underlined: worst; ** above the 85th, * above the 75th percentile"
SCORES = (
    *(Column("system", "System"), Column("group", "Group"), Column("set_apart", kind="count")),
    *(Column("measure", "Measure"), Column("source", "By")),
    Column("mean", "Mean", "estimate", parts=("value", "se", "low", "high"), names=("mean", "se", "low", "high")),
    *(Column("topics", "Topics", "count"), Column("rank", "Rank", "count"), Column("mark")),
    *(Column("percentile", kind="count"), Column("reason")),
)
TOPICS = (
    *(Column("system", "System"), Column("topic", "Topic"), Column("measure", "Measure"), Column("source", "By")),
    Column("score", "Score", "number"),
)
SPREADS = (
    *(Column("group", "Group"), Column("measure", "Measure"), Column("source", "By"), Column("mark", "Of the systems")),
    Column("value", "Value", "number"),
)


def tables_of_board(board: MeasuresBoard) -> dict[str, Table]:
    """Return the tables by name.

    `board`: a row a system, with mean and standard error of each column, and as a paper prints it (`paper`); `scores`:
    the same in long form with all that is known; `topics`: a score of each system, topic and column; `marks`: how each
    column spreads.
    """
    groups = board.groups()
    columns = [Column("system", "System"), *([Column(board.by, board.by.capitalize())] if board.by else [])]
    columns += [Column(key, key, "estimate", parts=("value", "se"), names=(key, f"{key} se")) for key in board.keys]
    rows = (
        [row.system, *([group.name] if board.by else []), *map(_marked, row.cells)]
        for group in groups
        for row in group.rows
    )
    spreads = (
        [group.name, one.measure.name, one.column.name, name, value]
        for group in groups
        for one, spread in zip(board.columns, group.spreads, strict=True)
        if spread
        for name, value in _known(spread.marks)
    )
    return {
        "board": PaperTable(
            *("Scores side by side", tuple(columns), tuple(map(tuple, rows))),
            *(f"{PAPER}. {board.note}".rstrip(". "), ""),
            paper_table(board),
        ),
        "scores": Table.of("Scores", SCORES, _scores(board, groups)),
        "topics": Table.of("Scores by topic", TOPICS, _topics(board)),
        "marks": Table.of("Minimum, median, maximum", SPREADS, spreads),
    }


@dataclass(frozen=True)
class PaperTable(Table):
    """A table that a paper prints in another form, `paper`, with a first row of names."""

    paper: Sequence[Sequence[Any]] = ()

    def latex(self, caption: str) -> str:
        return latex_table([str(name) for name in self.paper[0]], self.paper[1:], caption=caption)


def paper_table(board: MeasuresBoard) -> list[list[Any]]:
    """Return the board as a paper prints it: mean ± standard error, best in bold and worst underlined, by group.

    Below each group stand its minimum, median and maximum, then what is set apart.
    """
    rows: list[list[Any]] = [["system", *board.keys]]
    for group in board.groups():
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


def _mean(cell: MeasureCell) -> Estimate | None:
    return cell.standing.mean if cell.standing else None


def _marked(cell: MeasureCell) -> Badged:
    """Return the mean, and whether it is the best, the worst, or above others."""
    words = [*filter(None, [cell.mark]), *([f"above {cell.percentile} %"] if cell.percentile else [])]
    return Badged(_mean(cell), tuple(map(Badge, words)))


def _known(marks: LeaderboardMarks) -> Iterator[tuple[str, float]]:
    for name in MARKS:
        if (value := getattr(marks, name)) is not None:
            yield name, value


def _scores(board: MeasuresBoard, groups: list[Group]) -> Iterator[list[Any]]:
    for group in groups:
        for row in group.rows:
            for one, cell in zip(board.columns, row.cells, strict=True):
                mean = _mean(cell)
                n_topics, rank = (cell.standing.n_topics, cell.standing.rank) if cell.standing else (0, None)
                yield [
                    *(row.system, group.name, int(group.apart), one.column.scored.shown, one.column.name),
                    *(mean, n_topics, rank, cell.mark, cell.percentile, cell.why_not or (mean.reason if mean else "")),
                ]


def _topics(board: MeasuresBoard) -> Iterator[list[Any]]:
    for one in board.columns:
        for standings in (one.column, one.aside):
            table = standings.table
            for system, scores in zip(table.index, table.to_numpy(dtype=np.float64).tolist(), strict=True):
                for row, (topic, value) in product(one.rows_of(system), zip(table.columns, scores, strict=True)):
                    yield [row, topic, one.measure.name, one.column.name, None if math.isnan(value) else value]


def board_as_dict(board: MeasuresBoard) -> dict[str, Any]:
    """Return everything, as the command, the API and the JSON download have it."""
    groups = board.groups()
    return {
        "study": board.study.name,
        "order": board.order,
        "oracle": board.oracle,
        **board.visibility.as_dict(),
        "simulated": board.simulated,
        **({"note": board.note} if board.note else {}),
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
