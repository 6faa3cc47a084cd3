"""The demonstration's third collection: questions that people answer in writing, and revise for one another."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from annotate.studies.guidelines import standard_guidelines
from annotate.studies.lifecycle import make_study, open_study
from collection.formats.clapnq import FIRST, ClapnqLine, Output, Sentence, written_line
from collection.formats.problems import InputFile
from collection.importing.datasets.clapnq import import_clapnq
from collection.models import Collection, Study, User
from collection.models.studies import TaskType
from collection.texts.sentences import found_sentences
from config.demonstration.sources import demonstration_topics

NAME = "demonstration-writing"
TITLE = "Six questions to answer in writing"
AUTHOR = "the author of the demonstration"
SOURCE = Path(__file__).with_name("writing.toml")
OVERLAP = 2


@cache
def questions() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(SOURCE.read_text(encoding="utf-8"))["questions"]
    return found


def question_line(question: dict[str, Any]) -> ClapnqLine:
    """Return the question as a CLAPNQ file has it, with its author's answer if there is one."""
    topic, _ = question["passage"].rsplit("-", 1)
    passage = demonstration_topics()[topic].passages[question["passage"]]
    places = tuple(found_sentences(passage.text))
    chosen = [places[number - 1] for number in question.get("sentences", ())]
    answer = Output(
        answer=question.get("answer", ""),
        chosen=tuple(Sentence(passage.text[start:end], (start, end)) for start, end in chosen),
        annotators=(AUTHOR,),
        round=FIRST,
        skip=False,
        has_minimal_answer=False,
        non_consecutive=True,
    )
    outputs = (answer,) if "answer" in question else ()
    return ClapnqLine(question["id"], question["question"], passage.title, passage.text, places, outputs)


def load_writing(*, by: User, assessors: Sequence[User], at: datetime) -> Study:
    """Bring the questions in, as anybody's file would come in, and open their study.

    What its author answered waits for a second reader from the beginning.
    """
    collection, _ = Collection.objects.get_or_create(
        name=NAME, defaults={"owner": by, "title": TITLE, "licence": "Apache-2.0, like Assize itself"}
    )
    study = make_study(
        collection=collection,
        name=NAME,
        title="Demonstration: answers in your own words",
        task_types=[TaskType.WRITTEN_ANSWER, TaskType.ANSWER_REVISION],
        overlap=OVERLAP,
        guidelines=standard_guidelines([TaskType.WRITTEN_ANSWER, TaskType.ANSWER_REVISION]),
        assessors=assessors,
        by=by,
        at=at,
    )
    with NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(written_line(question_line(question)) for question in questions())
        file.flush()
        import_clapnq(file=InputFile(Path(file.name), name=f"{NAME}.jsonl"), study=study, at=at)
    open_study(study=study, at=at)
    return study
