"""CSV that a spreadsheet cannot take for formulas: whatever leaves as CSV is written here.

A text that begins with =, +, - or @ (also full-width, or with a tab or a line end before one) is a formula to a
spreadsheet, and a name or an answer may be written by somebody who means harm. Such a text gets an apostrophe before
it. So does a text that begins with an apostrophe, so that `unguarded` always finds what was there. Numbers are left as
they are.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_DANGEROUS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n", "'")


def csv_lines(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield each row as a line of CSV that ends with LF, its texts guarded. None is an empty cell."""
    write = csv.writer(_Echo(), lineterminator="\n").writerow
    for row in rows:
        yield write([guarded(cell) for cell in row])


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Return the rows as `csv_lines` in one text."""
    return "".join(csv_lines(rows))


def guarded(cell: Any) -> Any:
    """Return the cell with an apostrophe before it if it is text that a spreadsheet might compute."""
    if not isinstance(cell, str) or not cell.startswith(_DANGEROUS) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"


def unguarded(cell: str) -> str:
    """Return the cell as it was before `guarded`. An apostrophe that `guarded` would not have put there stays."""
    return cell[1:] if cell.startswith("'") and guarded(cell[1:]) == cell else cell


class _Echo:
    """A file that gives back what is written to it."""

    def write(self, written: str) -> str:
        return written
