"""TREC's runs and qrels, and passages by id.

The readers of ir_measures give no line numbers and drop rank and tag, hence ours. `#` stands inside
real ids and never begins a comment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from collection.formats.json_fields import Fields, first_present, json_objects
from collection.formats.jsonl import PassageLine
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.values import read_number, read_whole, refuse_unstorable

ID_FIELDS = ("id", "passage_id", "docid", "docno", "_id", "pid")
TEXT_FIELDS = ("contents", "text", "segment", "body")


@dataclass(frozen=True)
class RunLine:
    """`topic Q0 docno rank score tag`."""

    topic_id: str
    passage_id: str
    rank: int
    score: float
    tag: str


@dataclass(frozen=True)
class QrelsLine:
    """`topic 0 docno grade`."""

    topic_id: str
    passage_id: str
    grade: float


def read_run(file: InputFile) -> Iterator[tuple[int, RunLine]]:
    """Yield the lines of a six-column run."""
    for number, line in file.lines():
        with file.line(number):
            topic_id, _, passage_id, rank, score, tag = columns(line, 6, "topic Q0 docno rank score tag")
            yield number, RunLine(topic_id, passage_id, read_whole(rank, "rank"), read_number(score, "score"), tag)


def written_run_line(line: RunLine) -> str:
    """Return the line as it is read, with the score to its last digit. Names must be words."""
    return f"{line.topic_id} Q0 {line.passage_id} {line.rank} {line.score!r} {line.tag}\n"


def read_qrels(file: InputFile) -> Iterator[tuple[int, QrelsLine]]:
    """Yield the lines of four-column qrels."""
    for number, line in file.lines():
        with file.line(number):
            topic_id, _, passage_id, grade = columns(line, 4, "topic 0 docno grade")
            yield number, QrelsLine(topic_id, passage_id, read_number(grade, "grade"))


def read_passages(file: InputFile) -> Iterator[tuple[int, PassageLine]]:
    """Yield the passages of a JSONL file: an id (`id`, `docid`, …) and a text (`contents`, `text`, …) a line."""
    for number, found in json_objects(file):
        with file.line(number):
            yield number, passage_of(found, first_present(found, *ID_FIELDS))


def passage_of(found: dict[str, Any], id_field: str) -> PassageLine:
    """Return the passage that an object is; fields without a place are kept in its attributes.

    A segment of MS MARCO v2.1 names its document before the `#` of its id.
    """
    fields = Fields(found)
    text_field = first_present(found, *TEXT_FIELDS)
    passage_id = fields.identifier(id_field)
    return PassageLine(
        passage_id=passage_id,
        text=fields.text(text_field),
        title=fields.optional_text("title"),
        document_id=fields.optional_text("document_id")
        or (document_of_segment(passage_id) if text_field == "segment" else ""),
        translation=fields.translation("translation"),
        attributes=fields.attributes(),
    )


def document_of_segment(passage_id: str) -> str:
    """Return the document of which `DOCUMENT#…` is a segment; empty for another id."""
    document, mark, _ = passage_id.partition("#")
    return document if mark else ""


def columns(line: str, wanted: int, names: str) -> list[str]:
    """Return the line's columns. Raises BrokenLine if there are more or fewer."""
    refuse_unstorable(line)
    found = line.split()
    if len(found) != wanted:
        raise BrokenLine(f"The line has {len(found)} columns, not {wanted}.", f"The columns are: {names}.")
    return found
