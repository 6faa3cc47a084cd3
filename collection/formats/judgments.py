"""The long judgments table, CSV or JSONL: one row for each item, criterion and rater."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from collection.formats.fields import Fields, json_objects, refuse_unstorable, shown
from collection.formats.files import BrokenFile, BrokenLine, InputFile, Problem

Format = Literal["csv", "jsonl"]
RATER_KINDS = ("assessor", "judge")
PURPOSES = ("support", "rationale")
REQUIRED = ("item_id", "criterion", "rater", "grade")
# What the item says already: written for the reader of a table, not needed to read it back.
CONTEXT = ("task_type", "run", "passage_id", "element_id", "other_run")


@dataclass(frozen=True)
class HighlightLine:
    """A span in code points, end-exclusive; both are None where the quote has no certain place."""

    purpose: str
    start: int | None
    end: int | None
    quote: str


@dataclass(frozen=True)
class OrderLine:
    """One order in which the rater saw a pair, `other_run` first if `swapped`, and the grade of the item in it."""

    swapped: bool
    grade: float | None


@dataclass(frozen=True)
class JudgmentLine:
    """A row of the table as it is read. `rest` is what the table holds besides."""

    item_id: str
    criterion: str
    rater: str
    grade: float | None
    topic_id: str = ""
    rater_kind: str = "assessor"
    rater_origin: str = ""
    ungraded: str = ""
    judged_at: datetime | None = None
    seconds: float | None = None
    guideline_version: int | None = None
    highlights: tuple[HighlightLine, ...] = ()
    orders: tuple[OrderLine, ...] = ()
    rest: tuple[str, ...] = ()


@dataclass(frozen=True)
class WrittenHighlight:
    """A highlight as it is written: in code points, in UTF-16 units and in UTF-8 bytes."""

    purpose: str
    start: int | None
    end: int | None
    quote: str
    text_sha256: str
    start_utf16: int | None
    end_utf16: int | None
    start_utf8: int | None
    end_utf8: int | None


@dataclass(frozen=True)
class WrittenJudgment:
    """A row of the table as it is written. Its fields, in order, are the columns of a CSV; a JSONL has more."""

    topic_id: str
    item_id: str
    criterion: str
    rater: str
    rater_kind: str
    rater_origin: str
    grade: float | None
    ungraded: str
    judged_at: str
    seconds: float | None
    guideline_version: int | None
    task_type: str
    run: str
    passage_id: str
    element_id: str
    other_run: str
    highlights: tuple[WrittenHighlight, ...] = ()
    orders: tuple[OrderLine, ...] = ()
    crowd_id: str = ""


# `crowd_id` is a column only where it was asked for.
COLUMNS = [f.name for f in dataclasses.fields(WrittenJudgment) if f.name not in ("highlights", "orders", "crowd_id")]


def read_judgments(file: InputFile) -> Iterator[tuple[int, JudgmentLine]]:
    """Yield the rows of a table, whose name ends in .csv, .json or .jsonl."""
    suffix = file.path.suffix.lower()
    if suffix not in (".csv", ".json", ".jsonl"):
        problem = Problem(None, f"A table of judgments is no “{suffix}” file.", "Name it .csv or .jsonl.")
        raise BrokenFile(file.name, [problem])
    rows = csv_rows(file) if suffix == ".csv" else json_objects(file)
    for number, found in rows:
        with file.line(number):
            yield number, parse_judgment(found)


def csv_rows(file: InputFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number of each row's last line and its values, with numbers where the table has them."""
    reader = csv.DictReader(file.lines_with_ends(), strict=True)
    missing = [name for name in REQUIRED if name not in (reader.fieldnames or ())]
    if missing:
        problem = Problem(1, f"The column “{missing[0]}” is missing.", f"The first line names the columns: {HEADER}.")
        raise BrokenFile(file.name, [problem])
    try:
        for row in reader:
            with file.line(reader.line_num):
                if None in row or None in row.values():
                    raise BrokenLine("The row has not one value for each column.", "Quote values that hold commas.")
                yield reader.line_num, _typed(row)
    except csv.Error as error:
        problem = Problem(reader.line_num + 1, f"This is no CSV: {error}.", "Quote values that hold commas or quotes.")
        raise BrokenFile(file.name, [problem]) from error


