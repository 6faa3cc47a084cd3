"""Assize JSONL: a collection in one file of typed lines. `docs/formats.md` describes it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, get_args

from collection.formats.json_fields import Fields, json_objects
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.values import shown

KINDS = ("sub_question", "nugget", "key_point")
IMPORTANCES = ("vital", "okay")
AGGREGATORS = ("and", "or", "not", "sum")
ENCODINGS = ("utf-8", "utf-16")


# How a field is read whose type and default do not say it. Other texts without a default are names, never empty.
MAY_BE_EMPTY = {"read": Fields.text}
MAY_BE_LEFT_OUT = {"read": Fields.optional_text}
ONE_OF_KINDS = {"read": lambda fields, name: fields.choice(name, KINDS)}
ONE_OF_IMPORTANCES = {
    "read": lambda fields, name: fields.choice(name, ("", *IMPORTANCES)) if name in fields.rest else ""
}
ONE_OF_AGGREGATORS = {
    "read": lambda fields, name: fields.choice(name, ("", *AGGREGATORS)) if name in fields.rest else ""
}
ONE_OF_ENCODINGS = {"read": lambda fields, name: fields.choice(name, ("", *ENCODINGS)) if name in fields.rest else ""}
TRUE_UNLESS_SAID = {"read": lambda fields, name: fields.flag(name) if name in fields.rest else True}
ANYTHING = {"read": lambda fields, name: fields.rest.pop(name, None)}


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
    request: str = field(metadata=MAY_BE_EMPTY)
    title: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RubricElementLine:
    """`position` is None where the file leaves it to the order of its lines; `replaces` is the id of a former one."""

    TYPE: ClassVar = "rubric_element"
    topic_id: str
    kind: str = field(metadata=ONE_OF_KINDS)
    element_id: str
    text: str = field(metadata=MAY_BE_LEFT_OUT)
    position: int | None = None
    importance: str = field(default="", metadata=ONE_OF_IMPORTANCES)
    masked: bool = False
    attributes: dict[str, Any] = field(default_factory=dict)
    weight: float | None = None
    aggregator: str = field(default="", metadata=ONE_OF_AGGREGATORS)
    group: str = ""
    replaces: str = ""


@dataclass(frozen=True)
class PassageLine:
    TYPE: ClassVar = "passage"
    passage_id: str
    text: str | None
    title: str = ""
    document_id: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    translation: dict[str, str] = field(default_factory=dict, metadata={"read": Fields.translation})


@dataclass(frozen=True)
class ElementSpanLine:
    """`start` and `end` are None where they are to be found from the quote."""

    TYPE: ClassVar = "element_span"
    topic_id: str
    kind: str = field(metadata=ONE_OF_KINDS)
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
    made_from: str = ""


@dataclass(frozen=True)
class ReportLine:
    TYPE: ClassVar = "report"
    run: str
    topic_id: str
    text: str = field(metadata=MAY_BE_EMPTY)
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SentenceLine:
    """`position` counts the report's sentences, `start` and `end` the code points of its text."""

    TYPE: ClassVar = "sentence"
    run: str
    topic_id: str
    position: int
    start: int
    end: int
    splitter: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CitationLine:
    """`sentence` is the position of the sentence that cites, `position` the citation's own in it."""

    TYPE: ClassVar = "citation"
    run: str
    topic_id: str
    sentence: int
    position: int
    passage_id: str
    weight: float | None = None
    place: int | None = None


@dataclass(frozen=True)
class RankingLine:
    TYPE: ClassVar = "ranking"
    run: str
    topic_id: str
    passage_id: str
    rank: int
    score: float


