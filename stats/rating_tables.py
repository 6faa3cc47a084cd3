"""The edge: long tables of ratings in CSV and JSONL files.

A row is one rating: `item` (or `item_id`), `rater`, `grade`, and where known `topic` (or `topic_id`)
and `criterion`; other columns are left alone. An empty grade, in JSON also null, is ungraded: it is
counted, and it is not 0.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from stats.csv_files import unguarded
from stats.ratings import Grade, IntArray, Level, LevelDoesNotFit, Ratings, codes_matrix
from stats.refusals import Refused

NAMES = {"item": "item", "item_id": "item", "topic": "topic", "topic_id": "topic"} | {
    name: name for name in ("rater", "grade", "criterion")
}
NEEDED = ("item", "rater", "grade")

Cell = str | float | None


class TableBroken(Refused):
    """The table cannot be read; the message names the file, the line and the reason."""

    def __init__(self, path: Path, line: int | None, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if line is None else f"{path}, line {line}: {reason}")


@dataclass
class Table:
    """The rows of a file, column by column. `grades` are as written: numbers, text, or None for ungraded."""

    path: Path
    lines: list[int] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    raters: list[str] = field(default_factory=list)
    grades: list[Cell] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)

    def broken(self, row: int, reason: str) -> TableBroken:
        """Return the error that names this row's line."""
        return TableBroken(self.path, self.lines[row], reason)


def read_table(path: Path, *, criterion: str | None = None, rater: str | None = None) -> Table:
    """Read a table; of several criteria the one that is named, of several raters that one. Raises TableBroken."""
    table = Table(path)
    criteria: list[str] = []
    try:
        for line, row in _rows(path):
            for name in ("item", "rater"):
                if not row[name]:
                    raise TableBroken(path, line, f"{name} is empty")
            table.lines.append(line)
            table.items.append(str(row["item"]))
            table.raters.append(str(row["rater"]))
            table.grades.append(row["grade"] if row["grade"] != "" else None)
            table.topics.append(str(row.get("topic") or ""))
            criteria.append(str(row.get("criterion") or ""))
    except OSError as error:
        raise TableBroken(path, None, error.strerror or "cannot be read") from error
    except UnicodeDecodeError as error:
        raise TableBroken(path, None, f"is not UTF-8 text (byte {error.start + 1:,})") from error
    if not table.lines:
        raise TableBroken(path, None, "contains no ratings")
    if criterion is None and len(set(criteria)) > 1:
        listed = ", ".join(sorted(name or "(none)" for name in set(criteria)))
        raise TableBroken(path, None, f"contains several criteria: {listed}. Choose one with --criterion")
    if criterion is not None:
        table = _rows_with(table, criteria, criterion, "criterion")
    return table if rater is None else _rows_with(table, table.raters, rater, "rater")


def _rows_with(table: Table, column: list[str], wanted: str, what: str) -> Table:
    """Keep the rows that have this in the column."""
    if wanted not in column:
        listed = ", ".join(sorted(name or "(none)" for name in set(column)))
        raise TableBroken(table.path, None, f"contains no {what} “{wanted}”. Choose one of: {listed}")
    kept = [row for row, name in enumerate(column) if name == wanted]
    columns = {
        name: [getattr(table, name)[row] for row in kept] for name in ("lines", "items", "raters", "grades", "topics")
    }
    return Table(table.path, **columns)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Cell]]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        suffix = path.suffix.lower()
        if suffix in (".jsonl", ".ndjson", ".json") or (suffix not in (".csv", ".tsv") and _starts_with_brace(file)):
            yield from _json_rows(path, file)
        else:
            yield from _csv_rows(path, file, "\t" if suffix == ".tsv" else ",")


def _starts_with_brace(file: TextIO) -> bool:
    start = file.read(1_000).lstrip()
    file.seek(0)
    return start.startswith("{")


