"""Reports as sentences with citations, read in bulk, and which of the cited documents have their text here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet

from collection.models import Citation, Collection, Passage, Report, ReportSentence
from collection.texts.evidence import held_passages


@dataclass(frozen=True)
class Cited:
    """A document that a sentence cites; `passage` is None where its text is not held here: a hole."""

    docno: str
    passage: int | None


@dataclass(frozen=True)
class CitingSentence:
    """A sentence with its citations, the strongest first. `number` counts from 1, `start` and `end` code points."""

    pk: int
    number: int
    start: int
    end: int
    citations: tuple[Cited, ...]


@dataclass(frozen=True)
class CitedReport:
    """A report as its sentences, in their order."""

    pk: int
    topic: int
    topic_id: str
    run: str
    system: str
    sentences: tuple[CitingSentence, ...]


def with_citations(collection: Collection) -> QuerySet[Report]:
    """Return the collection's reports of which at least one sentence cites a document."""
    cites = Citation.objects.filter(sentence__report=OuterRef("pk"))
    return Report.objects.filter(Exists(cites), run__collection=collection)


def cited_reports_of(collection: Collection, *, reports: Sequence[int] | None = None) -> list[CitedReport]:
    """Return the reports that cite at least one document, or these of them, by topic and run. Five queries at most."""
    found = with_citations(collection)
    if reports is not None:
        found = found.filter(pk__in=reports)
    return read_sentences(collection, found)


def read_sentences(collection: Collection, reports: QuerySet[Report]) -> list[CitedReport]:
    """Return these reports with their sentences and citations, by topic and run."""
    parts = ("pk", "topic__pk", "topic__topic_id", "run__name", "run__system__name")
    rows = list(reports.order_by("topic", "run__name").values_list(*parts))
    chosen = Q(report__in=[row[0] for row in rows]) if len(rows) < FEW else Q(report__run__collection=collection)
    cited: dict[int, list[str]] = defaultdict(list)
    of_chosen = Citation.objects.filter(sentence__in=ReportSentence.objects.filter(chosen))
    for sentence, docno in of_chosen.order_by("sentence", "position").values_list("sentence__pk", "passage_id"):
        cited[sentence].append(docno)
    held = held_passages(collection, {docno for docnos in cited.values() for docno in docnos})
    sentences: dict[int, list[CitingSentence]] = defaultdict(list)
    stored = ReportSentence.objects.filter(chosen).order_by("report", "position")
    for report, pk, position, start, end in stored.values_list("report__pk", "pk", "position", "start", "end"):
        citations = tuple(Cited(docno, held.get(docno)) for docno in cited[pk])
        sentences[report].append(CitingSentence(pk, position + 1, start, end, citations))
    return [
        CitedReport(pk, topic, topic_id, run, system, tuple(sentences[pk])) for pk, topic, topic_id, run, system in rows
    ]


class PassageToShow(NamedTuple):
    """What is shown of a cited passage. `translation` is empty where it has none."""

    title: str
    text: str
    translation: dict[str, str]


def passages_to_show(passages: Sequence[int]) -> dict[int, PassageToShow]:
    """Return what is shown of these passages, by primary key."""
    rows = Passage.objects.filter(pk__in=passages).values_list("pk", "title", "text", "translation")
    return {pk: PassageToShow(title, text or "", translation) for pk, title, text, translation in rows}


# How many reports one query names.
FEW = 500
