"""The long judgments table, CSV or JSONL: one row for each item, criterion and rater. Read here."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from collection.formats.json_fields import Fields, json_objects
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.tables import csv_rows
from collection.formats.values import (
    LARGEST_NUMBER,
    LARGEST_WHOLE,
    read_moment,
    read_number,
    read_whole,
    shown,
    strict_json,
)

Format = Literal["csv", "jsonl"]
RATER_KINDS = ("assessor", "judge")
PURPOSES = ("support", "rationale")
REQUIRED = ("item_id", "criterion", "rater", "grade")
# Yes or no of each row; a table has their columns where any row says yes.
FLAGS = ("unsure", "page_changed")
# What the item says already: written for the reader of a table, not needed to read it back.
CONTEXT = ("task_type", "run", "passage_id", "element_id", "other_run", "round")


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
class AnswerLine:
    """What the rater wrote, with the names of what they confirmed of it."""

    text: str
    confirmations: tuple[str, ...] = ()
    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class RevisesLine:
    """Whose answer of round 1 was read in round 2: the item that the writer answered, and the writer."""

    item_id: str
    writer: str


class JudgmentLine(NamedTuple):
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
    answer: AnswerLine | None = None
    revises: RevisesLine | None = None
    unsure: bool = False
    page_changed: bool = False
    inclusion_probability: float | None = None
    rest: tuple[str, ...] = ()


def read_judgments(file: InputFile) -> Iterator[tuple[int, JudgmentLine]]:
    """Yield the rows of a table, JSONL where it begins with an object and else CSV."""
    _, first = next(InputFile(file.path, name=file.name).lines(), (0, ""))
    if not first.lstrip().startswith("{"):
        for number, row in csv_rows(file, needed=REQUIRED, remedy=f"The first line names the columns: {HEADER}."):
            with file.line(number):
                yield number, parse_judgment(_typed(row))
    else:
        for number, found in json_objects(file):
            with file.line(number):
                yield number, parse_judgment(found)


HEADER = ", ".join(REQUIRED)


def _typed(row: dict[str, str]) -> dict[str, Any]:
    typed: dict[str, Any] = dict(row)
    for name, kind in NUMBERS:
        written = row.get(name, "").strip()
        typed[name] = kind(written, name) if written else None
    return typed if typed.keys().isdisjoint(EXTRAS) else typed | _typed_extras(typed)


# The same few numbers stand in most rows.
NUMBERS = (
    ("grade", lru_cache(maxsize=4096)(read_number)),
    ("seconds", lru_cache(maxsize=4096)(read_number)),
    ("guideline_version", read_whole),
)
AS_JSON = ("orders", *FLAGS, "inclusion_probability")
EXTRAS = {"answer", "confirmations", "revises_item_id", "revises_writer", *AS_JSON}


def _typed_extras(row: dict[str, Any]) -> dict[str, Any]:
    """Return the cells of a CSV that a JSONL has as objects, and take their parts out of the row."""
    text, confirmations = row.pop("answer", ""), row.pop("confirmations", "")
    answered, writer = row.pop("revises_item_id", ""), row.pop("revises_writer", "")
    found: dict[str, Any] = {name: json_cell(name, row.pop(name, "")) for name in AS_JSON if name in row}
    if text:
        found["answer"] = {"text": text, "confirmations": json_cell("confirmations", confirmations)}
    if answered or writer:
        found["revises"] = {"item_id": answered, "writer": writer}
    return found


def json_cell(name: str, written: str) -> Any:
    """Return what the cell holds as JSON; None where it is empty. Raises BrokenLine."""
    try:
        return strict_json(written) if written.strip() else None
    except BrokenLine as broken:
        raise BrokenLine(f"“{name}” is {shown(written)}. {broken.reason}", "Write it as an export does.") from None


def parse_judgment(found: dict[str, Any]) -> JudgmentLine:
    """Return what a row says. Raises BrokenLine."""
    return _plain(found) or _with_care(found)


def _plain(found: dict[str, Any]) -> JudgmentLine | None:
    """Return what a row says in which nothing needs a second look, as in most; None for any other."""
    if not found.keys() <= PLAIN:
        return None
    value: Callable[..., Any] = found.get
    grade, seconds, judged_at = value("grade"), value("seconds"), value("judged_at")
    item_id, criterion, rater = value("item_id"), value("criterion"), value("rater")
    version = value("guideline_version")
    rater_kind, topic_id = value("rater_kind") or RATER_KINDS[0], value("topic_id", "")
    if not (
        type(item_id) is type(criterion) is type(rater) is type(topic_id) is str
        and item_id.strip()
        and criterion.strip()
        and rater.strip()
        and rater_kind in RATER_KINDS
        and type(grade) in NUMERIC
        and abs(grade) <= LARGEST_NUMBER
        and (seconds is None or (type(seconds) in NUMERIC and 0 <= seconds <= LARGEST_NUMBER))
        and (judged_at is None or type(judged_at) is str)
        and value("ungraded") in EMPTY
        and value("rater_origin") in EMPTY
        and (version is None or (type(version) is int and 0 <= version <= LARGEST_WHOLE))
    ):
        return None
    return JudgmentLine(
        item_id=item_id,
        criterion=criterion,
        rater=rater,
        grade=float(grade),
        topic_id=topic_id,
        rater_kind=rater_kind,
        judged_at=read_moment(judged_at) if judged_at else None,
        seconds=None if seconds is None else float(seconds),
        guideline_version=version,
    )


NUMERIC = (int, float)
EMPTY = (None, "")
OF_ONE_VALUE = {"item_id", "criterion", "rater", "grade", "topic_id", "rater_kind", "rater_origin", "ungraded"}
PLAIN = {*OF_ONE_VALUE, "judged_at", "seconds", "guideline_version", *CONTEXT}


def _with_care(found: dict[str, Any]) -> JudgmentLine:
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
        judged_at=read_moment(written) if (written := fields.optional_text("judged_at")) else None,
        seconds=fields.optional_number("seconds"),
        guideline_version=fields.optional_count("guideline_version"),
        highlights=tuple(_highlight(found) for found in _list("highlights", fields.rest.pop("highlights", None))),
        orders=tuple(_order(found) for found in _list("orders", fields.rest.pop("orders", None))),
        answer=_answer(fields.rest.pop("answer", None)),
        revises=_revises(fields.rest.pop("revises", None)),
        **{name: _flag(name, fields.rest.pop(name, None)) for name in FLAGS},
        inclusion_probability=fields.optional_number("inclusion_probability"),
        rest=tuple(sorted(fields.rest.keys() - {*CONTEXT, "rater_kind"})),
    )
    if (line.grade is None) == (not line.ungraded):
        raise BrokenLine(
            "A row needs either a grade, or in “ungraded” the reason why there is none.", "Give one of the two."
        )
    if line.unsure and line.grade is None:
        raise BrokenLine("“unsure” is true, and there is no grade to be unsure of.", "Leave it out.")
    if line.seconds is not None and line.seconds < 0:
        raise BrokenLine(f"The seconds are {line.seconds:g}, below 0.")
    return line


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
        raise BrokenLine("An order of a pair needs “swapped”: true if the second was shown first, else false.")
    return OrderLine(found["swapped"], Fields(found).optional_number("grade"))


def _answer(found: Any) -> AnswerLine | None:
    if found is None:
        return None
    fields = Fields(_object("answer", found))
    text = fields.text("text")
    confirmations = fields.rest.pop("confirmations", None) or []
    if not isinstance(confirmations, list) or not all(isinstance(name, str) for name in confirmations):
        raise BrokenLine(f"“confirmations” is {shown(confirmations)}, not a list of names.")
    return AnswerLine(text, tuple(confirmations), fields.attributes())


def _flag(name: str, found: Any) -> bool:
    if found is not None and not isinstance(found, bool):
        raise BrokenLine(f"“{name}” is {shown(found)}, neither true nor false.")
    return bool(found)


def _revises(found: Any) -> RevisesLine | None:
    if found is None:
        return None
    fields = Fields(_object("revises", found))
    return RevisesLine(item_id=fields.name("item_id"), writer=fields.name("writer"))


def _object(name: str, found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise BrokenLine(f"“{name}” is {shown(found)}, not an object.")
    return found
