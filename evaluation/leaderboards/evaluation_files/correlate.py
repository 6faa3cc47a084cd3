"""Evaluation files, read and held against one another or against a study's leaderboard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collection.formats.problems import InputFile
from collection.formats.scores.evaluation_files import read_evaluation
from collection.models import Study
from collection.web.tables import Column, Table
from evaluation.leaderboards.evaluation_files.values import (
    Evaluation,
    EvaluationsCompared,
    NothingToCompare,
    answer_of,
    compare_evaluations,
    evaluation_of,
    rows_of_leaderboard,
)
from evaluation.leaderboards.leaderboard import Leaderboard, measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import parse_measure

# Where somebody waits for a page: some seconds.
MOST_CELLS_ON_A_PAGE = 40_000


def board_of(study: Study, chosen: Mapping[str, Any]) -> Leaderboard:
    """Return the leaderboard that is the reference, of development topics. Raises Refused."""
    scorer = Scorer.of(study, combine=chosen["combine"], oracle=chosen["oracle"], order=chosen["order"])
    sources = [chosen["source"]] if chosen["source"] else []
    return measure_leaderboard(scorer, parse_measure(chosen["board"]), sources=sources)


@dataclass(frozen=True)
class Correlations:
    """Evaluations, each held against its reference."""

    compared: Sequence[EvaluationsCompared]

    @property
    def answer(self) -> str:
        return answer_of(self.compared)

    def as_dict(self) -> dict[str, Any]:
        return {"answer": self.answer, "comparisons": [one.as_dict() for one in self.compared]}

    def tables(self) -> dict[str, Table]:
        coefficients = list(dict.fromkeys(name for one in self.compared for name in one.correlations))
        columns = (
            *(Column("evaluation", "Evaluation"), Column("against", "Against")),
            *(Column("runs", "Runs", "count"), Column("topics", "Topics", "count")),
            *(Column(name, name, "estimate") for name in coefficients),
        )
        rows = (
            (
                *(f"{one.other}, {one.other_measure}", f"{one.reference}, {one.measure}"),
                *(one.n_runs, one.n_topics or None),
                *(one.correlations.get(name) for name in coefficients),
            )
            for one in self.compared
        )
        return {"correlations": Table.of("Correlations", columns, rows)}


def correlate_within_bounds(study: Study, files: Iterable[tuple[str, Path]], **chosen: Any) -> Correlations:
    """Hold the files against what is chosen, as far as it takes some seconds. Raises BrokenFile and Refused."""
    board = board_of(study, chosen) if chosen["board"] else None
    return Correlations(correlate(files, chosen, board=board, most_cells=MOST_CELLS_ON_A_PAGE))


def correlate(
    files: Iterable[tuple[str, Path]],
    chosen: Mapping[str, Any],
    *,
    board: Leaderboard | None = None,
    most_cells: int | None = None,
) -> list[EvaluationsCompared]:
    """Hold the files against the board's first source, or against the first file. Raises BrokenFile and Refused."""
    found: list[Evaluation] = []
    if board is not None:
        rows = rows_of_leaderboard(board, to_compare=True)
        if not rows:
            raise NothingToCompare(f"No system has a score under {board.measure.name}.")
        source = next(iter(rows))
        found.append(evaluation_of(source, rows[source]))
    for name, path in files:
        opened = InputFile(path, name=name)
        found.append(evaluation_of(name, read_evaluation(opened, form=chosen["form"])))
    asked = {name: chosen[name] for name in ("missing", "at", "measure", "other_measure")}
    asked["default"] = chosen["fill"]
    return compare_evaluations(found, **asked, most_cells=most_cells)
