"""A report in the form of a track's files, whatever form it came in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from collection.formats.cited_reports import MADE_FROM, MAKING, TOPIC_IDS, CitedReport, CitedSentence
from collection.formats.cited_reports.tracks import IDS, Form, Rule, Track, characters, words

# What stands in the object itself where a report has no metadata, and what Assize alone writes.
NOT_METADATA = ("references", "sentences", "answer", "responses", MAKING, MADE_FROM)


def in_form(report: CitedReport, form: Form, *, known: Mapping[str, Any], stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object that a line of the track's file is: the track's own fields and the report's other metadata.

    What is `stated` stands in place of what the report says, what is `known` where it says nothing. Weights are left
    out where the track has none; the strongest citation stays the first. Nothing is shortened.
    """
    own = {name: value for name, value in report.metadata.items() if name not in NOT_METADATA}
    given = own.pop(form.topic, None)
    own = {name: value for name, value in own.items() if name not in (*TOPIC_IDS, "run_id") and value not in (None, "")}
    counted = {"response_length": sum(len(sentence.text.split()) for sentence in report.sentences)}
    metadata = _filled(form, {**counted, **known}) | own | _filled(form, stated)
    # A track that numbers its narratives has their numbers back; elsewhere topics are texts.
    topic = given if given is not None and form.topic == "narrative_id" else report.topic_id
    named = {"run_id": report.run, form.topic: topic}
    cited = (document.docno for sentence in report.sentences for document in sentence.citations)
    references = list(dict.fromkeys((*report.references, *cited)))
    weighted = form.weighted and _all_weighted(report)
    sentences = [
        {"text": sentence.text, "citations": _citations(sentence, form, references, weighted)}
        for sentence in report.sentences
    ]
    if form.flat:
        said = {name: value for name, value in metadata.items() if name in form.says}
        return {**named, **said, "references": references, form.sentences: sentences}
    return {"metadata": {**named, **metadata}, "references": references, form.sentences: sentences}


def _filled(form: Form, said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if name in form.says and value not in (None, "")}


def _all_weighted(report: CitedReport) -> bool:
    weights = [document.weight for sentence in report.sentences for document in sentence.citations]
    return bool(weights) and None not in weights


def _citations(
    sentence: CitedSentence, form: Form, references: list[str], weighted: bool
) -> dict[str, float | None] | list[str] | list[int]:
    if weighted:
        return {document.docno: document.weight for document in sentence.citations}
    strongest = sorted(sentence.citations, key=lambda document: -(document.weight or 0))
    docnos = [document.docno for document in strongest]
    return docnos if form.cites == IDS else [references.index(docno) for docno in docnos]


def limits_of(track: Track, topic: Mapping[str, Any]) -> Iterator[Rule]:
    """Yield the limits that the track states, and those of the topic's own request: characters and words."""
    yield from track.limits
    for name, rule in (("limit", characters), ("word_limit", words)):
        most = topic.get(name)
        if isinstance(most, int) and not isinstance(most, bool):
            yield rule(most)
