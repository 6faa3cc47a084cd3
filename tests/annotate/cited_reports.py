"""Cited reports for tests: sentences, what they cite, and passages with and without a text here."""

from __future__ import annotations

from collections.abc import Sequence

from collection.models import Citation, Collection, Passage, Report, ReportSentence, Run, System, Topic


def a_passage(collection: Collection, name: str, text: str, title: str = "") -> Passage:
    return Passage.objects.create(collection=collection, passage_id=name, text=text, title=title)


def a_cited_report(topic: Topic, run: str, sentences: Sequence[tuple[str, Sequence[str]]]) -> Report:
    """Make a report of these sentences, each with the docnos that it cites."""
    system, _ = System.objects.get_or_create(collection=topic.collection, name=f"system of {run}")
    of_run, _ = Run.objects.get_or_create(collection=topic.collection, system=system, name=run)
    report = Report.objects.create(run=of_run, topic=topic, text=" ".join(text for text, _ in sentences))
    start = 0
    for position, (text, docnos) in enumerate(sentences):
        sentence = ReportSentence.objects.create(report=report, position=position, start=start, end=start + len(text))
        start += len(text) + 1
        for place, docno in enumerate(docnos):
            Citation.objects.create(sentence=sentence, position=place, passage_id=docno)
    return report


SENTENCES = [
    ("The bridge was built of oak. 🌉", ["c-1", "c-2"]),
    ("It cost nine hundred florins.", ["c-2", "c-gone"]),
    ("What follows is its later history.", []),
    ("A flood took it in 1604.", ["c-gone"]),
]


def with_cited_reports(collection: Collection, *runs: str) -> list[Report]:
    """Give the collection's first topic cited reports: of five citations, two name a document without a text here."""
    a_passage(collection, "c-1", "The first bridge, of 1380, was of oak.\nIts toll was low. 🌉 It stood long.", "Oak")
    a_passage(collection, "c-2", "The council paid nine hundred florins for a bridge of stone.", "Costs")
    topic = collection.topics.order_by("topic_id")[0]
    return [a_cited_report(topic, run, SENTENCES) for run in runs or ("cited-1",)]
