"""Evaluation files of leaderboards, and correlations of evaluation files with one another and with leaderboards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from django.utils.timezone import now

from collection.formats.scores.evaluation_files import ALL, EvaluationRow, by_run, trec_eval_name, written_evaluation
from collection.web.file_names import file_stem, file_word
from evaluation.formats.zip_files import archive_bytes
from evaluation.leaderboards.evaluation_files.every_eval_ever import every_eval_ever
from evaluation.leaderboards.leaderboard import Leaderboard
from stats.answers_in_words import order_of_evaluation
from stats.intervals import Estimate
from stats.ranking.evaluation_tables import EvaluationTable, compare_tables
from stats.ranking.missing_values import Missing
from stats.ranking.order_verdict import OrderVerdict
from stats.refusals import Refused

if TYPE_CHECKING:
    pass

# So many pairs of measures are compared at once.
MOST_PAIRS = 200


class NothingToCompare(Refused):
    """There are not two evaluations with measures that can be held against each other."""


class NothingToWrite(Refused):
    """No source gives any system a score."""


@dataclass(frozen=True)
class Evaluation:
    """One file's or one source's values, by measure."""

    name: str
    tables: Mapping[str, EvaluationTable]


@dataclass(frozen=True)
class EvaluationsCompared:
    """One measure of the reference against one of another evaluation."""

    reference: str
    measure: str
    other: str
    other_measure: str
    correlations: dict[str, Estimate]
    n_runs: int
    n_topics: int
    notes: tuple[str, ...]
    verdict: OrderVerdict | None = None

    def as_dict(self) -> dict[str, Any]:
        return {
            **{name: value for name, value in vars(self).items() if name != "verdict"},
            "correlations": {name: found.as_dict() for name, found in self.correlations.items()},
            "same_order": self.verdict.as_dict() if self.verdict else None,
        }


def answer_of(compared: Sequence[EvaluationsCompared]) -> str:
    """Say of the two least alike orders, by τ_b, whether they are the same; empty where nothing is compared."""
    known = [one for one in compared if one.correlations["kendall"].value is not None]
    if not compared:
        return ""
    least = min(known, key=lambda one: one.correlations["kendall"].value or 0.0) if known else compared[0]
    other, reference = f"{least.other} ({least.other_measure})", f"{least.reference} ({least.measure})"
    return order_of_evaluation(other, reference, least.correlations["kendall"], least.verdict, n=len(known) or 1)


def rows_of_leaderboard(board: Leaderboard, *, to_compare: bool = False) -> dict[str, list[EvaluationRow]]:
    """Return each source's rows: every system with a score, on the topics that are compared, then “all”.

    A run scores 0 where it ranks nothing, as by trec_eval's -c. Rows `to_compare` orders with others are of the systems
    that may be ranked alone. A system that lacks scores has no “all”.
    """
    found = {}
    for column in board.columns:
        scores = column.scored.rankable if to_compare else column.scored.evaluated
        rows: list[EvaluationRow] = []
        for one in column.standings:
            of_system = scores.loc[one.system].reindex(list(column.topics)).dropna()
            known = list(zip(map(str, of_system.index), map(float, of_system.to_numpy()), strict=True))
            rows += [EvaluationRow(one.system, topic, board.measure.name, value) for topic, value in known]
            if known and len(known) == len(column.topics):
                mean = column.scored.within.held(sum(value for _, value in known) / len(known))
                rows.append(EvaluationRow(one.system, ALL, board.measure.name, mean))
        if rows:
            found[column.name] = rows
    return found


def evaluation_files(board: Leaderboard, *, form: str) -> dict[str, bytes]:
    """Return a file for each source by name; of the form trec_eval one for each of its runs. Raises NothingToWrite."""
    if form == "every_eval_ever":
        return every_eval_ever(board, at=now()) or _nothing()
    suffix = "jsonl" if form == "jsonl" else "txt"
    files: dict[str, bytes] = {}
    for place, (source, rows) in enumerate(rows_of_leaderboard(board).items(), start=1):
        stem = f"{file_stem(board.study.name, board.measure.name)}-{place}-{file_word(source)}"
        if form != "trec_eval":
            files[f"{stem}.{suffix}"] = "".join(written_evaluation(rows, form=form)).encode()
            continue
        for number, (run, of_run) in enumerate(by_run(rows).items(), start=1):
            lines = [f"runid\tall\t{run}\n", *written_evaluation(of_run, form=form)]
            files[f"{stem}/{number}-{file_word(run)}.{suffix}"] = "".join(lines).encode()
    return files or _nothing()


def _nothing() -> NoReturn:
    raise NothingToWrite("No system has a score under this measure.")


def evaluation_download(board: Leaderboard, *, form: str) -> tuple[str, bytes]:
    """Return the name and the content of the only file, or of a zip of all. Raises NothingToWrite."""
    files = evaluation_files(board, form=form)
    if len(files) == 1:
        return next(iter(files.items()))
    return f"{file_stem(board.study.name, board.measure.name, form)}.zip", archive_bytes(files)


def evaluation_of(name: str, rows: Sequence[EvaluationRow]) -> Evaluation:
    """Return the rows as a table for each measure."""
    import pandas as pd

    tables = {}
    for measure in dict.fromkeys(row.measure for row in rows):
        mine = [row for row in rows if row.measure == measure]
        by_topic = {(row.run, row.topic): row.value for row in mine if row.topic != ALL}
        series = pd.Series(by_topic, dtype=float)
        table = series.unstack() if by_topic else pd.DataFrame()
        tables[measure] = EvaluationTable(table, {row.run: row.value for row in mine if row.topic == ALL})
    return Evaluation(name, tables)


def compare_evaluations(
    evaluations: Sequence[Evaluation],
    *,
    missing: Missing = "warn",
    default: float = 0.0,
    at: Sequence[int] = (),
    measure: str = "",
    other_measure: str = "",
    most_cells: int | None = None,
) -> list[EvaluationsCompared]:
    """Hold every evaluation against the first, measure by measure of the same name; without one, each against each.

    `measure` and `other_measure` choose one of the reference and of the others; `most_cells` bounds the squares of the
    runs over all pairs, where somebody waits. Raises NothingToCompare and ValuesMissing.
    """
    if len(evaluations) < 2:
        raise NothingToCompare("A correlation takes two evaluations.")
    reference, *others = evaluations
    asked: list[tuple[Evaluation, str, str]] = []
    n_cells = 0
    for other in others:
        pairs = _pairs(reference, other, measure, other_measure)
        if len(pairs) > MOST_PAIRS:
            raise NothingToCompare(f"{len(pairs)} pairs of measures are too many. Choose one of each.")
        n_cells += sum(len(reference.tables[one].runs) ** 2 for one, _ in pairs)
        if most_cells and n_cells > most_cells:
            raise NothingToCompare("So many runs and measures take too long here. Use the command correlate.")
        asked += [(other, one, two) for one, two in pairs]
    rules: dict[str, Any] = {"missing": missing, "default": default, "at": at, "among": len(asked)}
    return [
        EvaluationsCompared(
            reference.name,
            one,
            other.name,
            two,
            **vars(compare_tables(reference.tables[one], other.tables[two], **rules)),
        )
        for other, one, two in asked
    ]


def _pairs(reference: Evaluation, other: Evaluation, measure: str, other_measure: str) -> list[tuple[str, str]]:
    for asked, evaluation in ((measure, reference), (other_measure, other)):
        if asked and asked not in evaluation.tables:
            raise NothingToCompare(f"{evaluation.name} has no measure “{asked}”, but {', '.join(evaluation.tables)}.")
    ones = [measure] if measure else list(reference.tables)
    twos = [other_measure] if other_measure else list(other.tables)
    alike = [(one, one) for one in ones if one in twos]
    alike = alike or [(one, two) for one in ones for two in twos if trec_eval_name(one) == trec_eval_name(two)]
    return alike if alike and not other_measure else [(one, two) for one in ones for two in twos]
