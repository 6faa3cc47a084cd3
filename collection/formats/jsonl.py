"""Assize JSONL: a collection in one file of typed lines. `docs/formats.md` describes it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from collection.formats.json_fields import Fields, json_objects
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.values import shown

KINDS = ("sub_question", "nugget", "key_point")
IMPORTANCES = ("vital", "okay")


@dataclass(frozen=True)
class CollectionLine:
    """`written_by` names the version that wrote the file; nothing is made of it."""

    TYPE: ClassVar = "collection"
    name: str = ""
    title: str = ""
    description: str = ""
    licence: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    written_by: str = ""


@dataclass(frozen=True)
class TopicLine:
    TYPE: ClassVar = "topic"
    topic_id: str
    request: str
    title: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RubricElementLine:
    """`position` is None where the file leaves it to the order of its lines."""

    TYPE: ClassVar = "rubric_element"
    topic_id: str
    kind: str
    element_id: str
    text: str
    position: int | None = None
    importance: str = ""
    masked: bool = False
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PassageLine:
    TYPE: ClassVar = "passage"
    passage_id: str
    text: str | None
    title: str = ""
    document_id: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ElementSpanLine:
    """`start` and `end` are None where they are to be found from the quote."""

    TYPE: ClassVar = "element_span"
    topic_id: str
    kind: str
    element_id: str
    passage_id: str
    quote: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class SystemLine:
    TYPE: ClassVar = "system"
    name: str
    family: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RunLine:
    TYPE: ClassVar = "run"
    name: str
    system: str
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportLine:
    TYPE: ClassVar = "report"
    run: str
    topic_id: str
    text: str
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RankingLine:
    TYPE: ClassVar = "ranking"
    run: str
    topic_id: str
    passage_id: str
    rank: int
    score: float


Line = (
    CollectionLine
    | TopicLine
    | RubricElementLine
    | PassageLine
    | ElementSpanLine
    | SystemLine
    | RunLine
    | ReportLine
    | RankingLine
)


def read_collection(file: InputFile) -> Iterator[tuple[int, Line]]:
    """Yield the number of each line and what it says."""
    for number, found in json_objects(file):
        with file.line(number):
            yield number, parse_line(found)


def parse_line(found: dict[str, Any]) -> Line:
    """Return what the line's object says. Raises BrokenLine."""
    fields = Fields(found)
    line_type = fields.take("type")
    parse = PARSERS.get(line_type) if isinstance(line_type, str) else None
    if parse is None:
        raise BrokenLine(f"There is no type {shown(line_type)}.", f"The types are {', '.join(PARSERS)}.")
    return parse(fields)


def written_line(line: Line) -> str:
    """Return the line as it stands in a file; what is at its default is left out."""
    found: dict[str, Any] = {"type": line.TYPE}
    for part in dataclasses.fields(line):
        value = getattr(line, part.name)
        required = part.default is dataclasses.MISSING and part.default_factory is dataclasses.MISSING
        if required or value not in (part.default, {}):
            found[part.name] = value
    return json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n"


def _collection(fields: Fields) -> CollectionLine:
    return CollectionLine(
        name=fields.optional_text("name"),
        title=fields.optional_text("title"),
        description=fields.optional_text("description"),
        licence=fields.optional_text("licence"),
        written_by=fields.optional_text("written_by"),
        attributes=fields.attributes(),
    )


def _topic(fields: Fields) -> TopicLine:
    return TopicLine(
        topic_id=fields.name("topic_id"),
        request=fields.text("request"),
        title=fields.optional_text("title"),
        attributes=fields.attributes(),
    )


def _rubric_element(fields: Fields) -> RubricElementLine:
    line = RubricElementLine(
        topic_id=fields.name("topic_id"),
        kind=fields.choice("kind", KINDS),
        element_id=fields.name("element_id"),
        text=fields.optional_text("text"),
        position=fields.optional_count("position"),
        importance=fields.choice("importance", ("", *IMPORTANCES)) if "importance" in fields.rest else "",
        masked=fields.flag("masked"),
        attributes=fields.attributes(),
    )
    if not line.masked and not line.text:
        raise BrokenLine("The element has no text.", 'Give it a "text", or say "masked": true.')
    return line


def _passage(fields: Fields) -> PassageLine:
    return PassageLine(
        passage_id=fields.name("passage_id"),
        text=fields.nullable_text("text"),
        title=fields.optional_text("title"),
        document_id=fields.optional_text("document_id"),
        attributes=fields.attributes(),
    )


def _element_span(fields: Fields) -> ElementSpanLine:
    line = ElementSpanLine(
        topic_id=fields.name("topic_id"),
        kind=fields.choice("kind", KINDS),
        element_id=fields.name("element_id"),
        passage_id=fields.name("passage_id"),
        quote=fields.name("quote"),
        start=fields.optional_count("start"),
        end=fields.optional_count("end"),
    )
    fields.end()
    if (line.start is None) != (line.end is None):
        raise BrokenLine("Only one of “start” and “end” is given.", "Give both, or neither.")
    return line


def _system(fields: Fields) -> SystemLine:
    return SystemLine(name=fields.name("name"), family=fields.optional_text("family"), attributes=fields.attributes())


def _run(fields: Fields) -> RunLine:
    return RunLine(name=fields.name("name"), system=fields.name("system"), attributes=fields.attributes())


def _report(fields: Fields) -> ReportLine:
    return ReportLine(
        run=fields.name("run"),
        topic_id=fields.name("topic_id"),
        text=fields.text("text"),
        attributes=fields.attributes(),
    )


def _ranking(fields: Fields) -> RankingLine:
    line = RankingLine(
        run=fields.name("run"),
        topic_id=fields.name("topic_id"),
        passage_id=fields.name("passage_id"),
        rank=fields.count("rank"),
        score=fields.number("score"),
    )
    fields.end()
    return line


PARSERS: dict[str, Callable[[Fields], Line]] = {
    "collection": _collection,
    "topic": _topic,
    "rubric_element": _rubric_element,
    "passage": _passage,
    "element_span": _element_span,
    "system": _system,
    "run": _run,
    "report": _report,
    "ranking": _ranking,
}
