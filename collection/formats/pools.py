"""Candidate pools: a query with its candidates a line, as rerankers exchange them.

`{"query": {"qid", "text"}, "candidates": [{"docid", "score", "doc": {…} | "text"}]}`, the first candidate ranked first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from collection.formats.json_fields import Fields, first_present, json_objects
from collection.formats.jsonl import PassageLine, TopicLine
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.trec import ID_FIELDS, TEXT_FIELDS, passage_of
from collection.formats.values import shown


@dataclass(frozen=True)
class Candidate:
    """`passage` is None where the line gives no document; `rest` is what else the candidate says."""

    docno: str
    score: float
    passage: PassageLine | None
    spelling: Spelling
    rest: dict[str, Any]


@dataclass(frozen=True)
class Spelling:
    """How a document spells its text (empty where it is a text alone) and its own id (empty where it has none)."""

    text: str = ""
    docno: str = ""


@dataclass(frozen=True)
class Pool:
    """A line: its topic, the candidates in their order, and what else it says."""

    topic: TopicLine
    candidates: tuple[Candidate, ...]
    rest: dict[str, Any]


def is_pool(found: dict[str, Any]) -> bool:
    """Whether an object looks like one of these lines."""
    return isinstance(found.get("query"), dict) and isinstance(found.get("candidates"), list)


def read_pools(file: InputFile) -> Iterator[tuple[int, Pool]]:
    """Yield the number of each line and its pool. What is broken is noted with the file."""
    for number, found in json_objects(file):
        with file.line(number):
            yield number, parse_pool(found)


def parse_pool(found: dict[str, Any]) -> Pool:
    """Return the pool that an object is. Raises BrokenLine."""
    if not is_pool(found):
        raise BrokenLine("The line is not a query with candidates.", 'It looks like {"query": {…}, "candidates": […]}.')
    fields = Fields(found)
    query = Fields(fields.take("query"))
    topic = TopicLine(
        query.identifier("qid"),
        query.name("text"),
        query.optional_text("title"),
        query.attributes(),
    )
    candidates = tuple(_candidate(one, place) for place, one in enumerate(fields.take("candidates"), start=1))
    seen: set[str] = set()
    for candidate in candidates:
        if candidate.docno in seen:
            raise BrokenLine(f"The candidate “{candidate.docno}” is there twice.", "List each document once.")
        seen.add(candidate.docno)
    return Pool(topic, candidates, fields.rest)


def _candidate(found: Any, place: int) -> Candidate:
    if not isinstance(found, dict):
        raise BrokenLine(f"Candidate {place} is {shown(found)}, not an object.", "It has docid, score and doc.")
    fields = Fields(found)
    try:
        docno = fields.identifier("docid")
        score = fields.number("score")
        passage, spelling = _document(fields.rest.pop("doc", None), docno)
    except BrokenLine as broken:
        raise BrokenLine(f"Candidate {place}: {broken.reason}", broken.remedy) from broken
    return Candidate(docno, score, passage, spelling, fields.rest)


def _document(found: Any, docno: str) -> tuple[PassageLine | None, Spelling]:
    if found is None:
        return None, Spelling()
    if isinstance(found, str):
        return PassageLine(docno, found), Spelling()
    if not isinstance(found, dict):
        raise BrokenLine(f"The document is {shown(found)}, neither a text nor an object.")
    if str(found.get("docid", docno)) != docno:
        raise BrokenLine(f"The document of “{docno}” calls itself {shown(found['docid'])}.", "Give it one id.")
    own = next((name for name in ID_FIELDS if str(found.get(name)) == docno), "")
    spelling = Spelling(first_present(found, *TEXT_FIELDS), own)
    return passage_of({**found, (own or "docid"): docno}, own or "docid"), spelling
