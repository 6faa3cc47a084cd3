"""Summaries with the documents that they sum up, a topic a line: Multi-News, DUC and their like.

`{"document": "one ||||| another", "summary": "…"}`; the documents may be a list too, then called `documents` or
`context`. A line without an id is called like the file and its number, from 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collection.formats.json_fields import Fields, json_objects
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.values import shown

# Multi-News's separator, and that of its copies for models that end a text so.
SEPARATORS = ("|||||", "</s>")
DOCUMENTS = ("document", "documents", "context")
IDS = ("topic_id", "example_id", "qid", "query_id", "id", "_id")
REQUESTS = ("request", "query", "question", "topic")
FORM = f'It looks like {{"document": "one {SEPARATORS[0]} another", "summary": "…"}}.'


@dataclass(frozen=True)
class Summary:
    """A topic with its human summary and its documents in order; `n_empty` of them had no text and are left out."""

    topic_id: str
    request: str
    summary: str
    documents: tuple[str, ...]
    n_empty: int
    attributes: dict[str, Any]


def is_summary(found: dict[str, Any]) -> bool:
    """Whether an object looks like one of these lines."""
    return isinstance(found.get("summary"), str) and any(isinstance(found.get(name), str | list) for name in DOCUMENTS)


def read_summaries(file: InputFile) -> Iterator[tuple[int, Summary]]:
    """Yield the number of each line and its summary. What is broken is noted with the file."""
    stem = Path(file.name.removesuffix(".gz")).stem
    for place, (number, found) in enumerate(json_objects(file)):
        with file.line(number):
            yield number, parse_summary(found, unnamed=f"{stem}-{place}")


def parse_summary(found: dict[str, Any], *, unnamed: str) -> Summary:
    """Return the summary that an object is. Raises BrokenLine."""
    if not is_summary(found):
        raise BrokenLine("The line is not a summary with its documents.", FORM)
    fields = Fields(found)
    parts = _parts(fields.take(next(name for name in DOCUMENTS if isinstance(found.get(name), str | list))))
    documents = tuple(filter(None, parts))
    if not documents:
        raise BrokenLine("There is no document.", FORM)
    named = next((name for name in IDS if found.get(name) is not None), "")
    asked = next((name for name in REQUESTS if isinstance(found.get(name), str)), "")
    return Summary(
        topic_id=fields.identifier(named) if named else unnamed,
        request=fields.text(asked) if asked else "",
        summary=fields.name("summary"),
        documents=documents,
        n_empty=len(parts) - len(documents),
        attributes=fields.attributes(),
    )


def _parts(said: Any) -> list[str]:
    """Return the documents as they came but for white space around them; one after the last separator is none."""
    if isinstance(said, list):
        if wrong := next((one for one in said if not isinstance(one, str)), None):
            raise BrokenLine(f"A document is {shown(wrong)}, not a text.", FORM)
        return [one.strip() for one in said]
    whole = said
    for separator in SEPARATORS:
        whole = whole.replace(separator, SEPARATORS[0])
    parts = [one.strip() for one in whole.split(SEPARATORS[0])]
    return parts if parts[-1] else parts[:-1]
