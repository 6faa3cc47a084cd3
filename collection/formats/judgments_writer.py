"""The long judgments table as it is written: see `collection.formats.judgments_reader` for how it is read."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from collection.formats.judgments_reader import FLAGS, AnswerLine, OrderLine, RevisesLine
from stats.csv_files import csv_lines


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
class SuggestionLine:
    """How a judge's grade was suggested to the rater: the arm and its probability, that grade, and their own before."""

    arm: str
    probability: float
    judge: str
    grade: float
    own_grade: float | None


@dataclass(frozen=True)
class WrittenJudgment:
    """A row of the table as it is written. Its fields down to `other_run` are the columns of every CSV."""

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
    unsure: bool = False
    page_changed: bool = False
    orders: tuple[OrderLine, ...] = ()
    round: int | None = None
    answer: AnswerLine | None = None
    revises: RevisesLine | None = None
    crowd_id: str = ""
    suggestion: SuggestionLine | None = None


@dataclass(frozen=True)
class Extras:
    """What a table holds beyond the usual columns: a study that has none of it gets none of its columns."""

    answers: bool = False
    orders: bool = False
    crowd_ids: bool = False
    suggestions: bool = False
    unsure: bool = False
    page_changed: bool = False

    @property
    def columns(self) -> list[str]:
        """The names of its columns in a CSV."""
        return [
            *(ANSWER_COLUMNS if self.answers else ()),
            *(["orders"] if self.orders else ()),
            *(["crowd_id"] if self.crowd_ids else ()),
            *(SUGGESTION_COLUMNS if self.suggestions else ()),
            *(name for name in FLAGS if getattr(self, name)),
        ]


_FIELDS = [field.name for field in dataclasses.fields(WrittenJudgment)]
COLUMNS = _FIELDS[: _FIELDS.index("highlights")]
ANSWER_COLUMNS = ("round", "answer", "confirmations", "revises_item_id", "revises_writer")
SUGGESTION_COLUMNS = (
    "suggestion_arm", "suggestion_probability", "suggestion_judge", "suggestion_grade", "suggestion_own_grade"
)  # fmt: skip
NO_EXTRAS = Extras()


def written_csv(rows: Iterable[WrittenJudgment], extras: Extras = NO_EXTRAS) -> Iterator[str]:
    """Yield the lines of a CSV table."""
    yield from csv_lines([[*COLUMNS, *extras.columns]])
    yield from csv_lines(_cells(row, extras) for row in rows)


def _cells(row: WrittenJudgment, extras: Extras) -> list[str]:
    cells = [_cell(getattr(row, name)) for name in COLUMNS]
    more = _extra_cells(row) if extras.columns else {}
    return [*cells, *(more[name] for name in extras.columns)]


def _extra_cells(row: WrittenJudgment) -> dict[str, str]:
    answer, revises = row.answer, row.revises
    suggested = vars(row.suggestion).values() if row.suggestion else [None] * len(SUGGESTION_COLUMNS)
    return {
        **dict(zip(SUGGESTION_COLUMNS, map(_cell, suggested), strict=True)),
        "round": _cell(row.round),
        "answer": answer.text if answer else "",
        "confirmations": json.dumps(answer.confirmations) if answer and answer.confirmations else "",
        "revises_item_id": revises.item_id if revises else "",
        "revises_writer": revises.writer if revises else "",
        "orders": json.dumps([vars(order) for order in row.orders]) if row.orders else "",
        "crowd_id": row.crowd_id,
        **{name: json.dumps(getattr(row, name)) for name in FLAGS},
    }


def written_jsonl(rows: Iterable[WrittenJudgment], extras: Extras = NO_EXTRAS) -> Iterator[str]:
    """Yield the lines of a JSONL table."""
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    for row in rows:
        found = {name: getattr(row, name) for name in COLUMNS}
        if extras.crowd_ids:
            found["crowd_id"] = row.crowd_id
        found["highlights"] = [vars(highlight) for highlight in row.highlights]
        if row.orders:
            found["orders"] = [vars(order) for order in row.orders]
        if row.round is not None:
            found["round"] = row.round
        if row.answer:
            found["answer"] = {name: value for name, value in vars(row.answer).items() if value or name == "text"}
        if row.revises:
            found["revises"] = vars(row.revises)
        if row.suggestion:
            found["suggestion"] = vars(row.suggestion)
        found |= {name: getattr(row, name) for name in FLAGS if getattr(extras, name)}
        yield encode(found) + "\n"


def _cell(value: str | float | None) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return "" if value is None else str(value)
