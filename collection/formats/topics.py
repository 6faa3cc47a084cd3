"""Topics as people exchange them: JSONL, TSV, TREC's topics, or the ids that stand in a run or qrels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from collection.formats.json_fields import Fields, first_present
from collection.formats.jsonl import TopicLine
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.values import refuse_unstorable, strict_object
from stats.plurals import counted

ID_FIELDS = ("topic_id", "qid", "query_id", "request_id", "id", "_id", "number", "num")
REQUEST_FIELDS = ("request", "query", "question", "text", "problem_statement", "title")
FORMS = "Topics are JSONL with an id and a request, lines of id, tab and request, or TREC’s <top> … </top>."
# TREC's tags are rarely closed, and the words after some of them are labels.
TAG = re.compile(r"</?(top|num|title|desc|narr)>\s*(?:(?:Number|Topic|Description|Narrative):)?", re.IGNORECASE)


def read_topics(file: InputFile) -> Iterator[tuple[int, TopicLine]]:
    """Yield the topics of a file with the line on which each begins; the first line tells which form it has."""
    lines = file.lines()
    for number, first in lines:
        rest = chain([(number, first)], lines)
        match first.lstrip()[:1], "\t" in first:
            case "{", _:
                yield from _from_objects(file, rest)
            case "<", _:
                yield from _from_tags(file, rest)
            case _, True:
                yield from _from_columns(file, rest)
            case _:
                file.refuse(number, BrokenLine("This is not a topic.", FORMS))
        return


def _from_objects(file: InputFile, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, TopicLine]]:
    for number, line in lines:
        with file.line(number):
            yield number, topic_of(strict_object(line))


def topic_of(found: dict[str, Any]) -> TopicLine:
    """Return the topic that a line's object is; fields without a place are kept in its attributes."""
    fields = Fields(found)
    # AutoJudge's requests may have an empty problem statement beside their title.
    said = [name for name in REQUEST_FIELDS if found.get(name) != ""]
    return TopicLine(
        topic_id=fields.identifier(first_present(found, *ID_FIELDS)),
        request=fields.name(first_present(found, *(said or REQUEST_FIELDS))),
        title=fields.optional_text("title"),
        attributes=fields.attributes(),
    )


def _from_columns(file: InputFile, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, TopicLine]]:
    for position, (number, line) in enumerate(lines):
        with file.line(number):
            refuse_unstorable(line)
            cells = [cell.strip() for cell in line.split("\t")]
            if len(cells) != 2 or not all(cells):
                raise BrokenLine(f"The line has {counted(len(cells), 'columns')}, not an id and a request.", FORMS)
            if position == 0 and cells[0].lower() in ID_FIELDS:
                continue  # the names of the columns
            yield number, TopicLine(cells[0], cells[1])


def _from_tags(file: InputFile, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, TopicLine]]:
    """Read TREC's topics: what stands after `<desc>` is the request, or after `<title>` where there is no such part."""
    parts: dict[str, str] = {}
    begun, tag = 0, ""
    for number, line in lines:
        with file.line(number):
            refuse_unstorable(line)
            # Between the tags stand the texts; `split` puts each tag's name before its text.
            before, *rest = TAG.split(line)
            parts[tag] = f"{parts.get(tag, '')}\n{before}"
            for found, text in zip(rest[::2], rest[1::2], strict=True):
                tag = found.lower()
                if tag == "top":
                    if begun and parts.get("num"):
                        yield begun, _tagged(parts)
                    parts, begun, tag = {}, number, ""
                parts[tag] = f"{parts.get(tag, '')}\n{text}"
    if parts.get("num"):
        with file.line(begun):
            yield begun, _tagged(parts)


def _tagged(parts: dict[str, str]) -> TopicLine:
    said = {tag: " ".join(text.split()) for tag, text in parts.items()}
    request = said.get("desc") or said.get("title") or ""
    if not said["num"] or not request:
        raise BrokenLine("The topic has no number, or neither a title nor a description.", FORMS)
    narrative = said.get("narr")
    return TopicLine(said["num"], request, said.get("title", ""), {"narrative": narrative} if narrative else {})
