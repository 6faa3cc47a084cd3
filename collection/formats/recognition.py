"""Which of the formats a file has, told by its first line."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from collection.formats.cited_reports import is_cited_report
from collection.formats.json_fields import is_open, whole_json
from collection.formats.jsonl import LINES
from collection.formats.natural_questions import is_question
from collection.formats.nugget_banks import are_scores, is_assignment, is_nugget_bank
from collection.formats.pools import is_pool
from collection.formats.problems import BrokenFile, BrokenLine, InputFile, Problem
from collection.formats.rubric_workbench import is_graded_topic
from collection.formats.scores.tools import form_of
from collection.formats.summaries import is_summary
from collection.formats.topics import ID_FIELDS, REQUEST_FIELDS
from collection.formats.trec import TEXT_FIELDS
from collection.formats.values import strict_json, strict_object

ROW_FIELDS = {"item_id", "criterion", "rater"}
# Where an object may be a topic or a passage, the file's name decides.
NAMED_TOPICS = re.compile(r"topic|quer|question|request", re.IGNORECASE)
NOT_TEXT = {
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"7z\xbc\xaf": "a 7z file",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF",
}
UNKNOWN = "Choose its format, or see which files can be imported (docs/formats.md)."


def recognised(path: Path, *, name: str) -> str:
    """Return the name of the file's format. Raises BrokenFile where it is none of those that can be told."""
    if is_zipfile(path):
        return "zip"
    with InputFile(path, name=name) as file:
        number, raw = next(file.raw_lines(), (0, b""))
        if known := next((known for mark, known in NOT_TEXT.items() if raw.startswith(mark)), ""):
            raise _unknown(name, f"This is {known}.", "Unpack it, or export its tables as text (docs/formats.md).")
        if b"\x00" in raw:
            raise _unknown(name, "This is not a text file.", UNKNOWN)
    with InputFile(path, name=name) as file:
        for number, line in islice(file.lines(), 1):
            if file.problems:
                raise BrokenFile(name, file.problems)
            if whole := _format_of_whole(line.strip(), InputFile(path, name=name)):
                return whole
            if found := _format_of(line.strip(), name):
                return found
            raise BrokenFile(name, [Problem(number, "The format is not recognised from this line.", UNKNOWN)])
    raise _unknown(name, "The file is empty.", "Choose another, or leave it out.")


def _format_of_whole(line: str, file: InputFile) -> str:
    """Return the format of a file that is one JSON value over several lines; empty where it is none of these."""
    if not is_open(line):
        return ""
    found = whole_json(file)
    if isinstance(found, dict) and is_nugget_bank(found):
        return "nuggets"
    first = next(iter(found), None) if isinstance(found, list) else found
    return "scores" if isinstance(first, dict) and form_of(first) else ""


def _format_of(line: str, name: str) -> str:
    """Return the format of a file that begins with this line; empty where it is none."""
    if line.startswith("[{"):
        return _format_of_list(line)
    if line.startswith("["):
        return "graded" if is_graded_topic(line) else ""
    if line.startswith("{"):
        return _format_of_object(line, name)
    if line.lower().startswith("<top"):
        return "topics"
    cells = {cell.strip().strip('"') for cell in line.split(",")}
    if cells >= ROW_FIELDS:
        return "judgments"
    if cells >= {"user_input", "response"}:
        return "scores"
    tabs, words = line.split("\t"), line.split()
    if len(words) == 6 and len(tabs) in (1, 6):
        return "run"
    if len(words) == 4 and len(tabs) in (1, 4):
        return "qrels"
    return "topics" if len(tabs) == 2 else ""


def _format_of_object(line: str, name: str) -> str:
    try:
        found: dict[str, Any] = strict_object(line)
    except BrokenLine as broken:
        raise BrokenFile(name, [Problem(1, broken.reason, broken.remedy)]) from broken
    if found.get("type") in LINES:
        return "assize"
    if found.keys() >= ROW_FIELDS:
        return "judgments"
    if found.keys() >= {"input", "passages", "output"}:
        return "clapnq"
    if "query_id" in found and (isinstance(found.get("items"), list) or isinstance(found.get("questions"), list)):
        return "questions"
    if is_question(found):
        return "natural_questions"
    if is_cited_report(found):
        return "reports"
    if is_pool(found):
        return "pools"
    if is_summary(found):
        return "summaries"
    if is_assignment(found):
        return "assignments"
    if is_nugget_bank(found) or are_scores(found):
        return "nuggets"
    if form_of(found):
        return "scores"
    is_passage = bool(found.keys() & set(TEXT_FIELDS))
    is_topic = bool(found.keys() & set(ID_FIELDS)) and bool(found.keys() & set(REQUEST_FIELDS))
    if is_topic and (not is_passage or NAMED_TOPICS.search(name)):
        return "topics"
    return "passages" if is_passage else ""


def _format_of_list(line: str) -> str:
    try:
        found = strict_json(line)
    except BrokenLine:
        return ""
    first = found[0] if isinstance(found, list) and found else None
    return "scores" if isinstance(first, dict) and form_of(first) else ""


def _unknown(name: str, reason: str, remedy: str) -> BrokenFile:
    return BrokenFile(name, [Problem(None, reason, remedy)])
