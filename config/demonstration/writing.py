"""The demonstration's third collection: questions that people answer in writing, and revise for one another."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from annotate.studies.design import StudyDesign
from annotate.studies.lifecycle import make_study, open_study
from collection.formats.clapnq import FIRST, ClapnqLine, Output, Sentence, written_line
from collection.formats.problems import InputFile
from collection.importing.datasets.clapnq import import_clapnq
from collection.judgments.services import NewJudgment, add_judgments
from collection.models import (
    AnswerToRevise,
    Collection,
    Criterion,
    Highlight,
    Item,
    Judgment,
    Rater,
    Study,
    User,
    WrittenAnswer,
)
from collection.models.studies import TaskType
from collection.models.texts import text_hash
from collection.questions.guidelines import standard_guidelines
from collection.texts.sentences import found_sentences
from config.demonstration.sources import demonstration_topics

NAME = "demonstration-writing"
TITLE = "Six questions to answer in writing"
AUTHOR = "the author of the demonstration"
SOURCE = Path(__file__).with_name("writing.toml")
OVERLAP = 2
COMPLETE = 5
KEPT, CHANGED = 0, 1
# Which simulated assessor reads the answers of the others.
READER = 3
NOT_A_PERSON = (
    "Not a person: a simulation, in which the author of the demonstration wrote in the place of assessors. "
    "docs/demonstration.md states it."
)


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
        StudyDesign(
            collection=collection,
            name=NAME,
            title="Demonstration: answers in your own words",
            task_types=[TaskType.WRITTEN_ANSWER, TaskType.ANSWER_REVISION],
            overlap=OVERLAP,
            guidelines=standard_guidelines([TaskType.WRITTEN_ANSWER, TaskType.ANSWER_REVISION]),
        ),
        assessors=assessors,
        by=by,
        at=at,
    )
    with NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(written_line(question_line(question)) for question in questions())
        file.flush()
        import_clapnq(file=InputFile(Path(file.name), name=f"{NAME}.jsonl"), study=study, at=at)
    add_simulated_answers(study, at=at)
    open_study(study=study, at=at)
    add_simulated_revisions(study, at=at)
    return study


# --- What the author wrote in the place of simulated assessors --------------------------------------


def add_simulated_answers(study: Study, *, at: datetime) -> None:
    """Add the answers of round 1, before the study opens and hands them on to second readers."""
    outcome = study.criteria.get(name="outcome")
    items = {item.topic.topic_id: item for item in study.items.select_related("topic", "passage")}
    for question in questions():
        for said in question["simulated"]:
            answer, sentences = said.get("answer", ""), said.get("sentences", ())
            rater, grade = simulated_writer(study, said["by"]), said.get("outcome", COMPLETE)
            add_answer(items[question["id"]], outcome, rater, grade, answer, sentences, at=at)


def add_simulated_revisions(study: Study, *, at: datetime) -> None:
    """Let the second reader keep or change the simulated answers that round 2 asks about."""
    revision = study.criteria.get(name="revision")
    written = {(one["id"], said["by"]): said for one in questions() for said in one["simulated"]}
    for (question, by), said in written.items():
        handed_on = AnswerToRevise.objects.select_related("item__passage").filter(
            answered__study=study, answered__topic__topic_id=question, writer=simulated_writer(study, by)
        )
        for one in handed_on:
            grade = CHANGED if "revised" in said else KEPT
            text = said.get("revised", said["answer"])
            add_answer(one.item, revision, simulated_writer(study, READER), grade, text, said["sentences"], at=at)


def simulated_writer(study: Study, number: int) -> Rater:
    """Return the simulated assessor of this number, made if new."""
    rater, _ = Rater.objects.get_or_create(
        collection=study.collection,
        kind=Rater.Kind.ASSESSOR,
        name=f"simulated assessor {number}",
        defaults={"origin": Rater.Origin.SIMULATED, "source": NOT_A_PERSON},
    )
    return rater


def add_answer(
    item: Item, criterion: Criterion, rater: Rater, grade: float, text: str, sentences: Sequence[int], *, at: datetime
) -> None:
    """Judge the item, with the text beside it if there is one, and its sentences, counted from 1, as highlights."""
    add_judgments([NewJudgment(item.pk, criterion.pk, rater.pk, grade, at)])
    judgment = Judgment.objects.get(item=item, criterion=criterion, rater=rater)
    if not text:
        return
    WrittenAnswer.objects.create(judgment=judgment, text=text)
    passage = item.judged_text.text or ""
    places = tuple(found_sentences(passage))
    Highlight.objects.bulk_create(
        Highlight(judgment=judgment, start=start, end=end, quote=passage[start:end], text_sha256=text_hash(passage))
        for start, end in (places[number - 1] for number in sentences)
    )
