"""Topics as people exchange them: objects, tables, TREC's topics, XML, or the ids that stand in a run or qrels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collection.formats.json_fields import Fields, first_present, json_objects
from collection.formats.jsonl import TopicLine
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.tables import named_rows, names_of, two_columns
from collection.formats.tags import refuse_without_request, tagged_topics, xml_topics

ID_FIELDS = ("topic_id", "qid", "query_id", "request_id", "id", "_id", "number", "num")
REQUEST_FIELDS = ("request", "query", "question", "text", "problem_statement", "description", "title")
FORMS = (
    "Topics are JSON objects with an id and a request, lines of id, tab and request, a table with names of columns, "
    "TREC’s <top> … </top>, or XML with <topic> elements."
)
HEADER = {*ID_FIELDS, "topic"}, {*REQUEST_FIELDS, "topic"}


def read_topics(file: InputFile) -> Iterator[tuple[int, TopicLine]]:
    """Yield the topics of a file with the line on which each begins; the first line says which form it has."""
    number, first = next(InputFile(file.path, name=file.name).lines(), (1, ""))
    match first.lstrip()[:1]:
        case "{" | "[":
            yield from _parsed(file, json_objects(file))
        case "<":
            yield from _between_tags(file)
        case _ if names_of(first, *HEADER):
            yield from _parsed(file, named_rows(file))
        case _ if "\t" in first:
            for number, (topic_id, request) in two_columns(file, "an id and a request", FORMS):
                yield number, TopicLine(topic_id, request)
        case _:
            file.refuse(number, BrokenLine("This is not a topic.", FORMS))


def _parsed(file: InputFile, objects: Iterator[tuple[int, dict[str, Any]]]) -> Iterator[tuple[int, TopicLine]]:
    for number, found in objects:
        with file.line(number):
            yield number, topic_of(found)


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


def is_xml(file: InputFile) -> bool:
    """Whether a file that begins with a tag is XML, and not TREC's topics, whose tags stay open."""
    for _, line in file.lines():
        lowered = line.lower()
        if "<topic" in lowered.replace("<topics", ""):
            return True
        if "<top>" in lowered or "<top " in lowered:
            return False
    return False


def _between_tags(file: InputFile) -> Iterator[tuple[int, TopicLine]]:
    if is_xml(InputFile(file.path, name=file.name)):
        yield from _parsed(file, xml_topics(file))
        return
    for number, found in tagged_topics(file):
        with file.line(number):
            yield number, _tagged(found)


def _tagged(found: dict[str, Any]) -> TopicLine:
    """Return TREC's topic: its description is the request, or its title without a description."""
    if not found.get("num"):
        raise BrokenLine("The topic has no number.", "Add <num> and its id.")
    topic_id = found.pop("num")
    title, request = found.pop("title", ""), found.pop("desc", "")
    if not request and not title:
        refuse_without_request(found, topic_id)
    if "narr" in found:
        found["narrative"] = found.pop("narr")
    return TopicLine(topic_id, request or title, title, found)
