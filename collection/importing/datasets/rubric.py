"""The RUBRIC workbench's graded files: a collection with rankings, and a closed study with grades and relevance."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from collection.collections.sharing import make_collection
from collection.formats.jsonl import PassageLine, RankingLine, RubricElementLine, RunLine, SystemLine, TopicLine
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.rubric_workbench import Grading, WorkbenchTopic, read_graded, read_question_bank
from collection.importing.collections import CollectionRows
from collection.importing.judgments import JudgmentRows
from collection.importing.origins import judge_of_a_file
from collection.importing.rows import Imported
from collection.importing.studies import ItemRows, closed_study, criterion_of
from collection.importing.trec import import_qrels, relevance_criterion_of
from collection.judgments.recording import imported_rater
from collection.models import Collection, Criterion, Judgment, Rater, RubricElement, Study, User
from collection.models.studies import TaskType
from collection.task_types import TASK_TYPES

TIME_REMARK = "The files do not say when anything was judged: judged_at is the time of this import."
NO_BANK_REMARK = "No question bank was given: requests and questions have ids instead of texts."
KINDS = {"question": RubricElement.Kind.SUB_QUESTION, "nugget": RubricElement.Kind.NUGGET}
Kinds = dict[tuple[str, str], RubricElement.Kind]


@transaction.atomic
def import_rubric(
    *,
    file: InputFile,
    study_name: str,
    collection_name: str,
    owner: User,
    bank: InputFile | None = None,
    qrels: InputFile | None = None,
    assessors: str = "NIST",
    relevant_from: float | None = None,
    at: datetime,
) -> Imported:
    """Bring in a graded file: texts, rankings, each judge's self-ratings, and people's relevance.

    `bank` holds the texts of requests and questions. People's relevance is that of `qrels`, or without them that of the
    graded file; it comes as the judgments of one rater, `assessors`, with `relevant_from` as threshold (1 if not said).
    Ranks stay as they stand (the workbench counts from 0). Raises BrokenFile and ValidationError; nothing has changed
    then.
    """
    stored = Collection.objects.filter(name=collection_name).first()
    collection = stored or make_collection(name=collection_name, owner=owner)
    study = closed_study(study_name, collection, owner=owner, source="a graded file of the RUBRIC workbench")
    imported = Imported(remarks=[TIME_REMARK])
    kinds = _import_bank(bank, collection, imported) if bank else None
    if bank is None:
        imported.remarks.append(NO_BANK_REMARK)

    with file:
        graded = list(read_graded(file))
        _import_texts(graded, file, collection, imported, kinds)
        judgments = _Judgments(file, study, imported, kinds, at)
        for number, topic in graded:
            with file.line(number):
                judgments.add_grades(number, topic)
        judgments.flush()

    relevance = relevance_criterion_of(study, name="relevance", relevant_from=relevant_from)
    source = qrels.path.name if qrels else file.path.name
    rater = imported_rater(collection, kind=Rater.Kind.ASSESSOR, name=assessors, source=f"the relevance in {source}")
    if qrels:
        told = import_qrels(file=qrels, criterion=relevance, rater=rater, without_texts=True, at=at)
        imported.new.update(told.new)
        imported.known.update(told.known)
    else:
        with file:
            judgments = _Judgments(file, study, imported, kinds, at)
            for number, topic in graded:
                with file.line(number):
                    judgments.add_relevance(number, topic, relevance, rater)
            judgments.flush()
    return imported


def _import_bank(bank: InputFile, collection: Collection, imported: Imported) -> Kinds:
    """Bring in topics and rubric elements; return the kind of each (topic, element)."""
    kinds: Kinds = {}
    with bank:
        rows = CollectionRows(collection, file=bank, imported=imported)
        for number, topic in read_question_bank(bank):
            with bank.line(number):
                rows.add(number, TopicLine(topic.topic_id, topic.request or topic.topic_id))
                for position, item in enumerate(topic.items):
                    kinds[topic.topic_id, item.element_id] = KINDS[item.kind]
                    rows.add(
                        number,
                        RubricElementLine(topic.topic_id, KINDS[item.kind], item.element_id, item.text, position),
                    )
        rows.flush()
    return kinds


def _import_texts(
    graded: list[tuple[int, WorkbenchTopic]],
    file: InputFile,
    collection: Collection,
    imported: Imported,
    kinds: Kinds | None,
) -> None:
    rows = CollectionRows(collection, file=file, imported=imported)
    runs: set[str] = set()
    for number, topic in graded:
        with file.line(number):
            if kinds is None:
                _add_elements_by_id(rows, number, topic)
            for passage in topic.passages:
                rows.add(number, PassageLine(passage.passage_id, passage.text))
                for place in passage.rankings:
                    if place.run not in runs:
                        rows.add(number, SystemLine(place.run))
                        rows.add(number, RunLine(place.run, place.run))
                        runs.add(place.run)
                    rows.add(
                        number,
                        RankingLine(place.run, topic.topic_id, passage.passage_id, place.rank, place.score),
                    )
    rows.flush()


def _add_elements_by_id(rows: CollectionRows, number: int, topic: WorkbenchTopic) -> None:
    rows.add(number, TopicLine(topic.topic_id, topic.topic_id))
    names = dict.fromkeys(name for passage in topic.passages for grading in passage.gradings for name in grading.grades)
    for position, name in enumerate(names):
        rows.add(number, RubricElementLine(topic.topic_id, KINDS["question"], name, name, position))


class _Judgments:
    """Takes grades and relevance, topic after topic, as judgments of the study's items."""

    def __init__(self, file: InputFile, study: Study, imported: Imported, kinds: Kinds | None, at: datetime) -> None:
        self.file = file
        self.study = study
        self.kinds = kinds
        self.at = at
        (shape,) = TASK_TYPES[TaskType.RATING].criteria
        self.rating = criterion_of(study, TaskType.RATING, shape)
        collection = study.collection
        self.topics = dict(collection.topics.values_list("topic_id", "pk"))
        self.elements: dict[tuple[str, str, str], int] = {
            (topic, kind, element): pk
            for pk, topic, kind, element in RubricElement.objects.filter(topic__collection=collection).values_list(
                "pk", "topic__topic_id", "kind", "element_id"
            )
        }
        self.passages = dict(collection.passages.values_list("passage_id", "pk"))
        self.items = ItemRows(study, file=file, imported=imported)
        self.judgments = JudgmentRows(file=file, imported=imported)
        self.raters: dict[tuple[str, str], Rater] = {}

    def add_grades(self, number: int, topic: WorkbenchTopic) -> None:
        """Take the self-ratings of a topic's passages. Raises BrokenLine."""
        topic_pk = self._topic(topic)
        taken: list[tuple[str, Rater, int | None]] = []
        for passage in topic.passages:
            passage_pk = self.passages[passage.passage_id]
            for grading in passage.gradings:
                rater = self._judge(grading)
                for element, grade in grading.grades.items():
                    item_id = self.items.add(
                        number,
                        TaskType.RATING,
                        topic=(topic_pk, topic.topic_id),
                        text=passage.passage_id,
                        element=(self._element(topic.topic_id, element), element),
                        passage_pk=passage_pk,
                    )
                    taken.append((item_id, rater, grade))
        self.items.flush()
        for item_id, rater, grade in taken:
            self._judge_item(number, item_id, self.rating, rater, grade)

    def add_relevance(self, number: int, topic: WorkbenchTopic, relevance: Criterion, rater: Rater) -> None:
        """Take people's relevance of a topic's passages. Raises BrokenLine."""
        topic_pk = self._topic(topic)
        taken: list[tuple[str, int]] = []
        for passage in topic.passages:
            if len(set(passage.relevance)) > 1:
                raise BrokenLine(f"“{passage.passage_id}” has several different relevances.", "Keep one.")
            for grade in passage.relevance[:1]:
                item_id = self.items.add(
                    number,
                    TaskType.RELEVANCE,
                    topic=(topic_pk, topic.topic_id),
                    text=passage.passage_id,
                    passage_pk=self.passages[passage.passage_id],
                )
                taken.append((item_id, grade))
        self.items.flush()
        for item_id, grade in taken:
            self._judge_item(number, item_id, relevance, rater, grade)

    def flush(self) -> None:
        """Store what is still waiting."""
        self.judgments.flush()

    def _topic(self, topic: WorkbenchTopic) -> int:
        if topic.topic_id not in self.topics:
            raise BrokenLine(
                f"The question bank has no topic “{topic.topic_id}”.", "Give the question bank of this file."
            )
        return self.topics[topic.topic_id]

    def _element(self, topic_id: str, name: str) -> int:
        kind = KINDS["question"] if self.kinds is None else self.kinds.get((topic_id, name))
        pk = self.elements.get((topic_id, kind, name)) if kind else None
        if pk is None:
            raise BrokenLine(
                f"The question bank has no “{name}” for the topic “{topic_id}”.", "Give the question bank of this file."
            )
        return pk

    def _judge(self, grading: Grading) -> Rater:
        """Return the rater that a model with a prompt is."""
        key = (grading.llm or "unnamed model", grading.prompt_class)
        if key not in self.raters:
            rater = judge_of_a_file(
                self.study.collection,
                name=" · ".join(part for part in key if part),
                tool="RUBRIC workbench",
                path=self.file.path,
            )
            if "model" not in rater.attributes:
                rater.attributes |= {"model": key[0], "prompt_class": key[1], "prompt_type": grading.prompt_type}
                rater.save(update_fields=["attributes"])
            self.raters[key] = rater
        return self.raters[key]

    def _judge_item(self, number: int, item_id: str, criterion: Criterion, rater: Rater, grade: float | None) -> None:
        judgment = Judgment(
            criterion=criterion,
            item_id=self.items.pk(item_id),
            rater=rater,
            grade=grade,
            ungraded="" if grade is not None else Judgment.Ungraded.UNREADABLE,
            judged_at=self.at,
        )
        self.judgments.add(number, judgment)
