"""A collection as Assize JSONL."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings

from collection.formats.jsonl import (
    CollectionLine,
    ElementSpanLine,
    Line,
    PassageLine,
    RankingLine,
    ReportLine,
    RubricElementLine,
    RunLine,
    SystemLine,
    TopicLine,
    written_line,
)
from collection.models import Collection, ElementSpan, Passage, RankedPassage, Report, RubricElement, Run, System, Topic

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
        yield PassageLine(passage.passage_id, passage.text, passage.title, passage.document_id, passage.attributes)
    yield from _spans(collection)
    for system in System.objects.filter(collection=collection).order_by("id").iterator(CHUNK):
        yield SystemLine(system.name, system.family, system.attributes)
    for run in Run.objects.filter(collection=collection).select_related("system").order_by("id").iterator(CHUNK):
        yield RunLine(run.name, run.system.name, run.attributes)
    reports = Report.objects.filter(run__collection=collection).select_related("run", "topic").order_by("id")
    for report in reports.iterator(CHUNK):
        yield ReportLine(report.run.name, report.topic.topic_id, report.text, report.attributes)
    yield from _rankings(collection)


def _elements(collection: Collection) -> Iterator[Line]:
    elements = RubricElement.objects.filter(topic__collection=collection).select_related("topic")
    for element in elements.order_by("topic_id", "kind", "position", "id").iterator(CHUNK):
        yield RubricElementLine(
            topic_id=element.topic.topic_id,
            kind=element.kind,
            element_id=element.element_id,
            text=element.text,
            position=element.position,
            importance=element.importance,
            masked=element.masked,
            attributes=element.attributes,
        )


def _spans(collection: Collection) -> Iterator[Line]:
    spans = ElementSpan.objects.filter(element__topic__collection=collection).order_by("id")
    fields = ("element__topic__topic_id", "element__kind", "element__element_id", "passage__passage_id")
    for row in spans.values_list(*fields, "quote", "start", "end").iterator(CHUNK):
        yield ElementSpanLine(*row)


def _rankings(collection: Collection) -> Iterator[Line]:
    ranking = RankedPassage.objects.filter(run__collection=collection).order_by("run_id", "topic_id", "rank", "id")
    for row in ranking.values_list("run__name", "topic__topic_id", "passage_id", "rank", "score").iterator(CHUNK):
        yield RankingLine(*row)
