"""Reports as sentences with citations: TREC RAG's, the shared schema of RAGTIME and others, AutoJudge's.

One object a line. What a line says is kept so that it can be written again equal: unknown fields, which of the
spellings it uses, and whether a citation names a document or a place in the list of references.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from collection.formats.json_fields import Fields, first_present, json_objects
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.values import shown

SENTENCES = ("answer", "responses")
TOPIC_IDS = ("topic_id", "narrative_id", "request_id")
# Between two sentences, in the report's text.
SEPARATOR = " "


@dataclass(frozen=True)
class CitedDocument:
    """`place` is where the line names it by its place in the references; `weight` is its own, as given."""

    docno: str
    weight: float | None = None
    place: int | None = None


@dataclass(frozen=True)
class CitedSentence:
    """One sentence with what it cites, the strongest first. `attributes` has what else its object says."""

    text: str
    citations: tuple[CitedDocument, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CitedReport:
    """A line. `attributes` is its object without the sentences."""

    run: str
    topic_id: str
    sentences: tuple[CitedSentence, ...]
    attributes: dict[str, Any]

    @property
    def text(self) -> str:
        """The report as one text, in which `spans` are its sentences."""
        return SEPARATOR.join(sentence.text for sentence in self.sentences)

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Where each sentence stands in the text, in code points, end-exclusive."""
        spans, start = [], 0
        for sentence in self.sentences:
            spans.append((start, start + len(sentence.text)))
            start += len(sentence.text) + len(SEPARATOR)
        return spans

    @property
    def references(self) -> list[str]:
        return list(self.attributes["references"])

    @property
    def uncited(self) -> list[str]:
        """The references that no sentence cites."""
        cited = {document.docno for sentence in self.sentences for document in sentence.citations}
        return [reference for reference in self.references if reference not in cited]


def is_cited_report(found: dict[str, Any]) -> bool:
    """Whether an object looks like one of these reports."""
    return "metadata" in found and any(isinstance(found.get(name), list) for name in SENTENCES)


def read_cited_reports(file: InputFile) -> Iterator[tuple[int, CitedReport]]:
    """Yield the number of each line and its report. What is broken is noted with the file."""
    for number, found in json_objects(file):
        with file.line(number):
            yield number, parse_cited_report(found)


def parse_cited_report(found: dict[str, Any]) -> CitedReport:
    """Return the report that an object is. Raises BrokenLine."""
    fields = Fields(found)
    said = fields.rest.get("metadata")
    if not isinstance(said, dict):
        raise BrokenLine("The field “metadata” is not an object.", "It holds team_id, run_id and topic_id.")
    metadata = Fields(said)
    run = metadata.name("run_id")
    topic_id = metadata.identifier(first_present(said, *TOPIC_IDS))
    references = _texts(found.get("references"), "references")
    named = [name for name in SENTENCES if name in found]
    if len(named) != 1:
        raise BrokenLine("The report has both “answer” and “responses”." if named else "The report has no sentences.")
    sentences = fields.take(named[0])
    if not isinstance(sentences, list):
        raise BrokenLine(f"The field “{named[0]}” is {shown(sentences)}, not a list of sentences.")
    read = tuple(_sentence(one, references, position) for position, one in enumerate(sentences, start=1))
    return CitedReport(run, topic_id, read, {**fields.rest, "sentences": named[0]})


def _sentence(found: Any, references: Sequence[str], position: int) -> CitedSentence:
    where = f"Sentence {position}"
    if not isinstance(found, dict):
        raise BrokenLine(f"{where} is {shown(found)}, not an object.", "It has text and citations.")
    fields = Fields(found)
    try:
        text = fields.text("text")
        citations = fields.take("citations")
    except BrokenLine as broken:
        raise BrokenLine(f"{where}: {broken.reason}", broken.remedy) from broken
    match citations:
        case dict():
            documents = tuple(_weighted(docno, weight, where) for docno, weight in citations.items())
        case list():
            documents = tuple(_named(one, references, where) for one in citations)
        case _:
            raise BrokenLine(f"{where}: the citations are {shown(citations)}, neither a list nor an object.")
    twice = [one.docno for number, one in enumerate(documents) if one.docno in {d.docno for d in documents[:number]}]
    if twice:
        raise BrokenLine(f"{where} cites “{twice[0]}” twice.", "Cite it once.")
    empty_object: dict[str, Any] = {"citations": {}} if citations == {} else {}
    return CitedSentence(text, documents, fields.rest | empty_object)


