"""CSV files that come in: one row after the other, with as many values as there are columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from collection.formats.problems import BrokenFile, BrokenLine, InputFile, Problem
from collection.formats.values import refuse_unstorable
from stats.csv_files import unguarded


def csv_rows(file: InputFile, *, needed: Sequence[str], remedy: str = "") -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number of each row's last line and its values by column, without the guards of `spreadsheets`; broken
    rows are noted.

    Raises BrokenFile where a column of `needed` is missing, a name stands twice, or it is not CSV.
    """
    reader = csv.DictReader(file.lines_with_ends(), strict=True)
    try:
        _check_columns(file, reader.fieldnames or (), needed, remedy)
        for row in reader:
            with file.line(reader.line_num):
                if None in row or None in row.values():
                    raise BrokenLine(
                        "The row does not have one value for each column.", "Quote values that contain commas."
                    )
                refuse_unstorable(row)
                yield reader.line_num, {name: unguarded(cell) for name, cell in row.items()}
    except csv.Error as error:
        line = reader.line_num + 1 if reader.line_num else 1
        remedy = "Quote values that contain commas or quotes."
        raise BrokenFile(file.name, [Problem(line, f"This is not CSV: {error}.", remedy)]) from error


def _check_columns(file: InputFile, columns: Sequence[str], needed: Sequence[str], remedy: str) -> None:
    for name in needed:
        if name not in columns:
            raise BrokenFile(file.name, [Problem(1, f"The column “{name}” is missing.", remedy)])
    for name in columns:
        if list(columns).count(name) > 1:
            reason = f"There are two columns “{name}”." if name else "There are two columns without a name."
            raise BrokenFile(file.name, [Problem(1, reason, "Remove one of them.")])
