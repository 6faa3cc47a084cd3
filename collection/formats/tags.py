"""Topics between tags: TREC's `<top>`, whose tags are rarely closed, and XML; each becomes an object by its tags."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLParser

from collection.formats.problems import BrokenFile, BrokenLine, InputFile, Problem
from collection.formats.values import refuse_unstorable

TOP = re.compile(r"<top(\s[^<>]*)?>", re.IGNORECASE)
XML_TOPIC = re.compile(r"<topic[\s>]", re.IGNORECASE)
KNOWN = {"num", "title", "desc", "narr"}
TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)(\s[^<>]*)?>")
ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
# Words that TREC's topics put behind a tag whose text they announce.
LABEL = re.compile(
    r"\s*(?:Number|Topic|Description|Narrative|Domain|Summary|Concept\(s\)|Factor\(s\)|Nationality|Definition\(s\)|Time)"
    r"\s*:",
    re.IGNORECASE,
)
ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});")
DECLARED = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def tagged_topics(file: InputFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield TREC's topics with the lines on which they begin; a second number in one is refused.

    Tags at the beginning of a line, behind another tag, or known ones begin a part; others are part of the text.
    """
    begun: _Topic | None = None
    for number, line in file.lines():
        with file.line(number):
            refuse_unstorable(line)
            place = 0
            for top in TOP.finditer(line):
                if begun:
                    begun.take(line[place : top.start()])
                    yield begun.number, begun.object()
                begun, place = _Topic(number, _attributes(top[1])), top.end()
            if begun:
                begun.take(line[place:])
    if begun:
        yield begun.number, begun.object()


@dataclass
class _Topic:
    """A topic that is being read: the parts so far, and the one that goes on."""

    number: int
    said: dict[str, str]
    parts: dict[str, list[str]] = field(default_factory=dict)
    name: str = ""

    def take(self, line: str) -> None:
        """Take the rest of a line, which may begin and end parts. Raises BrokenLine for a second number."""
        place, beginning = 0, len(line) - len(line.lstrip())
        for tag in TAG.finditer(line):
            name = tag[2].lower()
            is_part = name in KNOWN or name == self.name or name == "top" or tag.start() in (beginning, place)
            if not is_part:
                continue
            self._add(line[place : tag.start()])
            place = tag.end()
            if tag[1]:
                self.name = ""
                continue
            if name == "num" and name in self.parts:
                raise BrokenLine("The topic has a second <num>.", "Begin each topic with <top>, whole on one line.")
            self.name = name
            self.said |= {f"{name} {key}": value for key, value in _attributes(tag[3]).items()}
            self.parts.setdefault(name, [])
            place += len(label[0]) if (label := LABEL.match(line, place)) else 0
        self._add(line[place:])

    def _add(self, text: str) -> None:
        if text.strip():
            self.parts.setdefault(self.name, []).append(text)

    def object(self) -> dict[str, Any]:
        texts = {name: unescaped(" ".join(" ".join(parts).split())) for name, parts in self.parts.items()}
        return self.said | {name: text for name, text in texts.items() if text and name}


def xml_topics(file: InputFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the elements named topic or top of an XML file, each an object of its attributes and parts.

    Raises BrokenFile where it is not well-formed, or declares entities.
    """
    builder = _Numbered()
    try:
        for _, line in file.lines():
            if DECLARED.search(line):
                said = Problem(None, "The file has a DOCTYPE or declares entities.", "Remove these lines.")
                raise BrokenFile(file.name, [said])
        for line in file.lines_with_ends():
            builder.number += 1
            builder.parser.feed(line)
        builder.parser.close()
    except ParseError as error:
        raise BrokenFile(file.name, [Problem(error.position[0], f"This is not well-formed XML: {error}.")]) from error
    yield from builder.topics


class _Numbered:
    """Builds XML elements and keeps the topics among them with the lines on which they begin."""

    def __init__(self) -> None:
        self.number = 0
        self.topics: list[tuple[int, dict[str, Any]]] = []
        self.open: list[tuple[Element, int]] = []
        # Nothing is declared in what is read (DECLARED), so no entity can grow.
        self.parser = XMLParser(target=self)  # noqa: S314

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag.rpartition("}")[2].lower(), attributes)
        if self.open:
            self.open[-1][0].append(element)
        self.open.append((element, self.number))

    def data(self, text: str) -> None:
        element = self.open[-1][0]
        if len(element):
            element[-1].tail = (element[-1].tail or "") + text
        else:
            element.text = (element.text or "") + text

    def end(self, _: str) -> None:
        element, number = self.open.pop()
        if element.tag in ("topic", "top"):
            self.topics.append((number, _of_element(element)))

    def close(self) -> None:
        """Nothing is left to do: the topics are complete."""


def _of_element(element: Element) -> dict[str, Any]:
    found: dict[str, Any] = dict(element.attrib)
    for part in element:
        own = " ".join("".join(part.itertext()).split())
        value: Any = {"text": own, **part.attrib} if part.attrib else own
        if part.tag in found:
            earlier = found[part.tag]
            found[part.tag] = [*earlier, value] if isinstance(earlier, list) else [earlier, value]
        elif own or part.attrib:
            found[part.tag] = value
    if not len(element) and (element.text or "").strip():
        found["text"] = " ".join((element.text or "").split())
    return found


def unescaped(text: str) -> str:
    """Return the text with the characters that its entities stand for; an ampersand alone stays."""
    return ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def _attributes(written: str | None) -> dict[str, str]:
    return {name: double or single for name, double, single in ATTRIBUTE.findall(written or "")}


def tags_of(found: dict[str, Any]) -> str:
    """Return the tags of a topic for a message."""
    return ", ".join(found) or "none"


def refuse_without_request(found: dict[str, Any], number: str) -> None:
    """Raise BrokenLine, which names what is there."""
    raise BrokenLine(
        f"The topic {number} has no title and no description; its tags are: {tags_of(found)}.",
        "Add a <title> or a <desc>.",
    )