@dataclass(frozen=True)
class NuggetAnswerLine:
    TYPE: ClassVar = "nugget_answer"
    topic_id: str
    kind: str = field(metadata=ONE_OF_KINDS)
    element_id: str
    position: int
    text: str
    importance: str = field(default="", metadata=ONE_OF_IMPORTANCES)
    right: bool = field(default=True, metadata=TRUE_UNLESS_SAID)
    creator: Any = field(default=None, metadata=ANYTHING)
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class NuggetReferenceLine:
    """`answer` is the position of the answer that it belongs to; `encoding` what its first file counted."""

    TYPE: ClassVar = "nugget_reference"
    topic_id: str
    kind: str = field(metadata=ONE_OF_KINDS)
    element_id: str
    answer: int | None
    position: int
    docno: str
    start: int | None = None
    end: int | None = None
    quote: str = ""
    encoding: str = field(default="", metadata=ONE_OF_ENCODINGS)
    quality: Any = field(default=None, metadata=ANYTHING)
    creator: Any = field(default=None, metadata=ANYTHING)
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class BankVersionLine:
    """`made_by` is a user's name."""

    TYPE: ClassVar = "bank_version"
    bank: str
    number: int
    made_at: str
    made_by: str = ""
    note: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class BankEntryLine:
    """`parent` is the position, in the same version and topic, of the nugget that this one is a part of."""

    TYPE: ClassVar = "bank_entry"
    bank: str
    version: int
    topic_id: str
    kind: str = field(metadata=ONE_OF_KINDS)
    element_id: str
    position: int
    parent: int | None = None
    importance: str = field(default="", metadata=ONE_OF_IMPORTANCES)
    weight: float | None = None
    attributes: dict[str, Any] = field(default_factory=dict)


Line = (
    CollectionLine
    | TopicLine
    | RubricElementLine
    | PassageLine
    | ElementSpanLine
    | SystemLine
    | RunLine
    | ReportLine
    | SentenceLine
    | CitationLine
    | RankingLine
    | NuggetAnswerLine
    | NuggetReferenceLine
    | BankVersionLine
    | BankEntryLine
)


LINES: dict[str, type[Line]] = {line.TYPE: line for line in get_args(Line)}
READERS: dict[str, Callable[[Fields, str], Any]] = {
    "str": Fields.name,
    "str | None": Fields.nullable_text,
    "int": Fields.count,
    "int | None": Fields.optional_count,
    "float": Fields.number,
    "float | None": Fields.optional_number,
    "bool": Fields.flag,
}


def read_collection(file: InputFile) -> Iterator[tuple[int, Line]]:
    """Yield the number of each line and what it says."""
    for number, found in json_objects(file):
        with file.line(number):
            yield number, parse_line(found)


def parse_line(found: dict[str, Any]) -> Line:
    """Return what the line's object says. Raises BrokenLine."""
    fields = Fields(found)
    line_type = fields.take("type")
    kind = LINES.get(line_type) if isinstance(line_type, str) else None
    if kind is None:
        raise BrokenLine(f"There is no type {shown(line_type)}.", f"The types are {', '.join(LINES)}.")
    line = kind(**{part.name: _read(fields, part) for part in sorted(dataclasses.fields(kind), key=_is_last)})
    fields.end()
    if isinstance(line, RubricElementLine) and not line.masked and not line.text:
        raise BrokenLine("The element has no text.", 'Give it a "text", or say "masked": true.')
    if isinstance(line, ElementSpanLine) and (line.start is None) != (line.end is None):
        raise BrokenLine("Only one of “start” and “end” is given.", "Give both, or neither.")
    return line


def _is_last(part: dataclasses.Field[Any]) -> bool:
    """Whether a field is read after the others: `attributes` take what these leave."""
    return part.name == "attributes"


def _read(fields: Fields, part: dataclasses.Field[Any]) -> Any:
    """Read a field as its metadata, its type and its default say."""
    if part.name == "attributes":
        return fields.attributes()
    optional_text = part.type == "str" and part.default == ""
    read = part.metadata.get("read") or (Fields.optional_text if optional_text else READERS[str(part.type)])
    return read(fields, part.name)


def written_line(line: Line) -> str:
    """Return the line as it stands in a file; what is at its default is left out."""
    found: dict[str, Any] = {"type": line.TYPE}
    for part in dataclasses.fields(line):
        value = getattr(line, part.name)
        required = part.default is dataclasses.MISSING and part.default_factory is dataclasses.MISSING
        if required or value not in (part.default, {}):
            found[part.name] = value
    return json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n"
