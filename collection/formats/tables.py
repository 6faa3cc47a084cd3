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
    reader = csv.reader(file.lines_with_ends(), strict=True)
    read = 0
    try:
        columns = next(filter(None, reader), [])
        _check_columns(file, columns, needed, remedy)
        read = reader.line_num
        for row in filter(None, reader):
            read = reader.line_num
            with file.line(read):
                if len(row) != len(columns):
                    raise BrokenLine(
                        "The row does not have one value for each column.", "Quote values that contain commas."
                    )
                together = "".join(row)
                refuse_unstorable(together)
                cells = map(unguarded, row) if "'" in together else row
                yield read, dict(zip(columns, cells, strict=True))
    except csv.Error as error:
        remedy = "Quote values that contain commas or quotes."
        raise BrokenFile(file.name, [Problem(read + 1, f"This is not CSV: {error}.", remedy)]) from error


def _check_columns(file: InputFile, columns: Sequence[str], needed: Sequence[str], remedy: str) -> None:
    for name in needed:
        if name not in columns:
            raise BrokenFile(file.name, [Problem(1, f"The column “{name}” is missing.", remedy)])
    for name in columns:
        if list(columns).count(name) > 1:
            reason = f"There are two columns “{name}”." if name else "There are two columns without a name."
            raise BrokenFile(file.name, [Problem(1, reason, "Remove one of them.")])
