"""A table, made once: a page shows it, CSV, LaTeX and JSON carry it, a terminal prints it.

A column's kind says how its cells read on a page and which columns it has in files:

- `text`, `grade`: as it is; `words`: a sentence in its own direction; `count`: a whole number;
- `cell`: a number or a text;
- `number`, `signed`, `share`: a float, or None;
- `estimate`: a `stats.intervals.Estimate`, which files have as several columns (`parts` of `Estimate.cells`);
- `judge`: a name with its `stats.completeness.Completeness`, in files the name and `mark`;
- `link`: a `Link`, in files its text.

A cell of any kind may be `Badged`. None is a dash on a page and empty in a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from collection.web.latex import latex_table
from stats.csv_files import csv_text
from stats.intervals import CELLS, Estimate

Kind = Literal["text", "words", "cell", "grade", "count", "number", "signed", "share", "estimate", "judge", "link"]
BOUNDS = ("value", "low", "high")
NUMBERS = {"grade", "count", "number", "signed", "share", "estimate"}
LONGEST_OF_TERMINAL = 60


class Link(NamedTuple):
    """A cell that leads elsewhere on a page; `of` makes links with one text differ for a screen reader."""

    text: str
    address: str
    of: str = ""


class Badge(NamedTuple):
    """A word beside a cell's value; `kind` is how it looks, `title` says more."""

    word: str
    kind: str = ""
    title: str = ""


class Badged(NamedTuple):
    """A cell's `value` with what pages and terminals have beside it, and files have not; on a page it may be a link."""

    value: Any
    badges: tuple[Badge, ...] = ()
    address: str = ""


@dataclass(frozen=True)
class Column:
    """A column: its name in files, its head on pages (none: in files alone) and what its cells are.

    `parts`: of an estimate, what files have of it; `names`: what they call these, by default the key, `key_low`, ….
    `filed`: whether files have it; `brief`: a note says of what its estimates are, which a page need not.
    """

    key: str
    title: str = ""
    kind: Kind = "text"
    parts: tuple[str, ...] = BOUNDS
    names: tuple[str, ...] = ()
    filed: bool = True
    brief: bool = False

    @property
    def is_number(self) -> bool:
        return self.kind in NUMBERS

    @property
    def heads(self) -> tuple[str, ...]:
        """Its names in files."""
        if not self.filed:
            return ()
        if self.kind != "estimate":
            return self.names or ((self.key, "mark") if self.kind == "judge" else (self.key,))
        return self.names or tuple(self.key if part == "value" else f"{self.key}_{part}" for part in self.parts)

    def cells(self, value: Any) -> tuple[Any, ...]:
        """Return what files have of a cell."""
        if not self.filed:
            return ()
        value = _bare(value)
        match self.kind:
            case "estimate":
                found = dict(zip(CELLS, (value or Estimate(None)).cells, strict=True))
                return tuple(found[part] for part in self.parts)
            case "judge":
                name, completeness = value
                return name, completeness.mark
            case "link":
                return (value.text if isinstance(value, Link) else value,)
        return (value,)


