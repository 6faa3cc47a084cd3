"""TREC's runs and qrels, and passages by id.

The readers of ir_measures give no line numbers and drop rank and tag, hence ours. `#` stands inside
real ids and never begins a comment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collection.formats.json_fields import Fields, json_objects
from collection.formats.jsonl import PassageLine
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.values import read_number, read_whole, refuse_unstorable


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
            fields = Fields(found)
            yield (
                number,
                PassageLine(
                    passage_id=fields.identifier(_present(found, "id", "passage_id", "docid", "docno", "_id", "pid")),
                    text=fields.text(_present(found, "contents", "text", "segment", "body")),
                    title=fields.optional_text("title"),
                    document_id=fields.optional_text("document_id"),
                    attributes=fields.attributes(),
                ),
            )


def columns(line: str, wanted: int, names: str) -> list[str]:
    """Return the line's columns. Raises BrokenLine if there are more or fewer."""
    refuse_unstorable(line)
    found = line.split()
    if len(found) != wanted:
        raise BrokenLine(f"The line has {len(found)} columns, not {wanted}.", f"The columns are: {names}.")
    return found


def _present(found: dict[str, object], *names: str) -> str:
    for name in names:
        if name in found:
            return name
    raise BrokenLine(f"There is no field “{names[0]}”.", f"One of these is needed: {', '.join(names)}.")
