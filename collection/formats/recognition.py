"""Which of the formats a file has, told by its first line."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from collection.formats.jsonl import LINES
from collection.formats.problems import BrokenFile, BrokenLine, InputFile, Problem
from collection.formats.rubric_workbench import GZIP
from collection.formats.topics import ID_FIELDS, REQUEST_FIELDS
from collection.formats.values import strict_object

TEXT_FIELDS = {"contents", "text", "segment", "body"}
ROW_FIELDS = {"item_id", "criterion", "rater"}
# Where an object may be a topic or a passage, the file's name decides.
NAMED_TOPICS = re.compile(r"topic|quer|question|request", re.IGNORECASE)
UNKNOWN = "Choose its format, or see which files can be imported (docs/formats.md)."


def recognised(path: Path, *, name: str) -> str:
    """Return the name of the file's format. Raises BrokenFile where it is none of those that can be told."""
    if is_zipfile(path):
        return "zip"
    with path.open("rb") as file:
        if file.read(len(GZIP)) == GZIP:
            raise _unknown(name, "The file is compressed.", "Unpack it, or put it into a .zip with others.")
    for number, line in islice(InputFile(path, name=name).lines(), 1):
        if found := _format_of(line.strip(), name):
            return found
        raise BrokenFile(name, [Problem(number, "The format is not recognised from this line.", UNKNOWN)])
    raise _unknown(name, "The file is empty.", "")


def _format_of(line: str, name: str) -> str:
    """Return the format of a file that begins with this line; empty where it is none."""
    if line.startswith("{"):
        return _format_of_object(line, name)
    if line.lower().startswith("<top"):
        return "topics"
    cells = {cell.strip().strip('"') for cell in line.split(",")}
    if cells >= ROW_FIELDS:
        return "judgments"
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
    is_passage = bool(found.keys() & TEXT_FIELDS)
    is_topic = bool(found.keys() & set(ID_FIELDS)) and bool(found.keys() & set(REQUEST_FIELDS))
    if is_topic and (not is_passage or NAMED_TOPICS.search(name)):
        return "topics"
    return "passages" if is_passage else ""


def _unknown(name: str, reason: str, remedy: str) -> BrokenFile:
    return BrokenFile(name, [Problem(None, reason, remedy)])
