"""What tracks ask of the cited reports that are handed in, rule by rule as their own validators decide.

A track's validator refuses a file for what `breaks` finds, and only warns of what `warns` finds. Where these checks and
the validators differ, docs/formats.md says so.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from collection.formats.cited_reports import CitedReport, CitedSentence
from collection.formats.values import shown

Rule = Callable[[CitedReport], Iterator[str]]

MARCO = re.compile(r"msmarco_v2\.1_doc_\d+_\d+#\d+_\d+\Z")
CLIMBMIX = re.compile(r"shard_\d+_\d+")
NEWS = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}_\d+")
PLACES, IDS, WEIGHTS = "by place", "by id", "with weights"
WHOSE = ("team_id", "run_desc")


@dataclass(frozen=True)
class Form:
    """How its files are written: what topics, sentences and citations are called, and which metadata they `say`.

    `weighted`: with weights where a report has one for each citation; `flat`: without `metadata`.
    """

    topic: str
    sentences: str
    cites: str
    says: tuple[str, ...]
    weighted: bool = False
    flat: bool = False


@dataclass(frozen=True)
class Track:
    """How its files are written, what its validator refuses and what it warns of.

    `limits` are those that it states and its validator only warns of. `one_report_a_topic`: a run's second report on
    a topic breaks the rules; `one_run`: so does a second run.
    """

    title: str
    form: Form
    breaks: tuple[Rule, ...]
    limits: tuple[Rule, ...] = ()
    warns: tuple[Rule, ...] = ()
    one_report_a_topic: bool = True
    one_run: bool = False


def broken_rules(report: CitedReport, track: Track) -> Iterator[str]:
    """Yield in a sentence each rule of the track that the report breaks."""
    for rule in track.breaks:
        yield from rule(report)


def advice(report: CitedReport, track: Track) -> Iterator[str]:
    """Yield in a sentence what the track asks for without refusing a report that lacks it."""
    for rule in (*track.limits, *track.warns):
        yield from rule(report)


def broken_by_all(reports: Iterable[tuple[str, str]], track: Track) -> Iterator[str]:
    """Yield in a sentence each rule that reports, each by run and topic, break together."""
    counted = Counter(reports)
    if track.one_report_a_topic:
        for (run, topic), n in counted.items():
            if n > 1:
                yield f"The run “{run}” has {n} reports on the topic “{topic}”."
    runs = sorted({run for run, _ in counted})
    if track.one_run and len(runs) > 1:
        yield f"The file has {len(runs)} runs: {', '.join(runs)}."


# --- the rules ---


def said(*names: str, numbers: tuple[str, ...] = ()) -> Rule:
    """These stand in the metadata, or in the object itself where there are none: texts or numbers."""

    def lacking(report: CitedReport) -> Iterator[str]:
        for name in (*names, *numbers):
            found = report.metadata.get(name)
            if found is None or (name not in numbers and not (isinstance(found, str) and found.strip())):
                yield f"The metadata have no {name}."

    return lacking


def topic_in(*names: str, once: bool = False, text: bool = False) -> Rule:
    """These name one topic; `once`: not two of them, `text`: as a text and not as a number."""

    def unnamed(report: CitedReport) -> Iterator[str]:
        found = [report.metadata[name] for name in names if name in report.metadata]
        if not found or (once and len(found) > 1) or (text and not isinstance(found[0], str)):
            yield f"The metadata must name the topic as {' or '.join(names)}{', a text' if text else ''}."
        elif len({str(one) for one in found}) > 1:
            yield f"The metadata name two topics: {' and '.join(shown(one) for one in found)}."

    return unnamed


def one_of(name: str, *values: str) -> Rule:
    def other(report: CitedReport) -> Iterator[str]:
        if name in report.metadata and report.metadata[name] not in values:
            yield f"The {name} must be {' or '.join(values)}."

    return other


def called(name: str) -> Rule:
    def otherwise(report: CitedReport) -> Iterator[str]:
        if name not in (report.attributes["sentences"], *report.attributes):
            yield f"The sentences must be called “{name}”."

    return otherwise


def spelled(*ways: str) -> Rule:
    """Documents are cited in these ways."""

    def otherwise(report: CitedReport) -> Iterator[str]:
        for number, sentence in enumerate(report.sentences, start=1):
            if _ways(sentence) - {*ways}:
                yield f"Sentence {number} cites {' and '.join(sorted(_ways(sentence)))}, not {' or '.join(ways)}."

    return otherwise


def spelled_alike(report: CitedReport) -> Iterator[str]:
    ways = {way for sentence in report.sentences for way in _ways(sentence)}
    if len(ways) > 1:
        yield f"The report cites {' and '.join(sorted(ways))}: choose one."


def _ways(sentence: CitedSentence) -> set[str]:
    if sentence.attributes.get("citations") == {}:
        return {WEIGHTS}
    return {
        WEIGHTS if one.weight is not None else IDS if one.place is None else PLACES
        for one in sentence.citations
    }  # fmt: skip


def words(most: int, *, nfkc: bool = False) -> Rule:
    """Words are what white space parts, of the texts as they are or in Unicode's form NFKC."""

    def more(report: CitedReport) -> Iterator[str]:
        texts = (unicodedata.normalize("NFKC", one.text) if nfkc else one.text for one in report.sentences)
        n = sum(len(text.split()) for text in texts)
        if n > most:
            yield f"The report has {n:,} words, more than {most:,}."

    return more


