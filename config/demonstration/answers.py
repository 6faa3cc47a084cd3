"""The demonstration's second collection: short questions, answered by the three systems, for people to compare."""

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
    CollectionLine,
    Line,
    PassageLine,
    RankingLine,
    ReportLine,
    RunLine,
    SystemLine,
    TopicLine,
    written_line,
)
from collection.formats.problems import InputFile
from collection.importing.collections import import_collection
from collection.models import Collection, Study, User
from collection.models.studies import TaskType
from collection.questions.guidelines import standard_guidelines
from config.demonstration.lines import FAMILIES
from config.demonstration.sources import SourcePassage, demonstration_topics

COLLECTION = CollectionLine(
    name="demonstration-answers",
    title="Four questions, twelve answers",
    description=(
        "Short questions with the answers of three systems that do not exist. Two are to be answered from a given "
        "passage, two from what each system retrieved. All texts were written for it; some answers err on purpose."
    ),
    licence="Apache-2.0, like Assize itself",
)
STUDY = "demonstration-answers"
SOURCE = Path(__file__).with_name("answers.toml")


@cache
def questions() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(SOURCE.read_text(encoding="utf-8"))["questions"]
    return found


def meant_by(question: str, run: str) -> dict[str, float]:
    """Return how the author would rate what the run answers, by criterion."""
    found = next(one for one in questions() if one["id"] == question)
    meant: dict[str, float] = found[run.removesuffix("-answers")]["meant"]
    return meant


def quality_of(question: str, run: str) -> float:
    """Return how good the author meant the answer to be, from 1 to 4: the mean of its ratings, 1 where it is none."""
    meant = meant_by(question, run)
    if meant["unknown"] or meant["incoherent"]:
        return 1.0
    return (meant["natural"] + meant["appropriate"] + meant["faithful"]) / 3


def answer_lines() -> Iterator[Line]:
    """Yield the collection; no line names what does not stand above it."""
    yield COLLECTION
    for system, family in FAMILIES.items():
        yield SystemLine(name=system, family=f"{family} (fictitious)")
        yield RunLine(name=f"{system}-answers", system=system)
    for question in questions():
        named = {"passages": question["passages"]} if "passages" in question else {}
        yield TopicLine(
            topic_id=question["id"], title=question["title"], request=question["question"], attributes=named
        )
    for passage in passages_named():
        yield PassageLine(passage_id=passage.passage_id, title=passage.title, text=passage.text)
    for question in questions():
        for system in FAMILIES:
            run, said = f"{system}-answers", question[system]
            yield ReportLine(run=run, topic_id=question["id"], text=said["answer"])
            for rank, name in enumerate(said.get("ranking", ()), start=1):
                yield RankingLine(run=run, topic_id=question["id"], passage_id=name, rank=rank, score=1 / rank)


def passages_named() -> list[SourcePassage]:
    """Return the passages of the topics that the questions name, each once."""
    held = {name: passage for topic in demonstration_topics().values() for name, passage in topic.passages.items()}
    names = [
        name
        for question in questions()
        for named in (question.get("passages", ()), *(question[system].get("ranking", ()) for system in FAMILIES))
        for name in named
    ]
    return [held[name] for name in dict.fromkeys(names)]


def load_answers(*, by: User, assessors: Sequence[User], at: datetime) -> Study:
    """Bring the collection in, as anybody's would come in, and open its study."""
    collection, _ = Collection.objects.get_or_create(name=COLLECTION.name, defaults={"owner": by})
    with NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(written_line(line) for line in answer_lines())
        file.flush()
        import_collection(file=InputFile(Path(file.name), name="demonstration-answers.jsonl"), collection=collection)
    study = make_study(
        StudyDesign(
            collection=collection,
            name=STUDY,
            title="Demonstration: which answer is better?",
            task_types=[TaskType.ANSWER_EVALUATION],
            overlap=len(assessors),
            confidence=True,
            guidelines=standard_guidelines([TaskType.ANSWER_EVALUATION]),
        ),
        assessors=assessors,
        by=by,
        at=at,
    )
    open_study(study=study, at=at)
    return study
