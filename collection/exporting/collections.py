"""A collection as Assize JSONL."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count

from django.conf import settings
from django.db.models import QuerySet

from collection.formats.jsonl import (
    BankEntryLine,
    BankVersionLine,
    CitationLine,
    CollectionLine,
    ElementSpanLine,
    Line,
    NuggetAnswerLine,
    NuggetReferenceLine,
    PassageLine,
    RankingLine,
    ReportLine,
    RubricElementLine,
    RunLine,
    SentenceLine,
    SystemLine,
    TopicLine,
    written_line,
)
from collection.models import (
    BankEntry,
    BankVersion,
    Citation,
    Collection,
    ElementSpan,
    NuggetAnswer,
    NuggetReference,
    Passage,
    RankedPassage,
    Report,
    ReportSentence,
    RubricElement,
    Run,
    System,
    Topic,
)

CHUNK = 2_000


def exported_collection(collection: Collection) -> Iterator[str]:
    """Yield the lines of the collection's Assize JSONL file, in an order that does not change."""
    for line in collection_lines(collection):
        yield written_line(line)


def collection_lines(collection: Collection) -> Iterator[Line]:
    """Yield everything in the collection; what is named stands before what names it."""
    yield CollectionLine(
        name=collection.name,
        title=collection.title,
        description=collection.description,
        licence=collection.licence,
        attributes=collection.attributes,
        written_by=f"Assize {settings.VERSION}",
    )
    for topic in Topic.objects.filter(collection=collection).order_by("id").iterator(CHUNK):
        yield TopicLine(topic.topic_id, topic.request, topic.title, topic.attributes)
    yield from _elements(collection)
    for passage in Passage.objects.filter(collection=collection).order_by("id").iterator(CHUNK):
        named = (passage.passage_id, passage.text, passage.title, passage.document_id)
        yield PassageLine(*named, passage.attributes, passage.translation)
    yield from _spans(collection)
    for system in System.objects.filter(collection=collection).order_by("id").iterator(CHUNK):
        yield SystemLine(system.name, system.family, system.attributes)
    yield from _runs(collection)
    reports = Report.objects.filter(run__collection=collection).select_related("run", "topic").order_by("id")
    for report in reports.iterator(CHUNK):
        yield ReportLine(report.run.name, report.topic.topic_id, report.text, report.attributes)
    yield from _sentences(collection)
    yield from _rankings(collection)
    yield from _banks(collection)


def _runs(collection: Collection) -> Iterator[Line]:
    """Yield the runs in the order in which they came, each behind the one that it is made from."""
    waiting = {run.pk: run for run in Run.objects.filter(collection=collection).select_related("system").order_by("id")}
    names = {pk: run.name for pk, run in waiting.items()}
    while waiting:
        ready = [run for run in waiting.values() if run.made_from_id not in waiting] or list(waiting.values())
        for run in ready:
            del waiting[run.pk]
            yield RunLine(run.name, run.system.name, run.attributes, names.get(run.made_from_id or 0, ""))


def _elements(collection: Collection) -> Iterator[Line]:
    """Yield the elements: those that replace others behind all that replace none, in the order in which they came."""
    elements = RubricElement.objects.filter(topic__collection=collection).select_related("topic", "replaces")
    firsts = elements.filter(replaces=None).order_by("topic_id", "kind", "position", "id")
    for element in chain(firsts.iterator(CHUNK), elements.exclude(replaces=None).order_by("id").iterator(CHUNK)):
        yield RubricElementLine(
            topic_id=element.topic.topic_id,
            kind=element.kind,
            element_id=element.element_id,
            text=element.text,
            position=element.position,
            importance=element.importance,
            masked=element.masked,
            attributes=element.attributes,
            weight=element.weight,
            aggregator=element.aggregator,
            group=element.group,
            replaces=element.replaces.element_id if element.replaces else "",
        )


def _spans(collection: Collection) -> Iterator[Line]:
    spans = ElementSpan.objects.filter(element__topic__collection=collection).order_by("id")
    fields = ("element__topic__topic_id", "element__kind", "element__element_id", "passage__passage_id")
    for row in spans.values_list(*fields, "quote", "start", "end").iterator(CHUNK):
        yield ElementSpanLine(*row)


def _sentences(collection: Collection) -> Iterator[Line]:
    sentences = ReportSentence.objects.filter(report__run__collection=collection).order_by("report_id", "position")
    fields = ("report__run__name", "report__topic__topic_id", "position", "start", "end", "splitter", "attributes")
    for row in sentences.values_list(*fields).iterator(CHUNK):
        yield SentenceLine(*row)
    citations = Citation.objects.filter(sentence__report__run__collection=collection)
    named = ("sentence__report__run__name", "sentence__report__topic__topic_id", "sentence__position", "position")
    for row in (
        citations.order_by("sentence__report_id", "sentence__position", "position")
        .values_list(*named, "passage_id", "weight", "place")
        .iterator(CHUNK)
    ):
        yield CitationLine(*row)


def _rankings(collection: Collection) -> Iterator[Line]:
    ranking = RankedPassage.objects.filter(run__collection=collection).order_by("run_id", "topic_id", "rank", "id")
    for row in ranking.values_list("run__name", "topic__topic_id", "passage_id", "rank", "score").iterator(CHUNK):
        yield RankingLine(*row)


def _banks(collection: Collection) -> Iterator[Line]:
    """Yield what nuggets consist of, then every version of every bank."""
    element = ("element__topic__topic_id", "element__kind", "element__element_id")
    answers = NuggetAnswer.objects.filter(element__topic__collection=collection).order_by("element_id", "position")
    of_answer = ("position", "text", "importance", "right", "creator", "attributes")
    for row in answers.values_list(*element, *of_answer).iterator(CHUNK):
        yield NuggetAnswerLine(*row)
    references = NuggetReference.objects.filter(element__topic__collection=collection)
    of_reference = ("answer__position", "position", "docno", "start", "end", "quote", "encoding", "quality", "creator")
    for row in references.order_by("id").values_list(*element, *of_reference, "attributes").iterator(CHUNK):
        yield NuggetReferenceLine(*row)
    versions = BankVersion.objects.filter(bank__collection=collection).select_related("bank")
    called = _makers(versions)
    for version in versions.order_by("bank__name", "number"):
        attributes = dict(version.attributes)
        made_by = attributes.pop("made_by", "") if version.made_by_id is None else called[version.made_by_id]
        yield BankVersionLine(
            version.bank.name, version.number, version.made_at.isoformat(), made_by, version.note, attributes
        )
    entries = BankEntry.objects.filter(version__bank__collection=collection)
    of_entry = (*element, "position", "parent__position", "importance", "weight", "attributes")
    for row in entries.order_by("id").values_list("version__bank__name", "version__number", *of_entry):
        yield BankEntryLine(*row)


def _makers(versions: QuerySet[BankVersion]) -> dict[int, str]:
    """Return what those who made versions here are called, by primary key: numbered as they came, nobody's user name.

    No number is given that a file brought along.
    """
    here = versions.exclude(made_by=None).order_by("pk").values_list("made_by_id", flat=True)
    brought = {attributes.get("made_by") for attributes in versions.values_list("attributes", flat=True)}
    free = (name for number in count(1) if (name := f"researcher {number}") not in brought)
    return dict(zip(dict.fromkeys(here), free, strict=False))