def _csv_rows(path: Path, file: Iterable[str], delimiter: str) -> Iterator[tuple[int, dict[str, Cell]]]:
    reader = csv.reader(file, delimiter=delimiter, strict=True)
    columns: list[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if columns is None:
                columns = [NAMES.get(cell.strip().lower(), "") for cell in cells]
                _check_names(path, reader.line_num, columns, [cell.strip() for cell in cells])
                continue
            if len(cells) != len(columns):
                raise TableBroken(
                    path, reader.line_num, f"has {len(cells)} columns, but the first line has {len(columns)}"
                )
            named = zip(columns, cells, strict=True)
            yield reader.line_num, {name: unguarded(cell).strip() for name, cell in named if name}
    except csv.Error as error:
        raise TableBroken(path, reader.line_num, f"is not CSV: {error}") from error


def _json_rows(path: Path, file: Iterable[str]) -> Iterator[tuple[int, dict[str, Cell]]]:
    for line, text in enumerate(file, start=1):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            raise TableBroken(path, line, f"is not JSON: {error.msg} at character {error.pos + 1}") from error
        if not isinstance(record, dict):
            raise TableBroken(path, line, "is not a JSON object")
        _check_names(path, line, [NAMES.get(name, "") for name in record], list(record))
        row = {NAMES[name]: _json_cell(path, line, name, value) for name, value in record.items() if name in NAMES}
        yield line, row


def _json_cell(path: Path, line: int, name: str, value: Any) -> Cell:
    if value is None or isinstance(value, str):
        return value.strip() if value else ""
    if isinstance(value, (bool, int, float)):
        return float(value) if name == "grade" else str(value)
    raise TableBroken(path, line, f"{name} is not text or a number")


def _check_names(path: Path, line: int, columns: list[str], written: list[str]) -> None:
    for name in NEEDED:
        if name not in columns:
            raise TableBroken(path, line, f"has no column “{name}”; its columns are: {', '.join(written)}")
    for name in set(columns) - {""}:
        if columns.count(name) > 1:
            raise TableBroken(path, line, f"has two columns for “{name}”")


def parse_scale(text: str) -> tuple[Grade, ...]:
    """Read "0,1,2" or "none,some,all": all grades of a scale, lowest first. Raises LevelDoesNotFit."""
    names = [name.strip() for name in text.split(",")]
    if "" in names or len(names) < 2:
        raise LevelDoesNotFit(f"A scale needs two or more grades separated by commas; “{text}” is not a scale.")
    numbers = [_number(name) for name in names]
    if any(number is None for number in numbers):
        scale: tuple[Grade, ...] = tuple(names)
    else:
        scale = tuple(number for number in numbers if number is not None)
        if list(scale) not in (sorted(scale, key=float), sorted(scale, key=float, reverse=True)):
            raise LevelDoesNotFit(f"The grades of a scale must go from the lowest to the highest; “{text}” does not.")
        scale = tuple(sorted(scale, key=float))
    if len(set(scale)) < len(scale):
        raise LevelDoesNotFit(f"A scale must list each grade once; “{text}” does not.")
    return scale


def _number(text: Cell) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None


def ratings_of_table(
    table: Table, *, level: Level | None = None, scale: Sequence[Grade] | None = None, numbers_only: bool = False
) -> Ratings:
    """Return the table as items × raters. Raises TableBroken and LevelDoesNotFit.

    Without `scale`, the scale is the grades that occur. Without `level`, numbers and labels whose order
    the scale gives are ordinal, other labels nominal.
    """
    grades = _grades(table, scale)
    labels = any(isinstance(grade, str) for grade in grades if grade is not None)
    level = level or ("nominal" if labels and scale is None else "ordinal")
    if labels and (numbers_only or (scale is None and level != "nominal")):
        row = next(row for row, written in enumerate(table.grades) if written is not None and _number(written) is None)
        mend = "" if numbers_only or level != "ordinal" else "; give the order of the grades with --scale"
        raise table.broken(row, f"grade “{table.grades[row]}” is not a number{mend}")
    used = {grade for grade in grades if grade is not None}
    full = tuple(scale) if scale is not None else tuple(sorted(used, key=str if labels else float))
    item_names, item = _numbered(table.items)
    rater_names, rater = _numbered(table.raters)
    _refuse_repeats(table, item, rater, len(rater_names))
    places = {grade: place for place, grade in enumerate(full)}
    given = np.fromiter((grade is not None for grade in grades), bool, len(grades))
    code = np.fromiter((places[grade] for grade in grades if grade is not None), np.int64, int(given.sum()))
    topics = _topics(table, item, len(item_names))
    return Ratings(
        codes=codes_matrix(item[given], rater[given], code, n_items=len(item_names), n_raters=len(rater_names)),
        scale=full,
        level=level,
        items=item_names,
        raters=rater_names,
        topics=topics,
        texts=topics,
        n_ungraded=int((~given).sum()),
    )


def _grades(table: Table, scale: Sequence[Grade] | None) -> list[Grade | None]:
    """Return the grades as numbers if all are, else as labels; with a scale, as it has them."""
    written = set(table.grades) - {None}
    numbers = {cell: _number(cell) for cell in written}
    by_label = any(isinstance(grade, str) for grade in scale) if scale else None in numbers.values()
    read: dict[Cell, Grade] = {}
    for cell in written:
        number = numbers[cell]
        read[cell] = str(cell) if by_label or number is None else number
        if isinstance(cell, float) and by_label:
            read[cell] = f"{cell:g}"
    for row, cell in enumerate(table.grades):
        if cell is None:
            continue
        grade = read[cell]
        if scale is not None and grade not in scale:
            listed = ", ".join(f"{point:g}" if isinstance(point, float) else point for point in scale)
            raise table.broken(row, f"grade “{cell}” is not on the scale {listed}")
        if isinstance(grade, float) and not math.isfinite(grade):
            raise table.broken(row, f"grade “{cell}” is not a number; leave the cell empty if there is no grade")
    return [None if cell is None else read[cell] for cell in table.grades]


def _numbered(names: list[str]) -> tuple[list[str], IntArray]:
    """Number the names in the order in which they appear."""
    places: dict[str, int] = {}
    numbers = np.fromiter((places.setdefault(name, len(places)) for name in names), np.int64, len(names))
    return list(places), numbers


def _refuse_repeats(table: Table, item: IntArray, rater: IntArray, n_raters: int) -> None:
    _, first, count = np.unique(item * n_raters + rater, return_index=True, return_counts=True)
    if (count > 1).any():
        row = int(first[count > 1].min())
        again = next(
            other
            for other in range(row + 1, len(table.lines))
            if table.items[other] == table.items[row] and table.raters[other] == table.raters[row]
        )
        raise table.broken(
            again,
            f"{table.raters[row]} has already graded item “{table.items[row]}” in line {table.lines[row]}",
        )


def _topics(table: Table, item: IntArray, n_items: int) -> IntArray | None:
    """Return the topic number of each item; None where the table names no topics."""
    if not any(table.topics):
        return None
    rows: dict[int, int] = {}
    for row, (place, topic) in enumerate(zip(item.tolist(), table.topics, strict=True)):
        known = rows.setdefault(place, row)
        if table.topics[known] != topic:
            before = f"of “{table.topics[known]}” in line {table.lines[known]}"
            raise table.broken(row, f"item “{table.items[row]}” is of topic “{topic}”, but {before}")
        if not topic:
            raise table.broken(row, f"item “{table.items[row]}” has no topic, but other items have one")
    _, numbers = _numbered([table.topics[rows[place]] for place in range(n_items)])
    return numbers