def _weighted(docno: str, weight: Any, where: str) -> CitedDocument:
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise BrokenLine(f"{where}: the weight of “{docno}” is {shown(weight)}, not a number.")
    return CitedDocument(docno, weight=float(weight))


def _named(cited: Any, references: Sequence[str], where: str) -> CitedDocument:
    if isinstance(cited, str) and cited:
        return CitedDocument(cited)
    if isinstance(cited, bool) or not isinstance(cited, int):
        raise BrokenLine(
            f"{where} cites {shown(cited)}.", "A citation is a document's id or its place in the references, from 0."
        )
    if not 0 <= cited < len(references):
        raise BrokenLine(f"{where} cites place {cited} of {len(references)} references.", "Places are counted from 0.")
    return CitedDocument(references[cited], place=cited)


def _texts(found: Any, name: str) -> list[str]:
    if not isinstance(found, list) or not all(isinstance(one, str) and one for one in found):
        raise BrokenLine(f"The field “{name}” is {shown(found)}, not a list of ids.")
    return found


def written_report(report: CitedReport) -> dict[str, Any]:
    """Return the object that the report was read from."""
    sentences_as = report.attributes["sentences"]
    rest = {name: value for name, value in report.attributes.items() if name != "sentences"}
    return rest | {sentences_as: [_written_sentence(sentence) for sentence in report.sentences]}


def _written_sentence(sentence: CitedSentence) -> dict[str, Any]:
    documents = sentence.citations
    if documents and all(document.weight is not None for document in documents):
        citations: Any = {document.docno: document.weight for document in documents}
    else:
        citations = [document.docno if document.place is None else document.place for document in documents]
    return {"text": sentence.text, "citations": citations, **sentence.attributes}


# --- What the tracks ask for ----------------------------------------------------------------------


@dataclass(frozen=True)
class Track:
    """A track's rules for what is handed in, beyond what every reader needs.

    `limit` counts words, split at white space. With `listed`, whatever is cited stands in the references.
    """

    title: str
    sentences: str
    topic_ids: tuple[str, ...]
    limit: int | None = None
    citations: int | None = None
    listed: bool = False


TRACKS = {
    "rag24": Track("TREC RAG 2024", "answer", ("topic_id",), limit=400, citations=3, listed=True),
    "rag25": Track("TREC RAG 2025", "answer", ("narrative_id",), limit=400, listed=True),
    "rag26": Track("TREC RAG 2026", "answer", ("narrative_id", "topic_id"), limit=1_024, citations=3, listed=True),
    "shared": Track("the shared schema (RAGTIME, DRAGUN, BioGen)", "responses", ("topic_id", "request_id")),
}


def broken_rules(report: CitedReport, track: Track) -> Iterator[str]:
    """Yield in a sentence each rule of the track that the report breaks."""
    metadata = report.attributes["metadata"]
    if not isinstance(metadata.get("team_id"), str):
        yield "The metadata have no team_id."
    if len([name for name in track.topic_ids if name in metadata]) != 1:
        yield f"The metadata must name the topic as {' or '.join(track.topic_ids)}."
    if report.attributes["sentences"] != track.sentences:
        yield f"The sentences must be called “{track.sentences}”."
    words = sum(len(unicodedata.normalize("NFKC", sentence.text).split()) for sentence in report.sentences)
    if track.limit is not None and words > track.limit:
        yield f"The report has {words:,} words, more than {track.limit:,}."
    references = set(report.references)
    for number, sentence in enumerate(report.sentences, start=1):
        if track.citations is not None and len(sentence.citations) > track.citations:
            yield f"Sentence {number} has {len(sentence.citations)} citations, more than {track.citations}."
        if track.listed:
            for document in sentence.citations:
                if document.docno not in references:
                    yield f"Sentence {number} cites “{document.docno}”, which is not a reference."