HEADER = ", ".join(REQUIRED)


def _typed(row: dict[str, str]) -> dict[str, Any]:
    refuse_unstorable(row)
    typed: dict[str, Any] = dict(row)
    for name, kind in (("grade", float), ("seconds", float), ("guideline_version", int)):
        written = typed.get(name, "").strip()
        try:
            typed[name] = kind(written) if written else None
        except ValueError:
            raise BrokenLine(f"The {name} “{written}” is no number.") from None
    return typed


def parse_judgment(found: dict[str, Any]) -> JudgmentLine:
    """Return what a row says. Raises BrokenLine."""
    fields = Fields(found)
    line = JudgmentLine(
        item_id=fields.name("item_id"),
        criterion=fields.name("criterion"),
        rater=fields.name("rater"),
        grade=fields.optional_number("grade"),
        topic_id=fields.optional_text("topic_id"),
        rater_kind=fields.choice("rater_kind", RATER_KINDS) if fields.rest.get("rater_kind") else "assessor",
        rater_origin=fields.optional_text("rater_origin"),
        ungraded=fields.optional_text("ungraded"),
        judged_at=_time(fields.optional_text("judged_at")),
        seconds=fields.optional_number("seconds"),
        guideline_version=fields.optional_count("guideline_version"),
        highlights=tuple(_highlight(found) for found in _list("highlights", fields.rest.pop("highlights", None))),
        orders=tuple(_order(found) for found in _list("orders", fields.rest.pop("orders", None))),
        rest=tuple(sorted(fields.rest.keys() - {*CONTEXT, "rater_kind"})),
    )
    if (line.grade is None) == (not line.ungraded):
        raise BrokenLine(
            "A row has either a grade, or in “ungraded” the reason why there is none.", "Give one of the two."
        )
    if line.seconds is not None and line.seconds < 0:
        raise BrokenLine(f"The seconds are {line.seconds:g}, less than none.")
    return line


def written_csv(rows: Iterable[WrittenJudgment], *, with_crowd_ids: bool = False) -> Iterator[str]:
    """Yield the lines of a CSV table."""
    columns = [*COLUMNS, "crowd_id"] if with_crowd_ids else COLUMNS
    writer = csv.writer(_Echo(), lineterminator="\n")
    yield writer.writerow(columns)
    for row in rows:
        yield writer.writerow([_cell(getattr(row, name)) for name in columns])


def written_jsonl(rows: Iterable[WrittenJudgment], *, with_crowd_ids: bool = False) -> Iterator[str]:
    """Yield the lines of a JSONL table."""
    columns = [*COLUMNS, "crowd_id"] if with_crowd_ids else COLUMNS
    for row in rows:
        found = {name: getattr(row, name) for name in columns}
        found["highlights"] = [vars(highlight) for highlight in row.highlights]
        if row.orders:
            found["orders"] = [vars(order) for order in row.orders]
        yield json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n"


class _Echo:
    """A file that gives back what is written to it."""

    def write(self, written: str) -> str:
        return written


def _cell(value: str | float | None) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return "" if value is None else str(value)


def _time(written: str) -> datetime | None:
    if not written:
        return None
    try:
        time = datetime.fromisoformat(written)
    except ValueError:
        raise BrokenLine(f"“{written}” is no time.", "Write it like 2025-03-01T14:30:00+00:00.") from None
    if time.tzinfo is None:
        raise BrokenLine(f"“{written}” does not tell its time zone.", "Add it: Z, or +01:00.")
    return time


def _list(name: str, found: Any) -> list[Any]:
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise BrokenLine(f"“{name}” is {shown(found)}, not a list of objects.")
    return found


def _highlight(found: dict[str, Any]) -> HighlightLine:
    fields = Fields(found)
    return HighlightLine(
        purpose=fields.choice("purpose", PURPOSES) if "purpose" in found else PURPOSES[0],
        start=fields.optional_count("start"),
        end=fields.optional_count("end"),
        quote=fields.name("quote"),
    )


def _order(found: dict[str, Any]) -> OrderLine:
    if not isinstance(found.get("swapped"), bool):
        raise BrokenLine("An order of a pair says in “swapped” whether the second stood first: true or false.")
    return OrderLine(found["swapped"], Fields(found).optional_number("grade"))