def characters(most: int) -> Rule:
    """Characters are those of the sentences, joined by one space, in Unicode's form NFKC."""

    def more(report: CitedReport) -> Iterator[str]:
        n = len(unicodedata.normalize("NFKC", report.text))
        if n > most:
            yield f"The report has {n:,} characters, more than {most:,}."

    return more


def cites(most: int) -> Rule:
    def more(report: CitedReport) -> Iterator[str]:
        for number, sentence in enumerate(report.sentences, start=1):
            if sentence.n_cited > most:
                yield f"Sentence {number} has {sentence.n_cited} citations, more than {most}."

    return more


def cites_once(report: CitedReport) -> Iterator[str]:
    for number, sentence in enumerate(report.sentences, start=1):
        if sentence.n_cited > len(sentence.citations):
            yield f"Sentence {number} cites a document twice."


def citations_said(report: CitedReport) -> Iterator[str]:
    for number, sentence in enumerate(report.sentences, start=1):
        if sentence.attributes.get("citations", ()) is None:
            yield f"The citations of sentence {number} are null: write []."


def no_blanks(report: CitedReport) -> Iterator[str]:
    """A report without any text is another matter: systems may have no answer."""
    if not report.text.strip():
        return
    for number, sentence in enumerate(report.sentences, start=1):
        if not sentence.text.strip():
            yield f"Sentence {number} has no text."


def some_text(report: CitedReport) -> Iterator[str]:
    if not report.text.strip():
        yield "The report has no text."


def with_references(report: CitedReport) -> Iterator[str]:
    if report.attributes.get("references") is None:
        yield "The report has no “references”."


def references(most: int) -> Rule:
    def more(report: CitedReport) -> Iterator[str]:
        if len(report.references) > most:
            yield f"The report has {len(report.references)} references, more than {most}."

    return more


def references_once(report: CitedReport) -> Iterator[str]:
    for reference, n in Counter(report.references).items():
        if n > 1:
            yield f"The references have “{reference}” {n} times."


def listed(report: CitedReport) -> Iterator[str]:
    """What is cited stands in the references."""
    known = set(report.references)
    for number, sentence in enumerate(report.sentences, start=1):
        for document in sentence.citations:
            if document.docno not in known:
                yield f"Sentence {number} cites “{document.docno}”, which is not a reference."


def all_cited(report: CitedReport) -> Iterator[str]:
    for reference in report.uncited:
        yield f"The reference “{reference}” is not cited."


