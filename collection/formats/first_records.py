"""The first records of a file as its reader reads them, to be looked at before anything is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from collection.formats.cited_reports import read_cited_reports
from collection.formats.clapnq import read_clapnq
from collection.formats.json_fields import json_objects
from collection.formats.natural_questions import read_questions
from collection.formats.nugget_banks import read_nugget_banks
from collection.formats.pools import read_pools
from collection.formats.problems import BrokenFile, InputFile
from collection.formats.scores.rows import Unsaid
from collection.formats.scores.tools import read_scores
from collection.formats.summaries import read_summaries
from collection.formats.tables import csv_rows
from collection.formats.topics import read_topics
from collection.formats.trec import read_passages, read_qrels, read_run

SHOWN = 3
MOST_CHARACTERS = 160
MOST_FIELDS = 30
Record = list[tuple[str, str]]


def _table(file: InputFile) -> Iterator[tuple[int, Any]]:
    _, first = next(InputFile(file.path, name=file.name).lines(), (0, ""))
    return json_objects(file) if first.lstrip().startswith("{") else csv_rows(file, needed=[])


READERS: dict[str, Callable[[InputFile], Iterator[tuple[int, Any]]]] = {
    "assize": json_objects,
    "topics": read_topics,
    "passages": read_passages,
    "run": read_run,
    "qrels": read_qrels,
    "reports": read_cited_reports,
    "pools": read_pools,
    "nuggets": read_nugget_banks,
    "assignments": read_nugget_banks,
    "summaries": read_summaries,
    "natural_questions": read_questions,
    "clapnq": read_clapnq,
    "questions": json_objects,
    "judgments": _table,
    "scores": lambda file: read_scores(file, unsaid=Unsaid(criterion="?", rater="?")),
}


def first_records(path: Path, *, name: str, file_format: str) -> list[Record]:
    """Return the first records: the names and values of what stands in each, shortened; none where none can be read."""
    reader = READERS.get(file_format)
    if reader is None:
        return []
    try:
        return [_shown(found) for _, found in islice(reader(InputFile(path, name=name)), SHOWN)]
    except BrokenFile:
        return []


def _shown(found: Any) -> Record:
    values = _plain(found)
    pairs = values.items() if isinstance(values, dict) else [("", values)]
    said = [(name, value) for name, value in pairs if value not in (None, "", [], {})]
    more = [("…", f"{len(said) - MOST_FIELDS:,} more fields")] if len(said) > MOST_FIELDS else []
    return [(_text(name), _text(value)) for name, value in said[:MOST_FIELDS]] + more


def _plain(found: Any) -> Any:
    if is_dataclass(found) and not isinstance(found, type):
        named = {one.name: _plain(getattr(found, one.name)) for one in fields(found)}
        return {name: value for name, value in named.items() if value not in (None, "", [], {})}
    if isinstance(found, dict):
        return {str(name): _plain(value) for name, value in found.items()}
    return [_plain(one) for one in found] if isinstance(found, list | tuple) else found


def _text(value: Any) -> str:
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return written if len(written) <= MOST_CHARACTERS else f"{written[: MOST_CHARACTERS - 1]}…"
