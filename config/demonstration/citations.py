"""The demonstration's fourth collection: cited reports of two systems and a nugget bank, judged by sentence."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from annotate.studies.design import StudyDesign
from annotate.studies.lifecycle import make_study, open_study
from collection.formats.jsonl import (
    BankEntryLine,
    BankVersionLine,
    CitationLine,
    CollectionLine,
    Line,
    PassageLine,
    ReportLine,
    RubricElementLine,
    RunLine,
    SentenceLine,
    SystemLine,
    TopicLine,
    written_line,
)
from collection.formats.problems import InputFile
from collection.importing.collections import import_collection
from collection.models import Collection, Item, Study, User
from collection.models.studies import TaskType
from collection.questions.guidelines import standard_guidelines
from config.demonstration.lines import FAMILIES
from config.demonstration.sources import SourcePassage, demonstration_topics

COLLECTION = CollectionLine(
    name="demonstration-citations",
    title="Two topics, four cited reports",
    description=(
        "Reports of two systems that do not exist, with citations sentence by sentence and a bank of nuggets. All "
        "texts were written for it; some sentences are wrong, or cite what does not say so, on purpose."
    ),
    licence="Apache-2.0, like Assize itself",
)
STUDY = "demonstration-citations"
BANK = "what-matters"
SYSTEMS = ("harbour", "lantern")
SOURCE = Path(__file__).with_name("citations.toml")


@cache
def cited_topics() -> dict[str, dict[str, Any]]:
    """Return the topics by id, as the file has them."""
    found = tomllib.loads(SOURCE.read_text(encoding="utf-8"))["topics"]
    return {topic["id"]: topic for topic in found}


def meant_of(item: Item) -> tuple[str, float]:
    """Return what the author meant of a citation, an uncited sentence, or a sentence and a nugget: criterion, grade."""
    assert item.report is not None
    assert item.sentence is not None
    topic = cited_topics()[item.topic.topic_id]
    sentence = topic[item.report.run.system.name][item.sentence.position]
    if item.passage is not None:
        return "citation_support", sentence["cites"][item.passage.passage_id]
    if item.element is not None:
        return "answers", sentence.get("answers", {}).get(item.element.element_id, 0)
    return "citation_need", float(sentence["needs_citation"])


def cited_lines(*, at: datetime) -> Iterator[Line]:
    """Yield the collection; no line names what does not stand above it."""
    yield COLLECTION
    for system in SYSTEMS:
        yield SystemLine(name=system, family=f"{FAMILIES[system]} (fictitious)")
        yield RunLine(name=f"{system}-cited", system=system)
    for topic_id, topic in cited_topics().items():
        yield TopicLine(topic_id=topic_id, title=topic["title"], request=topic["request"])
        for element_id, nugget in topic["nuggets"].items():
            yield RubricElementLine(topic_id=topic_id, kind="nugget", element_id=element_id, **nugget)
    yield BankVersionLine(bank=BANK, number=1, made_at=at.isoformat())
    for topic_id, topic in cited_topics().items():
        for position, (element_id, nugget) in enumerate(topic["nuggets"].items()):
            yield BankEntryLine(BANK, 1, topic_id, "nugget", element_id, position, importance=nugget["importance"])
    for passage in passages_cited():
        yield PassageLine(passage_id=passage.passage_id, title=passage.title, text=passage.text)
    for topic_id, topic in cited_topics().items():
        for system in SYSTEMS:
            yield from report_lines(topic_id, f"{system}-cited", topic[system])


def report_lines(topic_id: str, run: str, sentences: Sequence[dict[str, Any]]) -> Iterator[Line]:
    yield ReportLine(run=run, topic_id=topic_id, text=" ".join(sentence["text"] for sentence in sentences))
    start = 0
    for position, sentence in enumerate(sentences):
        end = start + len(sentence["text"])
        yield SentenceLine(run=run, topic_id=topic_id, position=position, start=start, end=end)
        for place, docno in enumerate(sentence.get("cites", ())):
            yield CitationLine(run, topic_id, sentence=position, position=place, passage_id=docno)
        start = end + 1


def passages_cited() -> list[SourcePassage]:
    """Return the passages of the topics that the reports cite, each once. The other documents have no text here."""
    held = {name: passage for topic in demonstration_topics().values() for name, passage in topic.passages.items()}
    names = {
        name
        for topic in cited_topics().values()
        for system in SYSTEMS
        for sentence in topic[system]
        for name in sentence.get("cites", ())
    }
    return [held[name] for name in sorted(names & set(held))]


def load_citations(*, by: User, assessors: Sequence[User], at: datetime) -> Study:
    """Bring the collection in, as anybody's would come in, and open its study."""
    collection, _ = Collection.objects.get_or_create(name=COLLECTION.name, defaults={"owner": by})
    with NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(written_line(line) for line in cited_lines(at=at))
        file.flush()
        import_collection(file=InputFile(Path(file.name), name=f"{COLLECTION.name}.jsonl"), collection=collection)
    asked = [TaskType.CITATION_SUPPORT, TaskType.SENTENCE_NUGGET]
    study = make_study(
        StudyDesign(
            collection=collection,
            name=STUDY,
            title="Demonstration: reports and what they cite",
            task_types=asked,
            overlap=len(assessors),
            guidelines=standard_guidelines(asked),
        ),
        assessors=assessors,
        by=by,
        at=at,
    )
    open_study(study=study, at=at)
    return study
