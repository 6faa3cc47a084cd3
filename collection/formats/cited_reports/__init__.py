"""Reports as sentences with citations: TREC RAG's, the shared schema of RAGTIME and others, AutoJudge's.

One object a line. What a line says is kept so that it can be written again equal: unknown fields, which of the
spellings it uses, and whether a citation names a document or a place in the list of references.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from collection.formats.json_fields import Fields, first_present, json_objects
from collection.formats.jsonl import PassageLine
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.trec import passage_of
from collection.formats.values import shown

SENTENCES = ("answer", "responses")
TOPIC_IDS = ("topic_id", "narrative_id", "request_id")
# How a model made the report: among the metadata of a file, for the tracks' own fields are fixed.
MAKING = "generated"
# The run whose passages it was written from stands there too.
MADE_FROM = "made_from"
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
    """One sentence with what it cites, each document once, the strongest first.

    `attributes` has what else its object says, and the citations as they were written if they cannot be made again.
    """

    text: str
    citations: tuple[CitedDocument, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def n_cited(self) -> int:
        """How many citations were written: a document may be cited twice."""
        return len(self.attributes.get("citations") or self.citations)


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
    def metadata(self) -> dict[str, Any]:
        """What is said of the report: in TREC RAG 2024 it stands in the object itself."""
        return self.attributes.get("metadata") or self.attributes

    @property
    def made_from(self) -> str:
        """The run whose passages it was written from, where it says so."""
        said = self.metadata.get(MADE_FROM)
        return said if isinstance(said, str) else ""

    @property
    def references(self) -> list[str]:
        return list(self.attributes.get("references") or ())

    def documents(self, file: InputFile, number: int) -> Iterator[PassageLine]:
        """Yield the documents whose texts the report carries, as AutoJudge's do; the broken are noted as the line's."""
        found = self.attributes.get("documents")
        for docno, one in found.items() if isinstance(found, dict) else ():
            if isinstance(one, dict) and isinstance(one.get("text"), str):
                with file.line(number):
                    yield passage_of({**one, "id": docno}, "id")

    @property
    def uncited(self) -> list[str]:
        """The references that no sentence cites."""
        cited = {document.docno for sentence in self.sentences for document in sentence.citations}
        return [reference for reference in self.references if reference not in cited]


def is_cited_report(found: dict[str, Any]) -> bool:
    """Whether an object looks like one of these reports; TREC RAG 2024's have no metadata."""
    return ("metadata" in found or "run_id" in found) and any(isinstance(found.get(name), list) for name in SENTENCES)


def read_cited_reports(file: InputFile) -> Iterator[tuple[int, CitedReport]]:
    """Yield the number of each line and its report. What is broken is noted with the file."""
    for number, found in json_objects(file):
        with file.line(number):
            yield number, parse_cited_report(found)


def parse_cited_report(found: dict[str, Any]) -> CitedReport:
    """Return the report that an object is. Raises BrokenLine."""
    fields = Fields(found)
    said = found if "metadata" not in found and "run_id" in found else found.get("metadata")
    if not isinstance(said, dict):
        raise BrokenLine("The field “metadata” is not an object.", "It holds team_id, run_id and topic_id.")
    metadata = Fields(said)
    run = metadata.name("run_id")
    topic_id = metadata.identifier(first_present(said, *TOPIC_IDS))
    references = _texts(found.get("references") or [], "references")
    named = [name for name in SENTENCES if found.get(name) is not None]
    if not named:
        raise BrokenLine("The report has no sentences.")
    if found[named[0]] != found[named[-1]]:
        raise BrokenLine("The report has “answer” and “responses”, and they differ.", "Leave one of them out.")
    sentences = fields.take(named[0])
    if not isinstance(sentences, list):
        raise BrokenLine(f"The field “{named[0]}” is {shown(sentences)}, not a list of sentences.")
    read = tuple(_sentence(one, references, position) for position, one in enumerate(sentences, start=1))
    attributes = {**fields.rest, "sentences": named[0]}
    if said is not found and isinstance(said.get(MAKING), dict):
        rest = {name: value for name, value in said.items() if name != MAKING}
        attributes |= {"metadata": rest, MAKING: said[MAKING]}
    return CitedReport(run, topic_id, read, attributes)


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
        case None:
            documents = ()
        case _:
            raise BrokenLine(f"{where}: the citations are {shown(citations)}, neither a list nor an object.")
    first: dict[str, CitedDocument] = {}
    for document in documents:
        first.setdefault(document.docno, document)
    made_again = len(first) == len(documents) and (citations or citations == [])
    told = {} if made_again else {"citations": citations}
    return CitedSentence(text, tuple(first.values()), fields.rest | told)


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
    if MAKING in rest and isinstance(rest.get("metadata"), dict):
        rest["metadata"] = rest["metadata"] | {MAKING: rest.pop(MAKING)}
    return rest | {sentences_as: [_written_sentence(sentence) for sentence in report.sentences]}


def _written_sentence(sentence: CitedSentence) -> dict[str, Any]:
    documents = sentence.citations
    if documents and all(document.weight is not None for document in documents):
        citations: Any = {document.docno: document.weight for document in documents}
    else:
        citations = [document.docno if document.place is None else document.place for document in documents]
    return {"text": sentence.text, "citations": citations, **sentence.attributes}
