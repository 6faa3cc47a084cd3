"""Tables that come in, with commas or tabs: one row after the other, with as many values as there are columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Container, Iterator, Sequence

from collection.formats.problems import BrokenFile, BrokenLine, InputFile, Problem
from collection.formats.values import refuse_unstorable
from stats.csv_files import unguarded
from stats.plurals import counted


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


def normal(name: str) -> str:
    """Return the name of a column as the names of fields are written: “Query ID” is query_id."""
    return re.sub(r"[\s-]+", "_", name.strip().strip('"').strip().lower())


def delimiter_of(line: str) -> str:
    """Return what separates the columns of a table whose first line this is: a tab, or a comma."""
    return "\t" if "\t" in line else ","


def names_of(line: str, *needed: Container[str]) -> list[str]:
    """Return the names of the columns where the line names them: one at least of each of `needed`, at several places.

    Empty where it does not.
    """
    names = [normal(name) for name in line.split(delimiter_of(line))]
    left = list(names)
    for wanted in needed:
        one = next((name for name in left if name in wanted), None)
        if one is None:
            return []
        left.remove(one)
    return names


def named_rows(file: InputFile) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table whose first line names its columns as objects: cells that are empty are left out.

    A comma separates cells that may be quoted; where tabs separate, quotation marks are part of the text.
    """
    _, first = next(InputFile(file.path, name=file.name).lines(), (0, ""))
    for number, row in _tabbed(file) if "\t" in first else csv_rows(file, needed=[]):
        yield number, {normal(name): value.strip() for name, value in row.items() if value.strip()}


def _tabbed(file: InputFile) -> Iterator[tuple[int, dict[str, str]]]:
    lines = file.lines()
    names = next(lines)[1].split("\t")
    for number, line in lines:
        with file.line(number):
            refuse_unstorable(line)
            cells = line.split("\t")
            if len(cells) != len(names):
                raise BrokenLine(f"The line has {counted(len(cells), 'columns')}, not {len(names)}.")
            yield number, dict(zip(names, cells, strict=True))


def two_columns(file: InputFile, what: str, remedy: str) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yield the lines of an id and a text with a tab between them. Both must be there."""
    for number, line in file.lines():
        with file.line(number):
            refuse_unstorable(line)
            cells = [cell.strip() for cell in line.split("\t")]
            if len(cells) != 2 or not all(cells):
                raise BrokenLine(f"The line has {counted(len(cells), 'columns')}, not {what}.", remedy)
            yield number, (cells[0], cells[1])
