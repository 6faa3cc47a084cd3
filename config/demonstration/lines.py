"""The demonstration as the lines of an Assize JSONL file."""

from __future__ import annotations

from collections.abc import Iterator

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
)
from config.demonstration.sources import SourceTopic, demonstration_topics

COLLECTION = CollectionLine(
    name="demonstration",
    title="Six things worth knowing",
    description=(
        "A small collection to try Assize on: six topics of general knowledge with sub-questions, key points and "
        "passages, and the reports of three systems that do not exist. All texts were written for it; some reports "
        "are wrong on purpose."
    ),
    licence="Apache-2.0, like Assize itself",
)
FAMILIES = {"harbour": "saltmarsh", "lantern": "tallow", "quill": "greylag"}


def collection_lines() -> Iterator[Line]:
    """Yield the whole collection; no line names what does not stand above it."""
    topics = demonstration_topics().values()
    yield COLLECTION
    for system, family in FAMILIES.items():
        yield SystemLine(
            name=system,
            family=f"{family} (fictitious)",
            attributes={"note": "This system does not exist. Its reports were written by hand."},
        )
        yield RunLine(name=system, system=system)
    for topic in topics:
        yield TopicLine(
            topic_id=topic.topic_id, title=topic.title, request=topic.request, attributes={"domain": topic.domain}
        )
        yield from passage_lines(topic)
        yield from element_lines(topic)
        yield from nugget_lines(topic)
    for topic in topics:
        yield from run_lines(topic)


def passage_lines(topic: SourceTopic) -> Iterator[Line]:
    for passage in topic.passages.values():
        yield PassageLine(passage_id=passage.passage_id, title=passage.title, text=passage.text)


def element_lines(topic: SourceTopic) -> Iterator[Line]:
    """Yield the sub-questions, and the key points with their spans."""
    for question in topic.questions:
        yield RubricElementLine(
            topic_id=topic.topic_id,
            kind="sub_question",
            element_id=question.element_id,
            text=question.text,
            masked=question.masked,
        )
    for key_point in topic.key_points.values():
        yield RubricElementLine(
            topic_id=topic.topic_id, kind="key_point", element_id=key_point.element_id, text=key_point.text
        )
        for passage_id, quote in key_point.spans.items():
            yield ElementSpanLine(
                topic_id=topic.topic_id,
                kind="key_point",
                element_id=key_point.element_id,
                passage_id=passage_id,
                quote=quote,
            )


def nugget_lines(topic: SourceTopic) -> Iterator[Line]:
    """Yield the key points that stand in a passage as nuggets; those that belong in an answer are vital."""
    for key_point in topic.key_points.values():
        if key_point.grounded_in:
            yield RubricElementLine(
                topic_id=topic.topic_id,
                kind="nugget",
                element_id=f"n{key_point.element_id}",
                text=key_point.text,
                importance="vital" if key_point.utility > 0 else "okay",
            )


def run_lines(topic: SourceTopic) -> Iterator[Line]:
    """Yield what each system wrote and ranked on the topic."""
    for report in topic.reports.values():
        yield ReportLine(run=report.system, topic_id=topic.topic_id, text=report.text)
        for rank, passage_id in enumerate(report.ranking, start=1):
            yield RankingLine(
                run=report.system, topic_id=topic.topic_id, passage_id=passage_id, rank=rank, score=1 / rank
            )