@dataclass(frozen=True)
class Table:
    """Rows under columns, one cell for each. `title` says on pages and in captions what it shows, `note` how it reads.

    A page shows the first column that has a head as each row's name. With `long`, files have a row for each estimate,
    which is under the names of its `parts`, or those of the first such column, and under `long` the key of its column.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Sequence[Any], ...] = ()
    note: str = ""
    long: str = ""

    @classmethod
    def of(
        cls, title: str, columns: Sequence[Column], rows: Iterable[Sequence[Any]], *, note: str = "", long: str = ""
    ) -> Table:
        return cls(title, tuple(columns), tuple(map(tuple, rows)), note, long)

    def __bool__(self) -> bool:
        return bool(self.rows)

    def where(self, title: str = "", **wanted: Any) -> Table:
        """Return the rows with these values, without the columns that hold them."""
        keys = [column.key for column in self.columns]
        at = {keys.index(name): value for name, value in wanted.items()}
        left = [place for place in range(len(keys)) if place not in at]
        rows = [row for row in self.rows if all(row[place] == value for place, value in at.items())]
        return replace(
            self,
            title=title or self.title,
            columns=tuple(self.columns[place] for place in left),
            rows=tuple(tuple(row[place] for place in left) for row in rows),
        )

    def head(self) -> list[str]:
        """Return the names of its columns in files."""
        return [name for column in self._in_files().columns for name in column.heads]

    def filed(self) -> list[list[Any]]:
        """Return its rows as files have them."""
        table = self._in_files()
        return [
            [cell for column, value in zip(table.columns, row, strict=True) for cell in column.cells(value)]
            for row in table.rows
        ]

    def _in_files(self) -> Table:
        """Return the table with a row for each estimate where it is `long`."""
        if not self.long:
            return self
        estimates = [place for place, column in enumerate(self.columns) if column.kind == "estimate"]
        kept = [place for place in range(len(self.columns)) if place not in estimates]
        first = self.columns[estimates[0]]
        return replace(
            self,
            columns=(
                *(self.columns[one] for one in kept),
                Column(self.long),
                replace(first, names=first.names or first.parts),
            ),
            rows=tuple(
                (*(row[one] for one in kept), self.columns[place].key, row[place])
                for row in self.rows
                for place in estimates
                if _bare(row[place]) is not None
            ),
            long="",
        )

    def csv(self) -> str:
        return csv_text([self.head(), *self.filed()])

    def latex(self, caption: str) -> str:
        return latex_table(self.head(), self.filed(), caption=caption)

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return its rows as JSON has them, an estimate as an object."""
        return [
            {
                column.key: value.as_dict() if isinstance(value, Estimate) else next(iter(column.cells(value)))
                for column, value in zip(self.columns, map(_bare, row), strict=True)
                if column.filed
            }
            for row in self.rows
        ]

    def file_dicts(self) -> list[dict[str, Any]]:
        """Return its rows as files have them, by name."""
        return [dict(zip(self.head(), row, strict=True)) for row in self.filed()]

    @property
    def estimates(self) -> list[Estimate]:
        return [cell for row in self.rows for cell in map(_bare, row) if isinstance(cell, Estimate)]

    @property
    def n_topics(self) -> set[int]:
        """Over how many topics its estimates are."""
        return {one.sample.n_topics for one in self.estimates if one.sample and one.sample.n_topics}

    def shown(self) -> list[tuple[Column, int]]:
        """Return the columns that a page has, with their places."""
        return [(column, place) for place, column in enumerate(self.columns) if column.title]

    def without_empty(self) -> Table:
        """Return the table with the columns that say nothing in files alone."""
        says = (any(_says_something(row[place]) for row in self.rows) for place in range(len(self.columns)))
        columns = (one if of else replace(one, title="") for one, of in zip(self.columns, says, strict=True))
        return replace(self, columns=tuple(columns))

    def text(self) -> str:
        """Return the columns that a page has for a terminal, under their heads, without those that say nothing."""
        shown = self.without_empty().shown()
        heads = [column.title for column, _ in shown]
        rows = [[printed(column, row[place]) for column, place in shown] for row in self.rows]
        widths = [
            min(LONGEST_OF_TERMINAL, max(map(len, cells))) for cells in zip(heads, *rows, strict=True)
        ]  # fmt: skip
        numbers = [column.is_number and column.kind != "estimate" for column, _ in shown]
        lines = [
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(cells, widths, numbers, strict=True)
            ).rstrip()
            for cells in [heads, *rows]
        ]
        return "\n".join([self.title, *(f"  {line}" for line in lines)])


def _bare(cell: Any) -> Any:
    return cell.value if isinstance(cell, Badged) else cell


def _says_something(cell: Any) -> bool:
    if isinstance(cell, Badged) and cell.badges:
        return True
    match _bare(cell):
        case None | "" | Estimate(value=None, reason=""):
            return False
    return True


def printed(column: Column, value: Any) -> str:
    """Return a cell for a terminal; a dash without a value."""
    if isinstance(value, Badged):
        return " ".join([printed(column, value.value), *(f"[{badge.word}]" for badge in value.badges)])
    if column.kind == "estimate":
        value = value or Estimate(None)
        number = "–" if value.value is None else f"{value.value:.4f}"
        error = f" ± {value.se:.4f}" if "se" in column.parts and value.se is not None and value.low is not None else ""
        return f"{number}{error}  {value.interval_in_words(4) or value.reason}".rstrip()
    if column.kind == "judge":
        return str(value[1].after(value[0]))
    (cell,) = replace(column, filed=True).cells(value)
    match column.kind:
        case _ if cell is None or cell == "":
            return "–"
        case "count":
            return f"{cell:,}"
        case "share":
            return f"{cell:.1%}"
        case "signed":
            return f"{cell:+.4f}"
        case "number":
            return f"{cell:.4f}"
        case "grade":
            return f"{cell:g}"
        case "cell" | "words" if isinstance(cell, float):
            return f"{cell:.4g}"
    return str(cell)