def docnos(form: re.Pattern[str], *, references: bool = True) -> Rule:
    """The ids of what is cited, and of the `references`, have this form."""

    def others(report: CitedReport) -> Iterator[str]:
        cited = (document.docno for sentence in report.sentences for document in sentence.citations)
        for docno in dict.fromkeys((*(report.references if references else ()), *cited)):
            if not form.match(docno):
                yield f"“{docno}” is not an id of the track's documents."

    return others


def run_id(most: int) -> Rule:
    def longer(report: CitedReport) -> Iterator[str]:
        if len(report.run) > most:
            yield f"The run_id has {len(report.run)} characters, more than {most}."

    return longer


TRACKS = {
    "rag24": Track(
        "TREC RAG 2024",
        Form("topic_id", "answer", PLACES, ("topic", "response_length"), flat=True),
        breaks=(
            said("run_id", "topic", numbers=("response_length",)), topic_in("topic_id"), called("answer"),
            citations_said, spelled(PLACES), with_references, references_once, references(20), docnos(MARCO),
        ),
        limits=(words(400, nfkc=True), cites(3)),
        warns=(cites_once,),
        one_run=True,
    ),
    "rag25": Track(
        "TREC RAG 2025",
        Form("narrative_id", "answer", PLACES, (*WHOSE, "type", "narrative")),
        breaks=(
            said("team_id", "run_id"), topic_in("narrative_id"), one_of("type", "manual", "automatic"),
            called("answer"), with_references, citations_said, spelled(PLACES, IDS), spelled_alike, listed,
        ),
        limits=(words(400, nfkc=True), references(100)),
        warns=(said("type", "narrative"), references_once, all_cited, docnos(MARCO), cites_once, no_blanks),
        one_report_a_topic=False,
    ),
    "rag26": Track(
        "TREC RAG 2026",
        Form("narrative_id", "answer", PLACES, (*WHOSE, "type", "narrative")),
        breaks=(
            said("team_id", "run_id", "narrative", "run_desc"), topic_in("narrative_id", "topic_id"), run_id(20),
            spelled(PLACES, IDS), with_references, listed, docnos(CLIMBMIX), no_blanks, words(1_024),
        ),
        limits=(cites(3),),
        warns=(called("answer"), spelled_alike, cites_once, references_once, all_cited, some_text),
    ),
    "ragtime26": Track(
        "RAGTIME 2026",
        Form("topic_id", "responses", IDS, (*WHOSE, "type", "collection_ids"), weighted=True),
        breaks=(
            said("team_id", "run_id"), topic_in("topic_id", "narrative_id", text=True), run_id(20),
            spelled(IDS, WEIGHTS), spelled_alike, docnos(NEWS, references=False),
        ),
        limits=(cites(3),),
        warns=(said("run_desc"), called("responses"), cites_once, no_blanks, some_text),
        one_report_a_topic=False,
    ),
    "dragun25": Track(
        "DRAGUN 2025",
        Form("topic_id", "responses", IDS, (*WHOSE, "type", "use_starter_kit")),
        breaks=(
            said("team_id", "run_id", "type", numbers=("use_starter_kit",)),
            topic_in("topic_id", "narrative_id", text=True), spelled(IDS), docnos(MARCO, references=False), words(250),
        ),
        limits=(cites(3),),
        warns=(called("responses"), cites_once, no_blanks, some_text),
        one_report_a_topic=False,
    ),
    "shared": Track(
        "the shared schema (RAGTIME, DRAGUN, BioGen)",
        Form("topic_id", "responses", IDS, (*WHOSE, "type", "collection_ids"), weighted=True),
        breaks=(
            said("team_id", "run_id"), topic_in("topic_id", "request_id", once=True, text=True), called("responses"),
            with_references, citations_said, spelled(IDS, WEIGHTS),
        ),
        warns=(cites_once,),
        one_report_a_topic=False,
    ),
}  # fmt: skip
